#include "program/call_walk.hpp"

#include <algorithm>

namespace tradewind::program {

CallWalk::CallWalk(const Calls& calls)
    : calls_(calls), next_(static_cast<std::size_t>(calls.ranks())), clock_(next_.size()) {
    for (Rank r = 0; r < calls.ranks(); ++r) {
        sent_.emplace_back(calls.receives(r), not_yet);
        posted_.emplace_back(calls.receives(r), not_yet);
        waiting_for_.emplace_back(calls.receives(r), none);
    }
}

void CallWalk::go_on(std::int64_t limit) {
    limit_ = limit;
    for (Rank r = 0; r < calls_.ranks(); ++r)
        if (!has_ended(r)) ready_.push_back(r);
    while (!ready_.empty()) {
        const Rank r = ready_.back();
        ready_.pop_back();
        walk(r);
    }
}

bool CallWalk::all_ended() const {
    for (Rank r = 0; r < calls_.ranks(); ++r)
        if (!has_ended(r)) return false;
    return true;
}

std::int64_t CallWalk::time() const {
    return *std::max_element(clock_.begin(), clock_.end());
}

// When the other end of a message lets a send or a receive end.
std::int64_t CallWalk::end_of(Rank r, const Call& call) const {
    if (call.kind == Call::receive) return sent_[place(r)][call.message];
    if (call.size() <= limit_ && !call.synchronous) return 0;
    return posted_[call.peer][call.message];
}

void CallWalk::wake(Rank receiver, std::uint32_t message) {
    Rank& waiting = waiting_for_[place(receiver)][message];
    if (waiting != none) ready_.push_back(waiting);
    waiting = none;
}

void CallWalk::walk(Rank r) {
    const std::vector<Call>& calls = calls_.of(r);
    std::int64_t& clock = clock_[place(r)];
    for (std::size_t& next = next_[place(r)]; next < calls.size(); ++next) {
        const Call& call = calls[next];
        switch (call.kind) {
            case Call::compute: clock += call.amount; break;
            case Call::send:
                sent_[call.peer][call.message] = clock;
                wake(static_cast<Rank>(call.peer), call.message);
                break;
            case Call::receive:
                posted_[place(r)][call.message] = clock;
                wake(r, call.message);
                break;
            case Call::wait: {
                const Call& awaited = calls_.request(r, call.peer);
                const std::int64_t end = end_of(r, awaited);
                if (end == not_yet) {
                    waiting_for_[awaited.kind == Call::send ? awaited.peer : place(r)][awaited.message] = r;
                    return;
                }
                clock = std::max(clock, end);
                break;
            }
        }
    }
}

}  // namespace tradewind::program
