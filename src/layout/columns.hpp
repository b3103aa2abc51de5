// The columns of a grid that is divided among ranks, as points with ids: who owns them, and where.
#pragma once

#include <cstdint>
#include <vector>

#include "base/long_divide.hpp"
#include "layout/blocks.hpp"
#include "layout/directory.hpp"

namespace tradewind::layout {

// Column (x, y) is point x + nx y; a rank's array has its own row by row. Kept is a place for each x and each y, and
// not for each rank or point: where points are looked up in disorder, divisions would take most of the time, and this
// leaves one of them, which is a multiplication.
class Columns {
  public:
    explicit Columns(const Blocks& layout);

    // A point, and how many from it on lie behind each other in the array of its owner.
    struct Run {
        Owner first;
        Index length;
    };

  private:
    // A coordinate within the part that holds it. The owner's rank is the sum of those of x and y.
    struct Place {
        Rank rank = 0;
        std::int32_t offset = 0;
        std::int32_t many = 0;  // of x the points of its part; of y the rows from it on that lie behind each other
        std::int32_t left = 0;  // the points of its part from it on
    };

  public:
    // Looks points up, as long as the columns live: what it needs, in few words that a loop can hold in registers.
    class Finder {
      public:
        explicit Finder(const Columns& columns)
            : x_(columns.x_.data()), y_(columns.y_.data()), nx_(columns.nx_), row_(columns.row_) {}

        // The owner of a point that exists.
        Run from(Index id) const {
            const Index row = row_.quotient(id);
            const Place &x = x_[id - row * nx_], &y = y_[row];
            return {{x.rank + y.rank, Index{y.offset} * x.many + x.offset}, Index{y.many} * x.many - x.offset};
        }

      private:
        const Place *x_, *y_;
        Index nx_;
        LongDivider row_;
    };
    Index points() const { return nx_ * static_cast<Index>(y_.size()); }

    // Finds the owners of runs of ids that ascend by one, and where the runs begin in the owners' arrays. Run k goes
    // from place begins[k] of a list of ids up to begins[k + 1]. Runs that hold a point that there is not, or that are
    // not one run in the array of one owner, have the owner -1. Whether all have another.
    bool find(const Index* ids, const Index* begins, std::size_t runs, Rank* owners, Index* sources) const;

  private:
    // A row that one rank has as a whole: that rank, and its points, all of which lie behind each other.
    struct Row {
        Index begin, end;
        Rank rank;
    };
    static std::vector<Place> places(const Blocks& layout, int axis);
    bool find_in_rows(const Index* ids, const Index* begins, std::size_t runs, Rank* owners, Index* sources) const;

    Index nx_;
    LongDivider row_;
    std::vector<Place> x_, y_;
    std::vector<Row> rows_;  // where x is not divided, so that a point is found by one look
};

}  // namespace tradewind::layout
