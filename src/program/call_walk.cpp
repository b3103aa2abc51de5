#include "program/call_walk.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/prefetch.hpp"

namespace tradewind::program {

CallWalk::CallWalk(const Calls& calls, const Threads& threads)
    : calls_(calls), clock_(static_cast<std::size_t>(calls.ranks())) {
    for (Rank r = 0; r < calls.ranks(); ++r) {
        messages_.emplace_back(calls.receives(r));
        if (threads.empty() || threads[place(r)].empty()) {
            threads_.push_back({r, {}});
            continue;
        }
        std::map<std::uint16_t, std::vector<std::uint32_t>> by_thread;
        for (std::size_t i = 0; i < calls.of(r).size(); ++i)
            by_thread[threads[place(r)].at(i)].push_back(static_cast<std::uint32_t>(i));
        for (auto& [number, own] : by_thread) threads_.push_back({r, std::move(own)});
    }
}

void CallWalk::go_on(std::int64_t limit) {
    limit_ = limit;
    for (std::size_t thread = 0; thread < threads(); ++thread)
        if (!has_ended(thread)) ready_.push_back(thread);
    while (!ready_.empty()) {
        const std::size_t thread = ready_.back();
        ready_.pop_back();
        walk(thread);
    }
}

bool CallWalk::all_ended() const {
    for (std::size_t thread = 0; thread < threads(); ++thread)
        if (!has_ended(thread)) return false;
    return true;
}

std::size_t CallWalk::other_end(std::size_t thread) const {
    const Call& awaited = this->awaited(thread);
    const auto is_other_end = [&](const Call& call) {
        return awaited.kind == Call::send ? call.kind == Call::receive && call.message == awaited.message
                                          : call.kind == Call::send && call.message == awaited.message &&
                                                static_cast<Rank>(call.peer) == rank(thread);
    };
    const auto of_peer = std::ranges::equal_range(threads_, static_cast<Rank>(awaited.peer), {}, &Thread::rank);
    const auto first = static_cast<std::size_t>(of_peer.begin() - threads_.begin());
    if (of_peer.size() == 1) return first;
    for (std::size_t each = first; each < first + of_peer.size(); ++each)
        for (std::size_t i = threads_[each].next; i < size(threads_[each]); ++i)
            if (is_other_end(at(threads_[each], i))) return each;
    return first;
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

void CallWalk::wake(std::uint32_t& waiting) {
    if (waiting != none) ready_.push_back(waiting);
    waiting = none;
}

// Between two visits of a rank come those of others, so that what it needs next is in no cache.
template <class At>
void CallWalk::prefetch_ahead(Rank r, std::size_t next, std::size_t end, At at) {
    constexpr std::size_t ahead = 16;
    if (next + ahead >= end) return;
    prefetch_line(&at(next + ahead));
    const Call& soon = at(next + ahead / 2);
    if (soon.kind == Call::send) prefetch_line(&messages_[soon.peer][soon.message]);
    if (soon.kind == Call::receive) prefetch_line(&messages_[place(r)][soon.message]);
}

void CallWalk::walk(std::size_t number) {
    const Thread& thread = threads_[number];
    const Call* const calls = calls_.of(thread.rank).data();
    const std::uint32_t* const own = thread.own.data();
    if (thread.own.empty())
        walk(number, size(thread), [calls](std::size_t i) -> const Call& { return calls[i]; });
    else
        walk(number, size(thread), [calls, own](std::size_t i) -> const Call& { return calls[own[i]]; });
}

template <class At>
void CallWalk::walk(std::size_t number, std::size_t end, At at) {
    const Rank r = rank(number);
    std::int64_t& clock = clock_[place(r)];
    for (std::size_t& next = threads_[number].next; next < end; ++next) {
        prefetch_ahead(r, next, end, at);
        const Call& call = at(next);
        switch (call.kind) {
            case Call::compute: clock += call.amount; break;
            case Call::send: {
                Message& message = messages_[call.peer][call.message];
                message.sent = clock;
                wake(message.waits_for_sent);
                break;
            }
            case Call::receive: {
                Message& message = messages_[place(r)][call.message];
                message.posted = clock;
                wake(message.waits_for_posted);
                break;
            }
            case Call::wait: {
                const Call& awaited = calls_.request(r, call.peer);
                const std::int64_t ended = end_of(r, awaited);
                if (ended == not_yet) {
                    if (awaited.kind == Call::send)
                        messages_[awaited.peer][awaited.message].waits_for_posted = static_cast<std::uint32_t>(number);
                    else
                        messages_[place(r)][awaited.message].waits_for_sent = static_cast<std::uint32_t>(number);
                    return;
                }
                clock = std::max(clock, ended);
                break;
            }
        }
    }
}

}  // namespace tradewind::program
