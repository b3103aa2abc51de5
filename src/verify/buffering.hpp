// Whether the calls of a trace end without messages that MPI buffers: a program that needs them may hang where a
// library buffers less (MPI 4.1, section 3.5: such a program is unsafe).
#pragma once

#include <cstdint>
#include <vector>

#include "program/call_walk.hpp"
#include "program/calls.hpp"

namespace tradewind::verify {

// A rank that waits, and for whom.
struct Waiting {
    Rank rank, peer;
    bool is_send;
    std::int64_t bytes;
    std::uint16_t label;
    std::uint32_t row;
};

struct Buffering {
    // All messages up to this number of bytes have to be buffered; 0: none has, -1: the calls do not end whatever is.
    std::int64_t eager_limit = 0;
    // Ranks each of which waits for the next, and the last for the first (or for one that has ended), where nothing is
    // buffered; with -1, where all is. Empty where all calls end.
    std::vector<Waiting> cycle;
};

// `threads`: those of ranks that have several, whose calls wait for nothing but messages and what stands before them in
// their thread; so what does not end here ends in no order of threads.
Buffering buffering_of(const program::Calls& calls, const program::CallWalk::Threads& threads = {});

}  // namespace tradewind::verify
