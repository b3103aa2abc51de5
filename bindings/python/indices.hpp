// Lists of whole numbers between NumPy and the core, as both modules take and give them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "base/units.hpp"

namespace tradewind::python {

using Indices = nanobind::ndarray<const Index, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using IndexArray = nanobind::ndarray<nanobind::numpy, Index, nanobind::ndim<1>>;

// The numbers where they are, as long as the array lives.
inline std::span<const Index> viewed(const Indices& array) {
    return {array.data(), array.shape(0)};
}

// A number that is too large for a rank becomes the largest, which none has: wrapped around it might be one.
template <typename To>
std::vector<To> listed(const Indices& array) {
    std::vector<To> numbers(array.shape(0));
    std::transform(array.data(), array.data() + array.shape(0), numbers.begin(), [](Index number) {
        return static_cast<To>(
            std::clamp<Index>(number, std::numeric_limits<To>::min(), std::numeric_limits<To>::max()));
    });
    return numbers;
}

// An array that owns what the list held.
inline IndexArray as_array(std::vector<Index> values) {
    auto* data = new std::vector<Index>(std::move(values));
    const nanobind::capsule owner(data, [](void* p) noexcept { delete static_cast<std::vector<Index>*>(p); });
    return {data->data(), {data->size()}, owner};
}

}  // namespace tradewind::python
