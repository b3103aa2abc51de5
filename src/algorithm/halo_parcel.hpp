// The points that the ranks of a halo exchange have for each other, corners included: a parcel per offset of their
// parts.
#pragma once

#include "algorithm/halo_strip.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

using Offset = std::array<Index, 2>;  // of the receiver's parts from the sender's along X and Y

// The same points in the arrays of both ranks. Two ranks may have several parcels for each other, across seams.
struct Parcel {
    Rank sender, receiver;
    Offset offset;
    layout::Box at_sender, at_receiver;

    // 0 where the offset is out of reach.
    Index count() const { return at_receiver.volume(); }
};

// The parcels that one rank sends, and those that it receives. Those to itself are among them.
class Parcels {
  public:
    Parcels(const pattern::Halo& halo, Rank rank)
        : halo_(halo),
          rank_(rank),
          parts_{halo.layout().part(rank, layout::X), halo.layout().part(rank, layout::Y)},
          max_{max_offset(halo, layout::X, parts_[layout::X]), max_offset(halo, layout::Y, parts_[layout::Y])} {}

    // The offsets, row by row, without (0, 0).
    int size() const { return static_cast<int>((2 * max_[layout::X] + 1) * (2 * max_[layout::Y] + 1) - 1); }
    Offset offset(int j) const {
        const Index k = j < size() / 2 ? j : j + 1, row = 2 * max_[layout::X] + 1;
        return {k % row - max_[layout::X], k / row - max_[layout::Y]};
    }

    Parcel sent(const Offset& offset) const {
        const Strip x = Strip::sent(halo_, layout::X, parts_[layout::X], offset[layout::X]),
                    y = Strip::sent(halo_, layout::Y, parts_[layout::Y], offset[layout::Y]);
        return parcel(rank_, rank_at(halo_, rank_, {x.peer, y.peer}), offset, x, y);
    }
    Parcel received(const Offset& offset) const {
        const Strip x = Strip::received(halo_, layout::X, parts_[layout::X], offset[layout::X]),
                    y = Strip::received(halo_, layout::Y, parts_[layout::Y], offset[layout::Y]);
        return parcel(rank_at(halo_, rank_, {x.peer, y.peer}), rank_, offset, x, y);
    }

    // Calls use(parcel) for those parcels whose rank at the other end is wanted, nothing for those of no points.
    template <class Wanted, class Use>
    void each_sent(Wanted wanted, Use use) const {
        each(1, wanted, [&](const Offset& offset) { use_any(sent(offset), use); });
    }
    template <class Wanted, class Use>
    void each_received(Wanted wanted, Use use) const {
        each(-1, wanted, [&](const Offset& offset) { use_any(received(offset), use); });
    }

  private:
    template <class Use>
    static void use_any(const Parcel& parcel, Use& use) {
        if (parcel.count() > 0) use(parcel);
    }
    // The other end is found first: it costs less than the points.
    template <class Wanted, class Use>
    void each(Index sign, Wanted& wanted, Use use) const {
        for (Index y = -max_[layout::Y]; y <= max_[layout::Y]; ++y)
            for (Index x = -max_[layout::X]; x <= max_[layout::X]; ++x)
                if ((x != 0 || y != 0) && wanted(rank_at(halo_, rank_,
                                                         {wrapped(layout::X, parts_[layout::X] + sign * x),
                                                          wrapped(layout::Y, parts_[layout::Y] + sign * y)})))
                    use({x, y});
    }
    Index wrapped(int axis, Index part) const {
        const Index parts = halo_.layout().division(axis).parts();
        return part >= 0 && part < parts ? part : part - layout::Division::floor_divide(part, parts) * parts;
    }

    Parcel parcel(Rank sender, Rank receiver, const Offset& offset, const Strip& x, const Strip& y) const {
        const layout::Box own = halo_.layout().box(rank_);
        const auto box = [&](const Interval& along_x, const Interval& along_y) {
            return layout::Box{{along_x[0], along_y[0], own.begin[layout::Z]},
                               {along_x[1], along_y[1], own.end[layout::Z]}};
        };
        return {sender, receiver, offset, box(x.at_sender, y.at_sender), box(x.at_receiver, y.at_receiver)};
    }

    const pattern::Halo& halo_;
    Rank rank_;
    std::array<Index, 2> parts_, max_;
};

// The parcels of a rank to itself, across seams.
void copy_parcels(const pattern::Halo& halo, Rank rank, std::vector<schedule::Copy>& copies);

// Throws InputError where a width reaches more ranks than one stage can hold.
void refuse_far_halo(const pattern::Halo& halo, const std::string& algorithm);

}  // namespace tradewind::algorithm
