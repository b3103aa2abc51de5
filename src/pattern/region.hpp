// Parts of a rank's array around a halo exchange, in the coordinates of the grid (a halo's as they continue there).
#pragma once

#include <vector>

#include "pattern/halo.hpp"

namespace tradewind::pattern {

// The points that a rank owns and `by` more on every side that the exchange fills: where the grid ends there are none.
// Throws InputError where `by` is not in 0..width.
layout::Box widened(const Halo& halo, Rank rank, Index by);

// The own points whose stencil of this reach, corners included, needs no point of the halo; what lies beyond the end of
// the grid is no point of the halo. May be empty. Throws InputError where the reach is not in 0..width.
layout::Box interior(const Halo& halo, Rank rank, Index reach);

// The other own points: at most four boxes that do not overlap, none empty, long in x where they can be.
std::vector<layout::Box> rim(const Halo& halo, Rank rank, Index reach);

}  // namespace tradewind::pattern
