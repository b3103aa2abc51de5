// Who owns what: the points of a grid divided among ranks. Each point has one owner.
#pragma once

#include <string>
#include <vector>

#include "layout/grid.hpp"

namespace tradewind::layout {

class Layout {
  public:
    virtual ~Layout() = default;

    virtual const Grid& grid() const = 0;
    virtual Rank ranks() const = 0;
    virtual std::string describe() const = 0;  // one line for a reader
    // The points of a rank as boxes that do not overlap, none of them empty; no box for a rank without points.
    virtual std::vector<Box> boxes(Rank rank) const = 0;
    // The rank that owns a point of the grid.
    virtual Rank owner(const std::array<Index, 3>& point) const = 0;

  protected:
    Layout() = default;
    Layout(const Layout&) = default;
    Layout& operator=(const Layout&) = default;
};

}  // namespace tradewind::layout
