// Arrays of semi-Lagrangian loops, and checks of these.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

#include "base/error.hpp"
#include "kernel/semi_lagrangian/semi_lagrangian.hpp"

namespace tradewind::python {

template <class T, int dimensions>
using Dense = nanobind::ndarray<T, nanobind::ndim<dimensions>, nanobind::c_contig, nanobind::device::cpu>;
using Line = Dense<const double, 1>;

// First and last cells [x, y], and the first point that is no number.
using Cells = std::tuple<std::array<Index, 2>, std::array<Index, 2>, Index>;

template <class A>
Index extent(const A& array, std::size_t axis) {
    return static_cast<Index>(array.shape(axis));
}

inline void check(bool right, const std::string& problem) {
    if (!right) throw InputError(problem);
}

// Checks arrays [coordinate or component][z][y][x] of a block.
template <class A>
void check_block(const char* what, const A& array, Index first, const kernel::Block& block) {
    check(extent(array, 0) == first && extent(array, 1) == block.levels && extent(array, 2) == block.points[1] &&
              extent(array, 3) == block.points[0],
          std::string(what) + ": an array of " + std::to_string(first) + " x " + std::to_string(block.levels) + " x " +
              std::to_string(block.points[1]) + " x " + std::to_string(block.points[0]) + " values is allowed");
}

template <class A>
void check_places(const A& place, Index places) {
    check(place.size() < (std::size_t{1} << 31), "place: less than 2^31 cells are allowed");
    const std::int32_t* const begin = place.data();
    const bool fits = std::all_of(begin, begin + place.size(), [=](std::int32_t at) { return at < places; });
    check(fits, "place: only those of a level of the array, below " + std::to_string(places) + ", are allowed");
}

// Values from a level to the next one.
template <class A>
Index stride_of(const A& field) {
    return extent(field, 1) * extent(field, 2);
}

inline kernel::Reach reach_of(const std::string& name) {
    const bool linear = name == "linear", quasi = name == "quasi-cubic";
    check(linear || quasi || name == "cubic", "reach " + name + ": linear, quasi-cubic or cubic are allowed");
    return linear ? kernel::Reach::linear : quasi ? kernel::Reach::quasi_cubic : kernel::Reach::cubic;
}

}  // namespace tradewind::python
