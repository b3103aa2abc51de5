#include "verify/buffering.hpp"

#include <algorithm>
#include <limits>

namespace tradewind::verify {

namespace {

using program::Call;

class BufferedWalk {
  public:
    explicit BufferedWalk(const program::Calls& calls) : calls_(calls), next_(static_cast<std::size_t>(calls.ranks())) {
        for (Rank r = 0; r < calls.ranks(); ++r) {
            sent_.emplace_back(calls.receives(r));
            posted_.emplace_back(calls.receives(r));
            waiting_for_.emplace_back(calls.receives(r), none);
            ready_.push_back(r);
        }
    }

    // Walks until no rank can go on, if messages up to `limit` are buffered.
    void go_on(std::int64_t limit) {
        limit_ = limit;
        for (Rank r = 0; r < calls_.ranks(); ++r)
            if (!has_ended(r)) ready_.push_back(r);
        while (!ready_.empty()) {
            const Rank r = ready_.back();
            ready_.pop_back();
            walk(r);
        }
    }
    bool has_ended(Rank r) const { return next_[static_cast<std::size_t>(r)] == calls_.of(r).size(); }
    bool all_ended() const {
        for (Rank r = 0; r < calls_.ranks(); ++r)
            if (!has_ended(r)) return false;
        return true;
    }
    // The smallest send that somebody waits for and that could be buffered; none: the largest number.
    std::int64_t smallest_send() const {
        std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
        for (Rank r = 0; r < calls_.ranks(); ++r)
            if (!has_ended(r))
                if (const Call& call = awaited(r); call.kind == Call::send && !call.synchronous)
                    smallest = std::min(smallest, call.amount);
        return smallest;
    }
    std::vector<Waiting> cycle() const {
        Rank r = 0;
        while (r < calls_.ranks() && has_ended(r)) ++r;
        if (r == calls_.ranks()) return {};
        std::vector<Waiting> chain;
        std::vector<std::size_t> place(next_.size(), next_.size());
        while (!has_ended(r) && place[static_cast<std::size_t>(r)] == next_.size()) {
            place[static_cast<std::size_t>(r)] = chain.size();
            const Call& call = awaited(r);
            chain.push_back({r, static_cast<Rank>(call.peer), call.kind == Call::send, call.amount, call.label,
                             calls_.of(r)[next_[static_cast<std::size_t>(r)]].row});
            r = static_cast<Rank>(call.peer);
        }
        if (!has_ended(r)) chain.erase(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(place[r]));
        return chain;
    }

  private:
    static constexpr Rank none = -1;

    // Returns the send or receive that a rank waits for.
    const Call& awaited(Rank r) const {
        return calls_.request(r, calls_.of(r)[next_[static_cast<std::size_t>(r)]].peer);
    }
    bool is_over(Rank r, const Call& call) const {
        if (call.kind == Call::receive) return sent_[static_cast<std::size_t>(r)][call.message];
        return (call.amount <= limit_ && !call.synchronous) || posted_[call.peer][call.message];
    }
    void wake(Rank receiver, std::uint32_t message) {
        Rank& waiting = waiting_for_[static_cast<std::size_t>(receiver)][message];
        if (waiting != none) ready_.push_back(waiting);
        waiting = none;
    }
    void walk(Rank r) {
        const std::vector<Call>& calls = calls_.of(r);
        for (std::size_t& next = next_[static_cast<std::size_t>(r)]; next < calls.size(); ++next) {
            const Call& call = calls[next];
            switch (call.kind) {
                case Call::compute: break;
                case Call::send:
                    sent_[call.peer][call.message] = true;
                    wake(static_cast<Rank>(call.peer), call.message);
                    break;
                case Call::receive:
                    posted_[static_cast<std::size_t>(r)][call.message] = true;
                    wake(r, call.message);
                    break;
                case Call::wait: {
                    const Call& awaited = calls_.request(r, call.peer);
                    if (is_over(r, awaited)) break;
                    const std::size_t receiver =
                        awaited.kind == Call::send ? awaited.peer : static_cast<std::size_t>(r);
                    waiting_for_[receiver][awaited.message] = r;
                    return;
                }
            }
        }
    }

    const program::Calls& calls_;
    std::int64_t limit_ = 0;
    std::vector<std::size_t> next_;                 // [rank]: call
    std::vector<std::vector<bool>> sent_, posted_;  // [receiver][message]
    std::vector<std::vector<Rank>> waiting_for_;    // [receiver][message]: the rank that waits for its other end
    std::vector<Rank> ready_;
};

}  // namespace

// With larger buffers no rank stops earlier, and a limit below the smallest send that a rank waits for changes nothing:
// so the limit rises to the smallest send that is waited for, and the walk goes on from where it stood.
Buffering buffering_of(const program::Calls& calls) {
    BufferedWalk walk(calls);
    Buffering found;
    walk.go_on(0);
    found.cycle = walk.cycle();
    while (!walk.all_ended()) {
        const std::int64_t limit = walk.smallest_send();
        if (limit == std::numeric_limits<std::int64_t>::max()) return {-1, walk.cycle()};
        found.eager_limit = limit;
        walk.go_on(limit);
    }
    return found;
}

}  // namespace tradewind::verify
