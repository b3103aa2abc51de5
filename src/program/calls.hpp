// Calls of each rank, one after another, as a trace of a real program has them: computations, sends, receives, and
// waits for them, in an order of its own on each rank. Collective calls are messages by then, and messages are matched.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/units.hpp"

namespace tradewind::program {

// A send or a receive begins with its call and ends in the wait for it, if there is one. They are numbered on each rank
// from 0, as requests; receives have numbers of their own, too, which are those of their messages.
struct Call {
    enum Kind : std::uint8_t { compute, send, receive, wait } kind = compute;
    bool synchronous : 1 = false;    // a send that ends only when its receive has been posted, whatever its size
    bool in_collective : 1 = false;  // a message of a collective call
    std::uint16_t label = 0;         // what it is a part of
    std::uint32_t peer = 0;          // the other rank; of a wait: the request
    std::uint32_t message = 0;       // of send and receive: its number at the receiver
    std::uint32_t row = 0;           // of the trace
    std::int64_t amount = 0;         // bytes; of a computation: ps

    // Returns the bytes of a message on its way: one of none takes room, too, and may have to be buffered.
    std::int64_t size() const { return amount > 0 ? amount : 1; }
};
static_assert(sizeof(Call) == 24);

// A send without a receive, or the other way round.
struct Unmatched {
    Rank rank, peer;
    bool is_send;
    std::uint32_t communicator, row;
    std::int64_t tag, bytes;
};

// Which messages a receive takes, beside those of its sender; and the one that it took.
struct ReceiveKey {
    std::uint32_t communicator = 0;
    std::int64_t tag = 0;  // of the message
    bool any_source = false, any_tag = false;

    bool is_wild() const { return any_source || any_tag; }
};

class Calls {
  public:
    // Messages of one rank that can be numbered.
    static constexpr std::uint32_t max_messages = (1u << 24) - 1;

    // `labels`: names of what calls are a part of.
    // `receive_keys`: as those below; none of any rank may be left out.
    Calls(std::vector<std::vector<Call>> calls, std::vector<std::string> labels, std::vector<Unmatched> unmatched,
          std::vector<std::vector<ReceiveKey>> receive_keys = {},
          std::vector<std::pair<Rank, std::uint32_t>> never_awaited = {});

    Rank ranks() const { return static_cast<Rank>(calls_.size()); }
    const std::vector<Call>& of(Rank rank) const { return calls_[static_cast<std::size_t>(rank)]; }
    const std::vector<std::string>& labels() const { return labels_; }
    // Sends and receives without another end are in none of the lists of calls; nor are the waits for them.
    const std::vector<Unmatched>& unmatched() const { return unmatched_; }
    // Requests that are begun and neither waited for nor freed: rank, row.
    const std::vector<std::pair<Rank, std::uint32_t>>& never_awaited() const { return never_awaited_; }
    std::uint32_t requests(Rank rank) const {
        return static_cast<std::uint32_t>(of_request_[static_cast<std::size_t>(rank)].size());
    }
    // The send or receive with which it begins.
    const Call& request(Rank rank, std::uint32_t request) const {
        return of(rank)[of_request_[static_cast<std::size_t>(rank)][request]];
    }
    std::uint32_t receives(Rank rank) const { return receives_[static_cast<std::size_t>(rank)]; }
    // [message], of a rank that takes messages from anywhere; else empty.
    const std::vector<ReceiveKey>& receive_keys(Rank rank) const {
        return receive_keys_[static_cast<std::size_t>(rank)];
    }
    std::int64_t messages() const { return messages_; }
    std::int64_t bytes() const { return bytes_; }
    std::int64_t largest_message() const { return largest_; }
    bool has_synchronous() const { return has_synchronous_; }
    std::int64_t calls() const { return count_; }

  private:
    std::vector<std::vector<Call>> calls_;  // [rank]
    std::vector<std::string> labels_;
    std::vector<Unmatched> unmatched_;
    std::vector<std::vector<ReceiveKey>> receive_keys_;  // [rank][message]
    std::vector<std::pair<Rank, std::uint32_t>> never_awaited_;
    std::vector<std::vector<std::uint32_t>> of_request_;  // [rank][request]: call
    std::vector<std::uint32_t> receives_;                 // [rank]
    std::int64_t messages_ = 0, bytes_ = 0, largest_ = 0, count_ = 0;
    bool has_synchronous_ = false;
};

}  // namespace tradewind::program
