// From the rows of a trace to the calls that ranks replay: collective calls become messages, blocking calls a begin and
// a wait, and each receive gets its send.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "program/calls.hpp"
#include "program/collectives.hpp"
#include "program/message_ends.hpp"

namespace tradewind::program {

// A persistent send, receive or collective call is prepared by its row, and begins with each start of its request.
enum class RowKind : std::uint8_t { compute, send, receive, wait, collective, start };

// Distinct rows of one rank; columns of equal length.
struct TraceRows {
    // `joined`: with the request of the row before, which ends when both have. `cancelled`: of a wait. `buffered`: no
    // rank waits for it. `freed`: of a wait that does not wait, as nothing of the request is known any more.
    // `any_source`, `any_tag`: of a receive, also where its rank and tag stand in the row.
    static constexpr std::uint16_t synchronous = 1, nonblocking = 2, persistent = 4, joined = 8, cancelled = 16,
                                   buffered = 32, freed = 64, any_source = 128, any_tag = 256;
    // A rank or tag that the wait for a receive names.
    static constexpr std::int32_t any = -2;

    std::span<const std::uint8_t> kind;        // RowKind
    std::span<const std::uint16_t> flags;      // of those above
    std::span<const std::uint8_t> collective;  // Collective
    std::span<const std::uint16_t> label;
    std::span<const std::uint32_t> communicator;
    std::span<const std::int32_t> peer;  // as ranks of the whole program, or any; of a collective call: the root; of a
                                         // wait: from where the message came, if a receive takes any
    std::span<const std::int64_t> tag;   // the same
    std::span<const std::int64_t> amount;   // bytes; of a computation: ps
    std::span<const std::int64_t> request;  // of non-blocking calls, and of waits

    std::size_t size() const { return kind.size(); }
};

// The rows of one rank in the order in which it made them: blocks of distinct ones, as a loop has them again and again.
struct RowSequence {
    TraceRows rows;
    std::span<const std::int64_t> begins;     // [block] its first row; and the end of the last one
    std::span<const std::int32_t> order;      // [place] block
    std::span<const std::int64_t> computing;  // [place] ps of a computation with which the block begins
};

class CallsOfTrace {
  public:
    // Collective calls go on to their next stage while their rank waits for them. `at_once`: when it waits for
    // something else, it begins all their stages, so that no rank waits for what another would bring on in the
    // background.
    CallsOfTrace(Rank ranks, std::vector<std::string> labels, AllReduceSchedule allreduce, bool at_once = false);

    // The ranks of a communicator, in its order. Throws InputError for one that the program does not have.
    void add_communicator(std::uint32_t number, std::vector<Rank> members);
    // Throws InputError for what is no row, and for a collective call on a communicator that is not known.
    void add(Rank rank, const RowSequence& sequence);
    Calls finish() &&;

  private:
    friend class RowReader;
    // [rank][call], of ranks that take messages from anywhere.
    std::vector<std::unordered_map<std::uint32_t, ReceiveKey>> receive_keys_by_call() const;
    void leave_out();
    const std::vector<Rank>& members(std::uint32_t communicator, Rank rank, std::size_t row) const;

    std::vector<std::vector<Call>> calls_;
    std::vector<Call> of_one_rank_;  // while it is read
    std::vector<std::string> labels_;
    AllReduceSchedule allreduce_;
    bool at_once_;
    std::map<std::uint32_t, std::vector<Rank>> communicators_;
    MessageEnds ends_;
    MessageEnds::Numbers cancelled_;
    // [rank][call] what receives take that take any source or tag, before they are matched.
    std::vector<std::unordered_map<std::uint32_t, std::uint16_t>> wild_;
    std::vector<std::pair<Rank, std::uint32_t>> never_awaited_;  // rank, row
};

}  // namespace tradewind::program
