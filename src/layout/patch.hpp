// The points of one array that is a product of runs along x, y and z.
#pragma once

#include <array>
#include <vector>

#include "layout/box.hpp"

namespace tradewind::layout {

// Points begin <= p < end along one direction.
struct Run {
    Index begin = 0, end = 0;
    Index length() const { return end - begin; }
    friend bool operator==(const Run&, const Run&) = default;
};

// Runs along each direction, ascending; the array holds them one after another, x fastest. A box is the case of one run
// along each direction.
class Patch {
  public:
    explicit Patch(const Box& box);
    // Empty runs are left out.
    explicit Patch(const std::array<std::vector<Run>, 3>& runs);

    // Points along a direction of the array.
    Index width(int axis) const { return widths_[static_cast<std::size_t>(axis)]; }
    // Its first point along a direction; 0 where there is none.
    Index first(int axis) const {
        const auto& runs = runs_[static_cast<std::size_t>(axis)];
        return runs.empty() ? 0 : runs.front().run.begin;
    }
    // The points as boxes, none empty: x fastest, then y, then z.
    std::vector<Box> boxes() const;
    // Whether a box that is not empty lies within one run along each direction.
    bool contains(const Box& box) const;
    // The number of points of the array before a point along a direction. The point is one of the array's.
    Index place(int axis, Index point) const;

  private:
    struct Placed {
        Run run;
        Index before = 0;  // points of the runs before this one
    };
    // The run that holds a point; nullptr where none does.
    const Placed* find(int axis, Index point) const;

    std::array<std::vector<Placed>, 3> runs_;
    std::array<Index, 3> widths_{0, 0, 0};
};

}  // namespace tradewind::layout
