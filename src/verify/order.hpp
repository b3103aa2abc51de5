// Whole programs: proof that the ranks cannot deadlock across all exchanges that are open at once.
#pragma once

#include <string>
#include <vector>

#include "program/order.hpp"

namespace tradewind::verify {

// Runs the operations of all ranks in this process, every exchange in the posting order of its transport and every send
// synchronous: a start posts what its transport posts before it first waits, and the wait does the rest, stage after
// stage. Pokes are passed over: who does not poke must get through as well. A fence waits for all ranks of its
// exchange. Fences and collectives of MPI must be started and awaited in one order by all groups that have more than
// one of them in common.
//
// In O(messages and steps of the whole program) time; memory for the messages of each exchange, once, and for a few
// bits of those that are under way. That every exchange does what its pattern asks, see `prove`.
//
// `transports`: of each exchange. Throws VerificationError, which names group, step, exchange, stage and ranks;
// InputError for an unknown transport.
void check_order(const program::Order& order, const std::vector<std::string>& transports);

}  // namespace tradewind::verify
