// The recording of one rank, and the numbers as which it is sent to the first rank.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "mpi/plan.hpp"
#include "mpi/recording.hpp"

namespace tradewind::mpi {

using Words = std::vector<std::int64_t>;

// Ranks as rows of evenly spaced ones: the first, the distance and the number of each.
struct RankRow {
    std::int64_t first, step, count;
};

std::vector<RankRow> rows_of(const std::vector<Rank>& ranks);
// The ranks of such rows, each of which is three numbers.
std::vector<Rank> ranks_in(const Words& rows);

// A plan as one of its ranks has it. Ranks are those of the program.
struct UsedPlan {
    Carried carried;
    std::string description;
    std::vector<Rank> ranks;
    std::vector<Sent> sent;
    std::uint64_t number;  // see Plan
    bool is_first;         // this rank, of its communicator
    bool open = false;
};

struct RecordedCall {
    Call call;
    std::size_t plan;
    std::int64_t computing;  // ns since the call before
};

// The calls of a rank, its plans, and the time after the last call, in ns.
Words words_of(const std::vector<RecordedCall>& calls, const std::vector<UsedPlan>& plans, std::int64_t computing);

// A message of a program.
struct RecordedMessage {
    std::int64_t stage, order, source, destination, bytes, tag, parity;  // order: of its sender in a stage
};

// Calls and plans of one rank, as the first rank has them.
struct RecordedRank {
    struct Plan {
        std::int64_t kind;     // a number that plans have in common which one exchange may stand for
        Words ranks;           // see ranks_in
        std::int64_t number;   // among those with the same ranks
        std::int64_t created;  // place among those that this rank has recorded, by the time that they were made
        std::optional<Carried> carried;
        std::vector<RecordedMessage> sent;
        std::int64_t times = 0;
    };
    std::vector<std::array<std::int64_t, 2>> calls;  // kind and plan
    Words computing;                                 // before each call, and after the last one
    std::vector<Plan> plans;
};

RecordedRank recorded_rank(const Words& words, std::int64_t rank);

// "halo sweep of 2 x f8, sum, isend-irecv, buffer"
std::string kind_text(const Carried& carried);

// A parameter of a plan's pattern. Throws InputError where it has none of that name.
template <class Value>
Value recorded_parameter(const Carried& carried, const std::string& name) {
    for (const auto& [key, value] : carried.parameters)
        if (key == name) return std::get<Value>(value);
    throw InputError("a " + carried.pattern + " has no parameter " + name);
}

}  // namespace tradewind::mpi
