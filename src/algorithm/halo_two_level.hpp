#pragma once

#include <memory>

#include "pattern/halo.hpp"
#include "schedule/schedule.hpp"

namespace tradewind {

// Who sends and receives what goes between nodes: the first rank of each node, or all of them, which share out the
// nodes around theirs.
enum class Carriers { leaders, all };

// The halo exchange for nodes of several ranks, rank r on node r / ranks_per_node (node-aware communication: Bienz,
// Gropp & Olson 2019, for sparse matrices, in three steps). First the ranks of a node give each other what they have
// for each other, and what goes to another node to the one of them that carries it. Then each node sends one message to
// each node around it, instead of one between each two ranks of theirs, and in it each point once, however many ranks
// there want it. At last the ranks of a node give each other what has come.
//
// 3 stages; 1 where a node holds one rank, or all of them. A node sends as many messages as there are nodes around it;
// a rank sends one to each rank of its node that is beside it or carries something for it, and at last one to each that
// wants something of what it has carried. Between nodes d numbers apart the carrier is number (folded(d) - 1) mod the
// ranks of the node.
//
// What the ranks of a node send is worked out together, in as many steps as they have neighbours, and remembered for
// the nodes that were asked about last, those of 4096 ranks or 64. Throws InputError where the width reaches too many
// ranks for one stage. ranks_per_node in 1..ranks.
std::shared_ptr<const Schedule> halo_two_level(std::shared_ptr<const Halo> halo, Index ranks_per_node,
                                               Carriers carriers);

}  // namespace tradewind
