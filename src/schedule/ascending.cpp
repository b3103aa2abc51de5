#include "schedule/ascending.hpp"

#include <string>
#include <utility>

#include "base/error.hpp"

namespace tradewind::schedule {

namespace {

// The message with which a rank comes back to the first ranks: the receivers of a stage ascend but for one place. The
// number of messages where they ascend throughout.
int turn(const Schedule& schedule, Rank rank, int stage, int count) {
    const Rank first = schedule.send(rank, stage, 0).peer;
    int before = 0, after = count;  // the turn lies behind `before`, and at `after` or before it
    while (after - before > 1) {
        const int middle = (before + after) / 2;
        (schedule.send(rank, stage, middle).peer < first ? after : before) = middle;
    }
    return after;
}

class Ascending : public Schedule {
  public:
    explicit Ascending(std::shared_ptr<const Schedule> whole)
        : Schedule(whole->shared_pattern(), whole->algorithm()), whole_(std::move(whole)) {}

    int stages() const override { return whole_->stages(); }
    int sends(Rank rank, int stage) const override { return whole_->sends(rank, stage); }
    int receives(Rank rank, int stage) const override { return whole_->receives(rank, stage); }
    Message send(Rank rank, int stage, int j) const override {
        return whole_->send(rank, stage, number(rank, stage, j));
    }
    Message receive(Rank rank, int stage, int j) const override { return whole_->receive(rank, stage, j); }
    void send_pieces(Rank rank, int stage, int j, std::vector<Piece>& pieces) const override {
        whole_->send_pieces(rank, stage, number(rank, stage, j), pieces);
    }
    void receive_pieces(Rank rank, int stage, int j, std::vector<Piece>& pieces) const override {
        whole_->receive_pieces(rank, stage, j, pieces);
    }
    void copies(Rank rank, int stage, std::vector<Copy>& copies) const override { whole_->copies(rank, stage, copies); }
    bool has_runs() const override { return whole_->has_runs(); }
    RunList send_runs(Rank rank, int stage, int j) const override {
        return whole_->send_runs(rank, stage, number(rank, stage, j));
    }
    RunList receive_runs(Rank rank, int stage, int j) const override { return whole_->receive_runs(rank, stage, j); }
    RunCopy kept_runs(Rank rank, int stage) const override { return whole_->kept_runs(rank, stage); }
    bool combines(int stage) const override { return whole_->combines(stage); }
    bool adds() const override { return whole_->adds(); }
    bool numbered() const override { return whole_->numbered(); }
    Index scratch(Rank rank) const override { return whole_->scratch(rank); }

  private:
    int number(Rank rank, int stage, int j) const {
        const int count = whole_->sends(rank, stage);
        if (count < 2) return j;
        const int moved = turn(*whole_, rank, stage, count) + j;
        return moved < count ? moved : moved - count;
    }

    std::shared_ptr<const Schedule> whole_;
};

// Throws InputError unless the sends of a stage are in order once they begin at their turn.
void check(const Schedule& schedule, Rank rank, int stage) {
    const int count = schedule.sends(rank, stage);
    for (int j = 1; j < count; ++j)
        if (schedule.send(rank, stage, j - 1).peer >= schedule.send(rank, stage, j).peer)
            throw InputError("posting ascending: the messages that a rank sends in stage " + std::to_string(stage) +
                             " of " + schedule.algorithm() +
                             " do not go around the ring of ranks: those of burst and ring-k between the ranks of a "
                             "row or column do, and are allowed");
}

}  // namespace

std::shared_ptr<const Schedule> ascending(std::shared_ptr<const Schedule> schedule) {
    auto ordered = std::make_shared<Ascending>(std::move(schedule));
    for (int stage = 0; stage < ordered->stages(); ++stage)
        for (Rank r = 0; r < ordered->ranks(); ++r) check(*ordered, r, stage);
    return ordered;
}

}  // namespace tradewind::schedule
