// Points around a part of a reduced grid.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.hpp"

namespace tradewind::layout {

// A grid of rows, which are circles, counted row by row. One step from a point leads to the two beside it in its row
// and, in each neighbouring row, to the two next to its longitude: at it or next in the west, and the one east of that.
class RowRings {
  public:
    // `lengths`: the points of each row. Throws InputError for a row without points.
    explicit RowRings(std::vector<Index> lengths);

    // The points within `width` steps of `own`, without these, ascending. Throws InputError for a point that the grid
    // lacks.
    std::vector<Index> around(std::span<const Index> own, Index width);

  private:
    struct Point {
        Index row, place;
    };
    Point at(Index point) const;

    std::vector<Index> lengths_, first_;  // first_ has the number of all points behind its last row
    std::vector<std::uint8_t> seen_;      // none, between calls
};

}  // namespace tradewind::layout
