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
    // [rank][call] thread; empty where a rank has one. Threads of a rank go on whatever the others wait for.
    using Threads = std::vector<std::vector<std::uint16_t>>;

    explicit CallWalk(const Calls& calls, const Threads& threads = {});

    // Walks until no thread can go on, from where the last walk ended. Messages up to `limit` bytes are buffered: their
    // sends end at once; the others with the receive. Which order threads go on in makes no difference.
    void go_on(std::int64_t limit);
    bool all_ended() const;
    // Returns when the last rank was done, in ps; of ranks with one thread each.
    std::int64_t time() const;

    // Threads of all ranks are numbered by their ranks.
    std::size_t threads() const { return threads_.size(); }
    Rank rank(std::size_t thread) const { return threads_[thread].rank; }
    bool has_ended(std::size_t thread) const { return threads_[thread].next == size(threads_[thread]); }
    // Returns the send or receive that a thread waits for which has not ended, and the wait itself.
    const Call& awaited(std::size_t thread) const { return calls_.request(rank(thread), wait(thread).peer); }
    const Call& wait(std::size_t thread) const { return at(threads_[thread], threads_[thread].next); }
    // Returns the thread that makes the other end of what a thread waits for.
    std::size_t other_end(std::size_t thread) const;

  private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::int64_t not_yet = -1;

    // At each end a thread may wait for the other one, before other threads of both ranks have begun it.
    struct Message {
        std::int64_t sent = not_yet, posted = not_yet;  // ps
        std::uint32_t waits_for_sent = none, waits_for_posted = none;
    };
    struct Thread {
        Rank rank;
        std::vector<std::uint32_t> own;  // its calls, where the rank has several threads
        std::size_t next = 0;
    };

    static std::size_t place(Rank r) { return static_cast<std::size_t>(r); }
    std::size_t size(const Thread& thread) const {
        return thread.own.empty() ? calls_.of(thread.rank).size() : thread.own.size();
    }
    const Call& at(const Thread& thread, std::size_t i) const {
        return calls_.of(thread.rank)[thread.own.empty() ? i : thread.own[i]];
    }
    std::int64_t end_of(Rank r, const Call& call) const;
    void wake(std::uint32_t& waiting);
    template <class At>
    void prefetch_ahead(Rank r, std::size_t next, std::size_t end, At at);
    void walk(std::size_t number);
    // `at`: gives the calls of the thread up to before `end`.
    template <class At>
    void walk(std::size_t number, std::size_t end, At at);

    const Calls& calls_;
    std::int64_t limit_ = 0;
    std::vector<Thread> threads_;
    std::vector<std::int64_t> clock_;             // [rank]
    std::vector<std::vector<Message>> messages_;  // [receiver][message]
    std::vector<std::size_t> ready_;
};

}  // namespace tradewind::program
