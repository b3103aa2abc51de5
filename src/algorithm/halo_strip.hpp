// Common part of the halo algorithms: the points that one part of a direction has for another.
#pragma once

#include <cstdlib>

#include "algorithm/folded.hpp"
#include "pattern/halo.hpp"

namespace tradewind::algorithm {

using Interval = std::array<Index, 2>;  // begin, end

// Parts are `offset` apart on the (periodic) continuation of a direction; a rank's array has the coordinates of the lap
// in which its own part is numbered 0..parts-1, so that the same points have two names where the seam lies between.
struct Strip {
    Index peer;  // the part at the other end, 0..parts-1
    Interval at_sender, at_receiver;

    // Points that `part` sends to the part `offset` further on. Offset 0: its own points.
    static Strip sent(const pattern::Halo& halo, int axis, Index part, Index offset) {
        const layout::Division& d = halo.layout().division(axis);
        const Index lap = layout::Division::floor_divide(part + offset, d.parts());
        return between(halo, axis, part + offset - lap * d.parts(), offset, lap);
    }
    // Points that `part` receives from the part `offset` before it.
    static Strip received(const pattern::Halo& halo, int axis, Index part, Index offset) {
        const layout::Division& d = halo.layout().division(axis);
        const Index lap = -layout::Division::floor_divide(part - offset, d.parts());
        Strip strip = between(halo, axis, part, offset, lap);
        strip.peer = part - offset + lap * d.parts();
        return strip;
    }

    // Nothing where the offset is out of reach.
    Index width() const { return std::max<Index>(0, at_receiver[1] - at_receiver[0]); }

  private:
    static Strip between(const pattern::Halo& halo, int axis, Index receiver, Index offset, Index lap) {
        const Interval points = halo.overlap(axis, receiver, receiver - offset);
        const Index shift = lap * halo.layout().division(axis).points();
        return {receiver, {points[0] + shift, points[1] + shift}, points};
    }
};

// The offsets at which a part exchanges along an axis, those at which it sends and those at which it receives in one
// list, -maximum..maximum. Both are gone through in this order, so that ranks which do one exchange after another meet:
// on a part near the edge of the grid, lists of only what there is would pair other offsets than on its neighbours.
inline Index max_offset(const pattern::Halo& halo, int axis, Index part) {
    const auto [begin, end] = halo.reach(axis, part);
    return std::max(part - begin, end - part);
}

// The rank whose parts along X and Y are these, in the same layer as `rank`.
inline Rank rank_at(const pattern::Halo& halo, Rank rank, const std::array<Index, 2>& parts) {
    auto coordinates = halo.layout().coordinates(rank);
    for (int axis : {layout::X, layout::Y})
        if (const int c = halo.layout().coordinate_of(axis); c >= 0) coordinates[c] = parts[axis];
    return halo.layout().rank_at(coordinates);
}

// Two ranks at this offset send in different halves: one in the even, one in the odd (away from the seam).
inline std::int8_t halo_parity(Index part, Index offset) {
    return static_cast<std::int8_t>((part / std::abs(offset)) & 1);
}

// An upper bound of folded(offset) + 1 over all offsets along an axis.
inline Index folded_bound(const pattern::Halo& halo, int axis) {
    return 2 * (halo.width() / halo.layout().division(axis).narrow() + 2) + 1;
}

}  // namespace tradewind::algorithm
