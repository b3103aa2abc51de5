#pragma once

#include <memory>

#include "algorithm/node_traffic.hpp"
#include "pattern/halo.hpp"

namespace tradewind::algorithm {

// The halo exchange for nodes of several ranks, rank r on node r / ranks_per_node, in the steps of NodeAware. Each node
// sends one message to each node around it, instead of one between each two ranks of theirs, and in it each point once,
// however many ranks there want it.
//
// 3 stages; 1 where a node holds one rank, or all of them. A node sends as many messages as there are nodes around it;
// a rank sends one to each rank of its node that is beside it or carries something for it, and at last one to each that
// wants something of what it has carried. What the ranks of a node send is worked out together, in as many steps as
// they have neighbours.
//
// Throws InputError where the width reaches too many ranks for one stage. ranks_per_node in 1..ranks.
std::shared_ptr<const schedule::Schedule> halo_two_level(std::shared_ptr<const pattern::Halo> halo,
                                                         Index ranks_per_node, Carriers carriers);

}  // namespace tradewind::algorithm
