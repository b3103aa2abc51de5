// Points that are known by numbers alone: meshes, or any other distribution that has no form.
#pragma once

#include <string>
#include <vector>

#include "layout/directory.hpp"
#include "layout/layout.hpp"

namespace tradewind::layout {

// The numbers of each rank's points, in the order of its array, from 0 to one less than there are points. Point i lies
// at x = i of a grid of as many points.
class Lists : public Layout {
  public:
    // Throws InputError for no points at all, a number that is missing and one that is owned twice.
    explicit Lists(std::vector<std::vector<Index>> ids);

    const Grid& grid() const final { return grid_; }
    Rank ranks() const final { return static_cast<Rank>(ids_.size()); }
    std::string describe() const final;
    // Numbers that follow each other are one box; in the order of the array.
    std::vector<Box> boxes(Rank rank) const final;
    Rank owner(const std::array<Index, 3>& point) const final;

    const std::vector<Index>& ids(Rank rank) const { return ids_[static_cast<std::size_t>(rank)]; }

  private:
    std::vector<std::vector<Index>> ids_;
    Grid grid_;
    Directory directory_;
};

}  // namespace tradewind::layout
