#include "schedule/one_by_one.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace tradewind::schedule {

namespace {

// An exchange of a stage of the schedule that it is made of.
struct Part {
    int stage, j;
};

class OneByOne : public Schedule {
  public:
    OneByOne(std::shared_ptr<const Schedule> whole, std::vector<Part> parts)
        : Schedule(whole->shared_pattern(), whole->algorithm()), whole_(std::move(whole)), parts_(std::move(parts)) {}

    int stages() const override { return static_cast<int>(parts_.size()); }
    int sends(Rank rank, int stage) const override { return whole_->sends(rank, of(stage).stage) > of(stage).j; }
    int receives(Rank rank, int stage) const override { return whole_->receives(rank, of(stage).stage) > of(stage).j; }
    Message send(Rank rank, int stage, int) const override { return whole_->send(rank, of(stage).stage, of(stage).j); }
    Message receive(Rank rank, int stage, int) const override {
        return whole_->receive(rank, of(stage).stage, of(stage).j);
    }
    void send_pieces(Rank, int, int, std::vector<Piece>&) const override { refuse(); }
    void receive_pieces(Rank, int, int, std::vector<Piece>&) const override { refuse(); }
    // Simulations ask how much is copied, and not where it lies: with the first exchange of the stage.
    void copies(Rank rank, int stage, std::vector<Copy>& copies) const override {
        if (of(stage).j == 0) whole_->copies(rank, of(stage).stage, copies);
    }
    bool combines(int stage) const override { return whole_->combines(of(stage).stage); }
    bool adds() const override { return whole_->adds(); }
    bool numbered() const override { return whole_->numbered(); }

  private:
    const Part& of(int stage) const { return parts_[static_cast<std::size_t>(stage)]; }
    [[noreturn]] static void refuse() {
        throw InputError("a schedule whose exchanges go one by one is simulated alone: its points are not known");
    }

    std::shared_ptr<const Schedule> whole_;
    std::vector<Part> parts_;  // [stage]
};

// Throws InputError unless the other end of a message has it as the same exchange.
void check(const Schedule& schedule, Rank rank, int stage, int j) {
    const Message sent = schedule.send(rank, stage, j);
    if (sent.count == 0) return;
    if (j < schedule.receives(sent.peer, stage)) {
        const Message received = schedule.receive(sent.peer, stage, j);
        if (received.peer == rank && received.count == sent.count && received.tag == sent.tag) return;
    }
    throw InputError("posting sendrecv: message " + std::to_string(j) + " that rank " + std::to_string(rank) +
                     " sends in stage " + std::to_string(stage) + " of " + schedule.algorithm() +
                     " is another exchange of rank " + std::to_string(sent.peer) +
                     ": algorithms whose exchanges both ends number alike are allowed, or posting together");
}

}  // namespace

std::shared_ptr<const Schedule> one_by_one(std::shared_ptr<const Schedule> schedule) {
    std::vector<Part> parts;
    for (int stage = 0; stage < schedule->stages(); ++stage) {
        int exchanges = 1;  // a stage without messages stays one
        for (Rank r = 0; r < schedule->ranks(); ++r) {
            const int sends = schedule->sends(r, stage);
            for (int j = 0; j < sends; ++j) check(*schedule, r, stage, j);
            exchanges = std::max({exchanges, sends, schedule->receives(r, stage)});
        }
        for (int j = 0; j < exchanges; ++j) parts.push_back({stage, j});
    }
    return std::make_shared<OneByOne>(std::move(schedule), std::move(parts));
}

}  // namespace tradewind::schedule
