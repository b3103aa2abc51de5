// The columns of a grid that is divided among ranks, as points with ids: who owns them, and where.
#pragma once

#include <vector>

#include "layout/blocks.hpp"
#include "layout/directory.hpp"

namespace tradewind {

// Column (x, y) is point x + nx y; a rank's array has its own row by row. Kept is a place for each x and each y, and
// not for each rank or point: where points are looked up in disorder, divisions take most of the time, and this leaves
// one of them.
class Columns {
  public:
    explicit Columns(const Blocks& layout);

    Index points() const { return nx_ * static_cast<Index>(y_.size()); }

    // A point of 0..points()-1, and how many from it on lie behind each other in the array of its owner.
    struct Run {
        Owner first;
        Index length;
    };
    Run from(Index id) const {
        const Index row = id / nx_;
        const Place &x = x_[static_cast<std::size_t>(id - row * nx_)], &y = y_[static_cast<std::size_t>(row)];
        return {{x.rank + y.rank, y.offset * x.width + x.offset}, x.width - x.offset};
    }

  private:
    // A coordinate within the part that holds it. The owner's rank is the sum of those of x and y.
    struct Place {
        Rank rank = 0;
        Index offset = 0, width = 0;
    };
    static std::vector<Place> places(const Blocks& layout, int axis);

    Index nx_;
    std::vector<Place> x_, y_;
};

}  // namespace tradewind
