#pragma once

#include "pattern/pattern.hpp"

namespace tradewind::pattern {

// Every rank contributes a vector of `count` elements and ends with the sum (or another commutative and associative
// operation) over all ranks. The vector is a box of points along x.
class AllReduce : public Pattern {
  public:
    AllReduce(Rank ranks, Index count);

    std::string name() const override { return "allreduce"; }
    std::string describe() const override;
    std::string signature() const override { return describe(); }
    Rank ranks() const override { return ranks_; }
    bool in_place() const override { return true; }
    layout::Box source_box(Rank) const override { return range(0, count_); }
    layout::Box target_box(Rank) const override { return range(0, count_); }
    layout::Box owned_box(Rank) const override { return range(0, count_); }
    std::vector<layout::Box> expected(Rank) const override { return {range(0, count_)}; }
    Index storage() const override { return ranks_ * count_; }
    bool reduces() const override { return true; }
    Collective collective() const override { return Collective::reduction; }
    Parameters parameters() const override { return {{"count", count_}}; }

    Index count() const { return count_; }
    static layout::Box range(Index begin, Index end) { return {{begin, 0, 0}, {end, 1, 1}}; }

  private:
    Rank ranks_;
    Index count_;
};

}  // namespace tradewind::pattern
