#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "layout/blocks.hpp"
#include "pattern/pattern.hpp"

namespace tradewind::pattern {

// The redistribution of a grid from one layout to another: rank d receives from rank s the points that s owns before
// and d owns after.
//
// The exchange falls apart into independent groups. Along one direction, parts of the two layouts that overlap,
// directly or through others, form a component; a component of the whole is one component a direction. Its senders
// (ranks that own a part of it before) and its receivers (after) are products of ranges of rank coordinates, so that
// a rank's place in them is computed, not stored. In the transpositions of a spectral model the senders of a group
// are its receivers: a row or a column of ranks.
class Transpose : public Pattern {
  public:
    Transpose(layout::Blocks from, layout::Blocks to);

    std::string name() const override { return "transpose"; }
    std::string describe() const override;
    std::string signature() const override {
        return "transposition from " + from_.describe() + " to " + to_.describe();
    }
    Rank ranks() const override { return from_.ranks(); }
    bool in_place() const override { return false; }
    layout::Box source_box(Rank rank) const override { return from_.box(rank); }
    layout::Box target_box(Rank rank) const override { return to_.box(rank); }
    layout::Box owned_box(Rank rank) const override { return from_.box(rank); }
    std::vector<layout::Box> expected(Rank rank) const override { return {to_.box(rank)}; }
    Index storage() const override { return from_.grid().volume(); }
    Rank group(Rank rank) const override;
    Index largest_group() const override { return largest_group_; }
    std::string group_text() const override;
    Collective collective() const override { return complete() ? Collective::all_to_all : Collective::none; }
    bool ends_alike() const override { return false; }
    Parameters parameters() const override;

    const layout::Blocks& from() const { return from_; }
    const layout::Blocks& to() const { return to_; }

    // The points that move from a sender to a receiver; may be empty.
    layout::Box block(Rank sender, Rank receiver) const;
    Index block_volume(Rank sender, Rank receiver) const;
    Index largest_block() const;  // no block has more points

    // A rank in the group it sends in, or receives in; below.
    class InGroup;
    InGroup sending(Rank rank) const;
    InGroup receiving(Rank rank) const;

    // Whether the receivers of each group are its senders, in the same order. (False for layouts that are split
    // differently, though by chance it may be so.)
    bool closed() const { return closed_; }
    // Whether each group is closed and each of its ranks has something for every other.
    bool complete() const { return complete_; }

    // Where a group is one row or column of ranks: the coordinate along it (0 or 1), else -1.
    int line() const { return line_; }
    // A rank in its line. The block from position p to position q has width(p) along the direction that the coordinate
    // divides before, and width(q) along the one that it divides after. The simulator asks for every message, so all
    // of this is inlined.
    class OnLine {
      public:
        Index position() const { return position_; }
        Rank rank_at(Index position) const { return first_ + static_cast<Rank>(position) * stride_; }
        Index volume_to(Index q) const { return before_.width(position_) * after_.width(q) * across_; }
        Index volume_from(Index p) const { return before_.width(p) * after_.width(position_) * across_; }

      private:
        friend Transpose;
        OnLine(const Transpose& t, Rank rank)
            : before_(t.from_.division(t.before_)), after_(t.to_.division(t.after_)), stride_(t.stride_) {
            const auto c = t.from_.coordinates(rank);
            position_ = c[t.line_];
            first_ = rank - static_cast<Rank>(position_) * stride_;
            across_ = t.across_divided_ ? t.from_.division(t.across_).width(c[1 - t.line_])
                                        : t.from_.division(t.across_).width(0);
        }

        const layout::Division &before_, &after_;
        Rank stride_, first_;
        Index position_, across_;
    };
    OnLine on_line(Rank rank) const { return {*this, rank}; }

  private:
    struct Component {
        Index from_begin, from_end, to_begin, to_end;  // parts of the two layouts
    };
    struct Direction {  // of one axis; as long as it has parts, never as there are ranks
        std::vector<Component> components;
        std::vector<Index> of_from, of_to;  // component of a part
    };
    struct Ranges {  // of the two rank coordinates
        std::array<Index, 2> begin, size;
        Index count() const { return size[0] * size[1]; }
    };
    using Components = std::array<const Component*, 3>;

    Components components(const std::array<Index, 2>& coordinates, bool as_sender) const;
    Ranges senders(const Components& c) const;
    Ranges receivers(const Components& c) const;
    bool compute_closed() const;
    void find_directions();

    layout::Blocks from_, to_;
    std::array<Direction, 3> directions_;
    Index largest_group_ = 1;
    bool closed_ = false, complete_ = false;
    int line_ = -1;
    int before_ = layout::X, after_ = layout::X,
        across_ = layout::X;       // of a line: the direction that its coordinate divides before, after; the third
    bool across_divided_ = false;  // whether the other coordinate divides the third
    Rank stride_ = 1;              // between neighbours on a line
};

// The other end of its messages are the receivers of its group, or the senders. What is the same for all of these is
// found once.
class Transpose::InGroup {
  public:
    InGroup(const Transpose& transpose, Rank rank, bool as_sender);

    Index position() const { return position_; }      // of this rank among the senders, or receivers
    Index others() const { return others_.count(); }  // of which the group has these at the other end
    Index size() const { return std::max(own_count_, others()); }
    Rank rank_at(Index position) const { return other_.rank_at(coordinates_at(position)); }
    // The points that move between this rank and the one at a position of the other end; may be none.
    Index volume_at(Index position) const;

  private:
    std::array<Index, 2> coordinates_at(Index position) const {
        const Index row = position / others_.size[0];
        return {others_.begin[0] + position - row * others_.size[0], others_.begin[1] + row};
    }

    const layout::Blocks& other_;  // the layout at the other end
    layout::Box points_;           // of this rank
    Ranges others_;
    Index own_count_, position_;
};

inline Transpose::InGroup Transpose::sending(Rank rank) const {
    return {*this, rank, true};
}
inline Transpose::InGroup Transpose::receiving(Rank rank) const {
    return {*this, rank, false};
}

}  // namespace tradewind::pattern
