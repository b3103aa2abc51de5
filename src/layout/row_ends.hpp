// Rows of different lengths within a grid, as those of a truncation.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/patch.hpp"

namespace tradewind::layout {

// The row at place r along one direction, `across`, has the points less than ends[r] along another one, `along`. The
// other points of the grid are none: arrays have room for them, and nothing moves there. Wavenumbers that a latitude
// keeps, or that have a degree, are such rows.
class RowEnds {
  public:
    // Throws InputError where the two directions are one, or none of x, y and z, and for a row that ends before 0.
    RowEnds(int along, int across, std::vector<Index> ends);

    int along() const { return along_; }
    int across() const { return across_; }
    const std::vector<Index>& ends() const { return ends_; }
    // The number of points in a row, or in all.
    Index end(Index place) const { return ends_[static_cast<std::size_t>(place)]; }
    // A hash of all.
    std::uint64_t mark() const { return mark_; }
    // The points of some rows that lie in some runs along them. Takes time that grows with these rows and runs.
    Index count(const std::vector<Run>& along, const std::vector<Run>& across) const;
    // Appends the points of a box as boxes, none empty: rows that end alike are one.
    void append(const Box& box, std::vector<Box>& boxes) const;

    friend bool operator==(const RowEnds&, const RowEnds&) = default;

  private:
    int along_, across_;
    std::vector<Index> ends_;
    std::uint64_t mark_ = 0;
};

}  // namespace tradewind::layout
