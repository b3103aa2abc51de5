// One direction of the grid divided among parts, as evenly as it goes.
#pragma once

#include "base/units.hpp"

namespace tradewind::layout {

// `points` points over `parts` parts: the first points % parts of them hold one point more than the others.
// Every query is O(1); nothing is stored per part.
class Division {
  public:
    Division() = default;
    Division(Index points, Index parts)
        : points_(points), parts_(parts), width_(points / parts), wide_(points % parts) {}

    Index points() const { return points_; }
    Index parts() const { return parts_; }
    Index begin(Index part) const { return part * width_ + (part < wide_ ? part : wide_); }
    Index end(Index part) const { return begin(part + 1); }
    Index width(Index part) const { return width_ + (part < wide_ ? 1 : 0); }
    Index widest() const { return width_ + (wide_ > 0 ? 1 : 0); }
    Index narrow() const { return width_; }  // width of a part that holds no extra point
    Index wide() const { return wide_; }     // how many parts, from the first, hold one point more

    // The part that holds a point in 0..points-1.
    Index owner(Index point) const {
        const Index in_wide = wide_ * (width_ + 1);
        return point < in_wide ? point / (width_ + 1) : wide_ + (point - in_wide) / width_;
    }

    // The same on the periodic continuation of the direction: any point, parts numbered ..., -1, 0, 1, ...
    Index owner_unwrapped(Index point) const {
        const Index lap = floor_divide(point, points_);
        return owner(point - lap * points_) + lap * parts_;
    }
    Index begin_unwrapped(Index part) const {
        const Index lap = floor_divide(part, parts_);
        return begin(part - lap * parts_) + lap * points_;
    }
    Index end_unwrapped(Index part) const { return begin_unwrapped(part + 1); }

    static Index floor_divide(Index a, Index b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

  private:
    Index points_ = 1, parts_ = 1, width_ = 1, wide_ = 0;
};

}  // namespace tradewind::layout
