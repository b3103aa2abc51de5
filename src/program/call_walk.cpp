#include "program/call_walk.hpp"

#include <algorithm>

#include "base/prefetch.hpp"

namespace tradewind::program {

CallWalk::CallWalk(const Calls& calls)
    : calls_(calls), next_(static_cast<std::size_t>(calls.ranks())), clock_(next_.size()) {
    for (Rank r = 0; r < calls.ranks(); ++r) messages_.emplace_back(calls.receives(r));
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
    if (call.kind == Call::receive) return messages_[place(r)][call.message].sent;
    if (call.size() <= limit_ && !call.synchronous) return 0;
    return messages_[call.peer][call.message].posted;
}

void CallWalk::wake(Message& message) {
    if (message.waiting != none) ready_.push_back(message.waiting);
    message.waiting = none;
}

// Between two visits of a rank come those of others, so that what it needs next is in no cache.
void CallWalk::prefetch_ahead(Rank r, std::size_t next) {
    constexpr std::size_t ahead = 16;
    const std::vector<Call>& calls = calls_.of(r);
    if (next + ahead >= calls.size()) return;
    prefetch_line(&calls[next + ahead]);
    const Call& soon = calls[next + ahead / 2];
    if (soon.kind == Call::send) prefetch_line(&messages_[soon.peer][soon.message]);
    if (soon.kind == Call::receive) prefetch_line(&messages_[place(r)][soon.message]);
}

void CallWalk::walk(Rank r) {
    const std::vector<Call>& calls = calls_.of(r);
    std::int64_t& clock = clock_[place(r)];
    for (std::size_t& next = next_[place(r)]; next < calls.size(); ++next) {
        prefetch_ahead(r, next);
        const Call& call = calls[next];
        switch (call.kind) {
            case Call::compute: clock += call.amount; break;
            case Call::send: {
                Message& message = messages_[call.peer][call.message];
                message.sent = clock;
                wake(message);
                break;
            }
            case Call::receive: {
                Message& message = messages_[place(r)][call.message];
                message.posted = clock;
                wake(message);
                break;
            }
            case Call::wait: {
                const Call& awaited = calls_.request(r, call.peer);
                const std::int64_t end = end_of(r, awaited);
                if (end == not_yet) {
                    messages_[awaited.kind == Call::send ? awaited.peer : place(r)][awaited.message].waiting = r;
                    return;
                }
                clock = std::max(clock, end);
                break;
            }
        }
    }
}

}  // namespace tradewind::program
