// Whether the calls of a trace end whichever message a receive from any source takes: all matchings that were possible
// are tried, up to a bound. Ranks make the same calls in each of them.
#pragma once

#include <cstdint>
#include <vector>

#include "program/calls.hpp"
#include "verify/buffering.hpp"

namespace tradewind::verify {

struct Matchings {
    // A receive that takes the message of another rank than it did.
    struct Taken {
        Rank rank, recorded, from;
        std::uint32_t row;
    };

    std::int64_t receives = 0;  // from any source or of any tag
    std::int64_t kept = 0;      // of these: they take what they took, as their rank then turns to its sender
    std::int64_t states = 0;    // that were visited beyond those of the matching that happened
    std::int64_t unclear = 0;   // that do not go on, but where ranks test for what comes first
    bool complete = true;       // all have been visited
    bool hangs = false;
    std::vector<Waiting> waiting;  // a chain of ranks that wait; peer -1: for anyone
    std::vector<Taken> taken;      // what leads there
};

// Messages up to `limit` bytes are buffered. `tests`: [label] whether these calls end with what comes first, so that
// their rank might go on otherwise. After `bound` states the search ends. A receive is kept as it was where its rank
// sends to the sender, or receives from it, before it takes the next message from anywhere: it may have chosen whom by
// the message.
//
// Matches that leave no choice are made first; where nothing goes on without one, each sender's first message that a
// receive accepts is tried (Vakkalanka, Gopalakrishnan & Kirby 2008, Dynamic verification of MPI programs with
// reductions in presence of split operations and relaxed orderings, doi:10.1007/978-3-540-70545-1_9). States that have
// been visited, by another order of matches, are not visited again.
Matchings matchings_of(const program::Calls& calls, std::int64_t limit, const std::vector<bool>& tests,
                       std::int64_t bound);

}  // namespace tradewind::verify
