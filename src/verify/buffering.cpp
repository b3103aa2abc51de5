#include "verify/buffering.hpp"

#include <algorithm>
#include <limits>

#include "program/call_walk.hpp"

namespace tradewind::verify {

namespace {

using program::Call;
using program::CallWalk;

constexpr std::int64_t no_send = std::numeric_limits<std::int64_t>::max();

// The smallest send that a thread waits for and that could be buffered.
std::int64_t smallest_send(const CallWalk& walk) {
    std::int64_t smallest = no_send;
    for (std::size_t thread = 0; thread < walk.threads(); ++thread) {
        if (walk.has_ended(thread)) continue;
        const Call& call = walk.awaited(thread);
        if (call.kind == Call::send && !call.synchronous) smallest = std::min(smallest, call.size());
    }
    return smallest;
}

std::vector<Waiting> cycle_of(const CallWalk& walk) {
    std::size_t thread = 0;
    while (thread < walk.threads() && walk.has_ended(thread)) ++thread;
    if (thread == walk.threads()) return {};
    std::vector<Waiting> chain;
    const std::size_t unseen = walk.threads();
    std::vector<std::size_t> place(unseen, unseen);
    while (!walk.has_ended(thread) && place[thread] == unseen) {
        place[thread] = chain.size();
        const Call& call = walk.awaited(thread);
        chain.push_back({walk.rank(thread), static_cast<Rank>(call.peer), call.kind == Call::send, call.amount,
                         call.label, walk.wait(thread).row});
        thread = walk.other_end(thread);
    }
    if (!walk.has_ended(thread)) chain.erase(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(place[thread]));
    return chain;
}

}  // namespace

// With larger buffers no rank stops earlier, and a limit below the smallest send that a rank waits for changes nothing:
// so the limit rises to the smallest send that is waited for, and the walk goes on from where it stood.
Buffering buffering_of(const program::Calls& calls, const CallWalk::Threads& threads) {
    CallWalk walk(calls, threads);
    Buffering found;
    walk.go_on(0);
    found.cycle = cycle_of(walk);
    while (!walk.all_ended()) {
        const std::int64_t limit = smallest_send(walk);
        if (limit == no_send) return {-1, cycle_of(walk)};
        found.eager_limit = limit;
        walk.go_on(limit);
    }
    return found;
}

}  // namespace tradewind::verify
