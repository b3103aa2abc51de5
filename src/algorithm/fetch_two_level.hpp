#pragma once

#include <memory>

#include "algorithm/node_traffic.hpp"
#include "pattern/fetch.hpp"

namespace tradewind::algorithm {

// A fetch for nodes of several ranks, rank r on node r / ranks_per_node, in the steps of NodeAware. Each node sends one
// message to each node that wants something of it, and in it each point once, however many ranks there want it, and
// however often.
//
// 3 stages; 1 where a node holds one rank, or all of them. Carriers must know what others want: throws InputError for a
// fetch that describes one rank alone. ranks_per_node in 1..ranks.
std::shared_ptr<const schedule::Schedule> fetch_two_level(std::shared_ptr<const pattern::Fetch> fetch,
                                                          Index ranks_per_node, Carriers carriers);

}  // namespace tradewind::algorithm
