#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "layout/product.hpp"
#include "pattern/pattern.hpp"
#include "pattern/stars.hpp"

namespace tradewind::pattern {

// The transposition between any two layouts that have a closed form: rank d receives from rank s the points that s owns
// before and d owns after. A rank may own nothing before, or after.
//
// Along each direction the overlaps of parts fall into sets of stars. One set for each direction makes a meeting place:
// in it a sender has its place among the senders of a receiver, a receiver likewise, and the
// sender at place p meets the receiver at place q at distance q - p around a ring of `size`. No rank meets two others
// at one distance of one meeting place, and each pair that has something to exchange meets once.
class Redistribution : public Pattern {
  public:
    // Throws InputError for layouts of different grids or different numbers of ranks.
    Redistribution(std::shared_ptr<const layout::Product> from, std::shared_ptr<const layout::Product> to);

    std::string name() const override { return "transpose"; }
    std::string describe() const override;
    std::string signature() const override {
        return "transposition from " + from_->describe() + " to " + to_->describe();
    }
    Rank ranks() const override { return from_->ranks(); }
    bool in_place() const override { return false; }
    layout::Box source_box(Rank rank) const override { return storage_box(*from_, rank); }
    layout::Box target_box(Rank rank) const override { return storage_box(*to_, rank); }
    layout::Box owned_box(Rank rank) const override { return source_box(rank); }
    layout::Patch source_patch(Rank rank) const override { return from_->patch(rank); }
    layout::Patch target_patch(Rank rank) const override { return to_->patch(rank); }
    std::vector<layout::Box> owned_boxes(Rank rank) const override { return from_->boxes(rank); }
    std::vector<layout::Box> expected(Rank rank) const override { return to_->boxes(rank); }
    Index storage() const override { return from_->grid().volume(); }
    // Closed groups, else all ranks, which then have nothing for most others.
    Rank group(Rank rank) const override;
    Index largest_group() const override { return closed_ ? line()->positions : ranks(); }
    Collective collective() const override { return Collective::all_to_all; }
    Index rounds() const override;  // the distances of all meeting places together
    std::string group_text() const override { return "a transposition of " + std::to_string(rounds()) + " rounds"; }
    bool ends_alike() const override { return false; }
    bool may_lack_points() const override { return true; }
    Parameters parameters() const override;

    const layout::Product& from() const { return *from_; }
    const layout::Product& to() const { return *to_; }

    // A set of stars for each direction.
    struct MeetingPlace {
        std::array<const Stars*, 3> stars;
        std::array<int, 3> gathering{-1, -1, -1}, dealing{-1, -1, -1};  // directions, in the order of their coordinates
        Index senders = 1, receivers = 1;                               // places
        Index size() const { return senders > receivers ? senders : receivers; }
    };
    const std::vector<MeetingPlace>& places() const { return places_; }
    // The place of a rank among the senders, and among the receivers; none where it has nothing to do there.
    std::optional<Index> sending(const MeetingPlace& at, Rank rank) const;
    std::optional<Index> receiving(const MeetingPlace& at, Rank rank) const;
    // Whom a rank meets, and how many points go from the sender to the receiver.
    struct Partner {
        Rank rank;
        Index points;
    };
    std::optional<Partner> receiver_at(const MeetingPlace& at, Rank sender, Index place) const;
    std::optional<Partner> sender_at(const MeetingPlace& at, Rank receiver, Index place) const;

    // The points that move from a sender to a receiver: appends boxes, none empty, in ascending order.
    void append_blocks(Rank sender, Rank receiver, std::vector<layout::Box>& boxes) const;
    // The number of points from the owner of one part before to that of another part after.
    Index block_points(const std::array<Index, 3>& before, const std::array<Index, 3>& after) const;
    // Whether every rank meets at distance 0 itself alone: rows or columns of ranks within which all is exchanged.
    bool closed() const { return closed_; }
    // The ranks of a closed group: they have all places of one coordinate. One rank where nothing moves.
    struct Line {
        int coordinate = 0;
        Index positions = 1, stride = 1;
    };
    std::optional<Line> line() const;
    Index largest_place() const;  // maximum of distances of a meeting place

  private:
    static layout::Box storage_box(const layout::Product& layout, Rank rank);
    void make_places();
    bool compute_closed() const;
    Index split(int coordinate) const { return from_->split()[static_cast<std::size_t>(coordinate)]; }
    std::array<std::vector<layout::Run>, 3> block_runs(const std::array<Index, 3>& before,
                                                       const std::array<Index, 3>& after) const;
    std::optional<Index> place_of(const MeetingPlace& at, const std::array<Index, 3>& part, bool sends) const;
    std::optional<Partner> partner(const MeetingPlace& at, const std::array<Index, 3>& part, Index place,
                                   bool sends) const;

    std::shared_ptr<const layout::Product> from_, to_;
    std::array<std::vector<Stars>, 3> stars_;
    std::vector<MeetingPlace> places_;
    bool closed_ = false;
};

// The pattern between any two layouts but lists: a `Transpose` between blocks, else a `Redistribution`; where one
// layout has the rows of a grid one after another along x, the other is seen so, too. Throws InputError where they do
// not go together.
std::shared_ptr<const Pattern> transposition(const layout::Layout& from, const layout::Layout& to);

}  // namespace tradewind::pattern
