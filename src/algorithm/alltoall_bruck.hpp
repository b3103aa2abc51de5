#pragma once

#include <memory>

#include "pattern/redistribution.hpp"
#include "pattern/transpose.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// All-to-all in ceil(log2 n) stages (Bruck et al. 1997, "Efficient algorithms for all-to-all communications in
// multiport message-passing systems"): in stage k, all blocks whose destination, relative to the rank they
// start from, has bit k set go on by 2^k ranks, each by way of a slot of scratch memory until its last hop. No rotation
// of the data before and after, as the original has: blocks are addressed where they lie.
//
// Throws InputError unless the ranks of each group all have something for each other.
std::shared_ptr<const schedule::Schedule> alltoall_bruck(std::shared_ptr<const pattern::Transpose> transpose);
// The same between layouts of any closed form, within the groups of a closed redistribution. Volumes of messages are
// added up once for each group. Throws InputError where it is not closed.
std::shared_ptr<const schedule::Schedule> closed_bruck(std::shared_ptr<const pattern::Redistribution> pattern);

}  // namespace tradewind::algorithm
