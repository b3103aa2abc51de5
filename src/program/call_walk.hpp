// A walk through the calls of all ranks on a network that takes no time: which of them come to their end, and when.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "program/calls.hpp"

namespace tradewind::program {

class CallWalk {
  public:
    static constexpr std::int64_t all_buffered = std::numeric_limits<std::int64_t>::max();

    explicit CallWalk(const Calls& calls);

    // Walks until no rank can go on, from where the last walk ended. Messages up to `limit` bytes are buffered: their
    // sends end at once; the others with the receive. Which order ranks go on in makes no difference.
    void go_on(std::int64_t limit);
    bool has_ended(Rank r) const { return next_[place(r)] == calls_.of(r).size(); }
    bool all_ended() const;
    // Returns the send or receive that a rank waits for which has not ended, and the wait itself.
    const Call& awaited(Rank r) const { return calls_.request(r, wait(r).peer); }
    const Call& wait(Rank r) const { return calls_.of(r)[next_[place(r)]]; }
    // Returns when the last rank was done, in ps.
    std::int64_t time() const;

  private:
    static constexpr Rank none = -1;
    static constexpr std::int64_t not_yet = -1;

    struct Message {
        std::int64_t sent = not_yet, posted = not_yet;  // ps
        Rank waiting = none;                            // for its other end
    };

    static std::size_t place(Rank r) { return static_cast<std::size_t>(r); }
    std::int64_t end_of(Rank r, const Call& call) const;
    void wake(Message& message);
    void prefetch_ahead(Rank r, std::size_t next);
    void walk(Rank r);

    const Calls& calls_;
    std::int64_t limit_ = 0;
    std::vector<std::size_t> next_;               // [rank]: call
    std::vector<std::int64_t> clock_;             // [rank]
    std::vector<std::vector<Message>> messages_;  // [receiver][message]
    std::vector<Rank> ready_;
};

}  // namespace tradewind::program
