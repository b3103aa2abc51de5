#pragma once

#include "layout/blocks.hpp"
#include "pattern/pattern.hpp"

namespace tradewind::pattern {

// The halo exchange of a layout: around its own points each rank receives `width` points to every side in x and y,
// corners included. The array of a rank covers its own points and `width` more on all four sides; where the grid ends
// (no period) the cells beyond it are not touched. The width may exceed the neighbours' subdomains and the grid.
class Halo : public Pattern {
  public:
    Halo(layout::Blocks layout, Index width, std::array<bool, 2> periodic);

    std::string name() const override { return "halo"; }
    std::string describe() const override;
    std::string signature() const override { return describe() + ", " + layout_.describe(); }
    Rank ranks() const override { return layout_.ranks(); }
    bool in_place() const override { return true; }
    layout::Box source_box(Rank rank) const override { return target_box(rank); }
    layout::Box target_box(Rank rank) const override;
    layout::Box owned_box(Rank rank) const override { return layout_.box(rank); }
    std::vector<layout::Box> expected(Rank rank) const override;
    Index storage() const override { return storage_; }
    std::array<Index, 3> period() const override;
    Parameters parameters() const override;

    const layout::Blocks& layout() const { return layout_; }
    Index width() const { return width_; }
    bool periodic(int axis) const { return axis < 2 && periodic_[axis]; }

    // Parts of the periodic continuation along an axis (X or Y) that the halo of a part reaches: first..last, its own
    // included. Parts are numbered ..., -1, 0, 1, ... ; without a period only those of the grid are named. Part a
    // reaches part b exactly when b reaches a.
    std::array<Index, 2> reach(int axis, Index part) const;
    // The points of unwrapped part `other` that lie in the halo of `part` (in the frame of `part`): begin, end.
    std::array<Index, 2> overlap(int axis, Index part, Index other) const;
    // Own points and halo along one axis, cut off where the grid ends.
    std::array<Index, 2> extended(int axis, Index part) const;

  private:
    layout::Blocks layout_;
    Index width_;
    std::array<bool, 2> periodic_;
    Index storage_;
};

}  // namespace tradewind::pattern
