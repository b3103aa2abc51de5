#include "verify/buffering.hpp"

#include <algorithm>
#include <limits>

#include "program/call_walk.hpp"

namespace tradewind::verify {

namespace {

using program::Call;
using program::CallWalk;

constexpr std::int64_t no_send = std::numeric_limits<std::int64_t>::max();

// The smallest send that a rank waits for and that could be buffered.
std::int64_t smallest_send(const program::Calls& calls, const CallWalk& walk) {
    std::int64_t smallest = no_send;
    for (Rank r = 0; r < calls.ranks(); ++r) {
        if (walk.has_ended(r)) continue;
        const Call& call = walk.awaited(r);
        if (call.kind == Call::send && !call.synchronous) smallest = std::min(smallest, call.size());
    }
    return smallest;
}

std::vector<Waiting> cycle_of(const program::Calls& calls, const CallWalk& walk) {
    Rank r = 0;
    while (r < calls.ranks() && walk.has_ended(r)) ++r;
    if (r == calls.ranks()) return {};
    std::vector<Waiting> chain;
    const auto unseen = static_cast<std::size_t>(calls.ranks());
    std::vector<std::size_t> place(unseen, unseen);
    while (!walk.has_ended(r) && place[static_cast<std::size_t>(r)] == unseen) {
        place[static_cast<std::size_t>(r)] = chain.size();
        const Call& call = walk.awaited(r);
        const auto peer = static_cast<Rank>(call.peer);
        chain.push_back({r, peer, call.kind == Call::send, call.amount, call.label, walk.wait(r).row});
        r = peer;
    }
    if (!walk.has_ended(r))
        chain.erase(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(place[static_cast<std::size_t>(r)]));
    return chain;
}

}  // namespace

// With larger buffers no rank stops earlier, and a limit below the smallest send that a rank waits for changes nothing:
// so the limit rises to the smallest send that is waited for, and the walk goes on from where it stood.
Buffering buffering_of(const program::Calls& calls) {
    CallWalk walk(calls);
    Buffering found;
    walk.go_on(0);
    found.cycle = cycle_of(calls, walk);
    while (!walk.all_ended()) {
        const std::int64_t limit = smallest_send(calls, walk);
        if (limit == no_send) return {-1, cycle_of(calls, walk)};
        found.eager_limit = limit;
        walk.go_on(limit);
    }
    return found;
}

}  // namespace tradewind::verify
