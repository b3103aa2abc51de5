#include "sim/critical_path.hpp"

#include <algorithm>

namespace tradewind::sim {

namespace {

using program::Call;
using program::Calls;

std::size_t index(Rank r) {
    return static_cast<std::size_t>(r);
}

// The calls with which messages are sent, [receiver][message].
std::vector<std::vector<std::uint32_t>> sending_calls(const Calls& calls) {
    std::vector<std::vector<std::uint32_t>> sending;
    for (Rank r = 0; r < calls.ranks(); ++r) sending.emplace_back(calls.receives(r));
    for (Rank r = 0; r < calls.ranks(); ++r)
        for (std::uint32_t i = 0; i < calls.of(r).size(); ++i)
            if (const Call& call = calls.of(r)[i]; call.kind == Call::send) sending[call.peer][call.message] = i;
    return sending;
}

// Goes back in time from call to call.
class BackwardWalk {
  public:
    explicit BackwardWalk(const ReplayTimes& times)
        : calls_(*times.calls), times_(times), sending_(sending_calls(calls_)) {}

    std::vector<PathPiece> pieces() && {
        start();
        while (time_ > 0) step();
        std::reverse(pieces_.begin(), pieces_.end());
        return std::move(pieces_);
    }

  private:
    void start() {
        for (Rank r = 0; r < calls_.ranks(); ++r)
            if (const auto& ends = times_.call_end[index(r)]; !ends.empty() && ends.back() > time_) {
                rank_ = r;
                time_ = ends.back();
                call_ = static_cast<std::uint32_t>(ends.size() - 1);
            }
    }
    std::int64_t begin_of(Rank r, std::uint32_t call) const {
        return call == 0 ? 0 : times_.call_end[index(r)][call - 1];
    }
    void add(Rank r, std::uint32_t call, bool is_message, std::int64_t begin) {
        if (begin < time_) pieces_.push_back({r, call, is_message, begin, time_});
        time_ = begin;
    }
    void step() {
        const std::int64_t begin = begin_of(rank_, call_);
        const Call& call = calls_.of(rank_)[call_];
        if (call.kind == Call::wait && !by_message_) {
            if (const std::int64_t ended = times_.ended[index(rank_)][call.peer]; ended > begin) {
                add(rank_, call_, false, std::min(ended, time_));
                follow(calls_.request(rank_, call.peer));
                return;
            }
        }
        add(rank_, call_, false, begin);
        by_message_ = false;
        if (call_ > 0) --call_;
    }
    // To where the message of a send or receive of this rank began to be on its way.
    void follow(const Call& awaited) {
        const bool sends = awaited.kind == Call::send;
        const auto peer = static_cast<Rank>(awaited.peer);
        const Rank sender = sends ? rank_ : peer, receiver = sends ? peer : rank_;
        const std::uint32_t sending = sending_[index(receiver)][awaited.message];
        const ReplayTimes::Message& message = times_.messages[index(receiver)][awaited.message];
        const bool by_receiver = message.asked_in != ReplayTimes::none;
        rank_ = by_receiver ? receiver : sender;
        call_ = by_receiver ? message.asked_in : sending;
        const std::int64_t since = by_receiver ? message.asked : times_.call_end[index(sender)][sending];
        add(sender, sending, true, std::max(begin_of(rank_, call_), std::min(since, time_)));
        by_message_ = true;
    }

    const Calls& calls_;
    const ReplayTimes& times_;
    std::vector<std::vector<std::uint32_t>> sending_;
    std::vector<PathPiece> pieces_;
    Rank rank_ = 0;
    std::uint32_t call_ = 0;
    std::int64_t time_ = 0;
    bool by_message_ = false;  // the path has come to this call by a message, which it sent or asked for
};

}  // namespace

std::vector<PathPiece> critical_path(const ReplayTimes& times) {
    return BackwardWalk(times).pieces();
}

}  // namespace tradewind::sim
