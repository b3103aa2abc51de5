// A schedule among some ranks of a program, as the program numbers its ranks.
#pragma once

#include <memory>

#include "program/members.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::program {

// The pattern of a group: the others of `ranks` ranks have nothing of it.
class PlacedPattern : public pattern::Pattern {
  public:
    PlacedPattern(std::shared_ptr<const pattern::Pattern> pattern, Members members, Rank ranks)
        : pattern_(std::move(pattern)), members_(std::move(members)), ranks_(ranks) {}

    std::string name() const override { return pattern_->name(); }
    std::string describe() const override { return pattern_->describe(); }
    std::string signature() const override {
        return pattern_->signature() + ", on the " + members_.text() + " of " + std::to_string(ranks_);
    }
    Rank ranks() const override { return ranks_; }
    bool in_place() const override { return pattern_->in_place(); }
    layout::Box source_box(Rank rank) const override {
        return takes_part(rank) ? pattern_->source_box(members_.place(rank)) : layout::Box{};
    }
    layout::Box target_box(Rank rank) const override {
        return takes_part(rank) ? pattern_->target_box(members_.place(rank)) : layout::Box{};
    }
    layout::Box owned_box(Rank rank) const override {
        return takes_part(rank) ? pattern_->owned_box(members_.place(rank)) : layout::Box{};
    }
    layout::Patch source_patch(Rank rank) const override {
        return takes_part(rank) ? pattern_->source_patch(members_.place(rank)) : layout::Patch(layout::Box{});
    }
    layout::Patch target_patch(Rank rank) const override {
        return takes_part(rank) ? pattern_->target_patch(members_.place(rank)) : layout::Patch(layout::Box{});
    }
    std::vector<layout::Box> owned_boxes(Rank rank) const override {
        return takes_part(rank) ? pattern_->owned_boxes(members_.place(rank)) : std::vector<layout::Box>{};
    }
    bool ends_alike() const override { return pattern_->ends_alike(); }
    pattern::Parameters parameters() const override { return pattern_->parameters(); }
    Index storage() const override { return pattern_->storage(); }
    std::vector<layout::Box> expected(Rank rank) const override {
        return takes_part(rank) ? pattern_->expected(members_.place(rank)) : std::vector<layout::Box>{};
    }
    std::array<Index, 3> period() const override { return pattern_->period(); }
    bool reduces() const override { return pattern_->reduces(); }
    bool partial() const override { return pattern_->partial(); }
    bool same_points(Rank rank, const layout::Box& target, const layout::Box& points) const override {
        return pattern_->same_points(members_.place(rank), target, points);
    }

    bool takes_part(Rank rank) const { return members_.has(rank); }

  private:
    std::shared_ptr<const pattern::Pattern> pattern_;
    Members members_;
    Rank ranks_;
};

// As lazy as the schedule that it places: what it returns for a rank is what that one returns for the rank in its
// group.
class Placed : public schedule::Schedule {
  public:
    // The ranks of `schedule` are `members` of `ranks` ranks.
    Placed(std::shared_ptr<const schedule::Schedule> schedule, const Members& members, Rank ranks);

    int stages() const override { return schedule_->stages(); }
    int sends(Rank rank, int stage) const override {
        return takes_part(rank) ? schedule_->sends(members_.place(rank), stage) : 0;
    }
    int receives(Rank rank, int stage) const override {
        return takes_part(rank) ? schedule_->receives(members_.place(rank), stage) : 0;
    }
    schedule::Message send(Rank rank, int stage, int j) const override {
        return placed(schedule_->send(members_.place(rank), stage, j));
    }
    schedule::Message receive(Rank rank, int stage, int j) const override {
        return placed(schedule_->receive(members_.place(rank), stage, j));
    }
    void send_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        schedule_->send_pieces(members_.place(rank), stage, j, pieces);
    }
    void receive_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        schedule_->receive_pieces(members_.place(rank), stage, j, pieces);
    }
    void copies(Rank rank, int stage, std::vector<schedule::Copy>& copies) const override {
        if (takes_part(rank)) schedule_->copies(members_.place(rank), stage, copies);
    }
    bool combines(int stage) const override { return schedule_->combines(stage); }
    bool adds() const override { return schedule_->adds(); }
    Index scratch(Rank rank) const override { return takes_part(rank) ? schedule_->scratch(members_.place(rank)) : 0; }

  private:
    bool takes_part(Rank rank) const { return members_.has(rank); }
    schedule::Message placed(schedule::Message message) const {
        message.peer = members_.at(message.peer);
        return message;
    }

    std::shared_ptr<const schedule::Schedule> schedule_;
    Members members_;
};

}  // namespace tradewind::program
