// Proof that the ranks of an exchange cannot deadlock.
#pragma once

#include <vector>

#include "schedule/transport.hpp"
#include "verify/match.hpp"

namespace tradewind::verify {

// Runs the programs of all ranks in a stage with synchronous sends: one is done only when its receive is posted. What
// can go on does, until nothing can. Posting early never stops anybody, so where this ends every execution ends: either
// all are done, in every execution, or the same ranks are stuck in each. Since no message leaves its stage, a schedule
// is free of deadlock exactly when each of its stages is.
//
// Throws VerificationError with the cycle of ranks that wait for each other.
void check_deadlock(const schedule::Schedule& schedule, int stage, const std::vector<Match>& matches,
                    const schedule::TransportEntry& order);

}  // namespace tradewind::verify
