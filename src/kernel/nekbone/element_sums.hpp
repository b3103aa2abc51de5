#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/units.hpp"
#include "kernel/team.hpp"

namespace tradewind::kernel {

// A rank's part of a brick of spectral elements, x fastest, with n points in each direction of an element.
struct ElementBrick {
    int points = 0;
    std::array<Index, 3> elements{0, 0, 0};
    // Sides [axis][low, high] beyond which elements of other ranks lie: points there are left alone.
    std::array<std::array<bool, 2>, 3> beyond{};
};

// Each value of a point that several elements of this rank share becomes the sum of all of them, along x, then y, then
// z, with strides: how elements lie is known. Points that other ranks have, too, stay as they are.
template <class Real>
void sum_shared_by_strides(const ElementBrick& brick, Real* values, Team& team);

// The same by lists, as it is done where nothing is known of how elements lie: places[offsets[i]], ...,
// places[offsets[i + 1] - 1] are those of one point.
template <class Real>
void sum_shared_by_lists(std::span<const std::int64_t> offsets, std::span<const std::int32_t> places, Real* values,
                         Team& team);

}  // namespace tradewind::kernel
