// The points that layouts divide among ranks.
#pragma once

#include <array>

#include "layout/box.hpp"

namespace tradewind::layout {

// nx x ny x nz points; arrays are [z][y][x], x fastest.
struct Grid {
    std::array<Index, 3> points{1, 1, 1};
    // Throws InputError for a direction without points, and for more points than can be counted.
    Grid(Index nx, Index ny, Index nz);
    friend bool operator==(const Grid&, const Grid&) = default;
    Index volume() const { return points[X] * points[Y] * points[Z]; }
};

}  // namespace tradewind::layout
