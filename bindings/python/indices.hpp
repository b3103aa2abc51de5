// Lists of whole numbers between NumPy and the core, as both modules take and give them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <span>
#include <vector>

#include "base/units.hpp"

namespace tradewind {

using Indices = nanobind::ndarray<const Index, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using IndexArray = nanobind::ndarray<nanobind::numpy, Index, nanobind::ndim<1>>;

// The numbers where they are, as long as the array lives.
inline std::span<const Index> viewed(const Indices& array) {
    return {array.data(), array.shape(0)};
}

template <typename To>
std::vector<To> listed(const Indices& array) {
    return {array.data(), array.data() + array.shape(0)};
}

// An array that owns what the list held.
inline IndexArray as_array(std::vector<Index> values) {
    auto* data = new std::vector<Index>(std::move(values));
    const nanobind::capsule owner(data, [](void* p) noexcept { delete static_cast<std::vector<Index>*>(p); });
    return {data->data(), {data->size()}, owner};
}

}  // namespace tradewind
