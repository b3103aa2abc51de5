// A schedule among some consecutive ranks of a program, as the program numbers its ranks.
#pragma once

#include <memory>

#include "schedule/schedule.hpp"

namespace tradewind::program {

// The pattern of a group: the others of `ranks` ranks have nothing of it.
class PlacedPattern : public pattern::Pattern {
  public:
    PlacedPattern(std::shared_ptr<const pattern::Pattern> pattern, Rank first, Rank ranks)
        : pattern_(std::move(pattern)), first_(first), ranks_(ranks) {}

    std::string name() const override { return pattern_->name(); }
    std::string describe() const override { return pattern_->describe(); }
    std::string signature() const override {
        return pattern_->signature() + ", from rank " + std::to_string(first_) + " of " + std::to_string(ranks_);
    }
    Rank ranks() const override { return ranks_; }
    bool in_place() const override { return pattern_->in_place(); }
    layout::Box source_box(Rank rank) const override {
        return takes_part(rank) ? pattern_->source_box(rank - first_) : layout::Box{};
    }
    layout::Box target_box(Rank rank) const override {
        return takes_part(rank) ? pattern_->target_box(rank - first_) : layout::Box{};
    }
    layout::Box owned_box(Rank rank) const override {
        return takes_part(rank) ? pattern_->owned_box(rank - first_) : layout::Box{};
    }
    layout::Patch source_patch(Rank rank) const override {
        return takes_part(rank) ? pattern_->source_patch(rank - first_) : layout::Patch(layout::Box{});
    }
    layout::Patch target_patch(Rank rank) const override {
        return takes_part(rank) ? pattern_->target_patch(rank - first_) : layout::Patch(layout::Box{});
    }
    std::vector<layout::Box> owned_boxes(Rank rank) const override {
        return takes_part(rank) ? pattern_->owned_boxes(rank - first_) : std::vector<layout::Box>{};
    }
    bool ends_alike() const override { return pattern_->ends_alike(); }
    pattern::Parameters parameters() const override { return pattern_->parameters(); }
    Index storage() const override { return pattern_->storage(); }
    std::vector<layout::Box> expected(Rank rank) const override {
        return takes_part(rank) ? pattern_->expected(rank - first_) : std::vector<layout::Box>{};
    }
    std::array<Index, 3> period() const override { return pattern_->period(); }
    bool reduces() const override { return pattern_->reduces(); }
    bool partial() const override { return pattern_->partial(); }
    bool same_points(Rank rank, const layout::Box& target, const layout::Box& points) const override {
        return pattern_->same_points(rank - first_, target, points);
    }

    bool takes_part(Rank rank) const { return rank >= first_ && rank - first_ < pattern_->ranks(); }
    Rank first() const { return first_; }

  private:
    std::shared_ptr<const pattern::Pattern> pattern_;
    Rank first_, ranks_;
};

// As lazy as the schedule that it places: what it returns for a rank is what that one returns for the rank in its
// group.
class Placed : public schedule::Schedule {
  public:
    // The ranks of `schedule` are `first`, `first` + 1, ... of `ranks` ranks.
    Placed(std::shared_ptr<const schedule::Schedule> schedule, Rank first, Rank ranks);

    int stages() const override { return schedule_->stages(); }
    int sends(Rank rank, int stage) const override {
        return takes_part(rank) ? schedule_->sends(rank - first_, stage) : 0;
    }
    int receives(Rank rank, int stage) const override {
        return takes_part(rank) ? schedule_->receives(rank - first_, stage) : 0;
    }
    schedule::Message send(Rank rank, int stage, int j) const override {
        return placed(schedule_->send(rank - first_, stage, j));
    }
    schedule::Message receive(Rank rank, int stage, int j) const override {
        return placed(schedule_->receive(rank - first_, stage, j));
    }
    void send_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        schedule_->send_pieces(rank - first_, stage, j, pieces);
    }
    void receive_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        schedule_->receive_pieces(rank - first_, stage, j, pieces);
    }
    void copies(Rank rank, int stage, std::vector<schedule::Copy>& copies) const override {
        if (takes_part(rank)) schedule_->copies(rank - first_, stage, copies);
    }
    bool combines(int stage) const override { return schedule_->combines(stage); }
    bool adds() const override { return schedule_->adds(); }
    Index scratch(Rank rank) const override { return takes_part(rank) ? schedule_->scratch(rank - first_) : 0; }

  private:
    bool takes_part(Rank rank) const { return rank >= first_ && rank - first_ < schedule_->ranks(); }
    schedule::Message placed(schedule::Message message) const {
        message.peer += first_;
        return message;
    }

    std::shared_ptr<const schedule::Schedule> schedule_;
    Rank first_;
};

}  // namespace tradewind::program
