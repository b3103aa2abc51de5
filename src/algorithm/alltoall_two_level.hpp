#pragma once

#include <memory>

#include "pattern/redistribution.hpp"
#include "pattern/transpose.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// All-to-all for nodes of several ranks, rank r on node r / ranks_per_node (hierarchical all-to-all: Träff & Rougier
// 2014, with all ranks of a node as its leaders). First the ranks of a node give each other what they have for each
// other, and what goes to other nodes to the one of them that deals with that node. Then nodes exchange, one message
// between two nodes instead of one between each two ranks of theirs: the ranks of a node share out the nodes of the
// group, and in each stage every rank deals with one. At last the ranks of a node give each other what has come.
//
// With G nodes of W ranks each these are ceil((G - 1) / W) + 2 stages; a rank sends W - 1 messages inside its node, one
// of W^2 blocks in each stage between nodes, and W - 1 inside its node. Where each rank of a group is on a node of its
// own, as in a column of ranks whose rows are a node long or longer, this is the ring with radix 1.
//
// Volumes of messages between nodes are O(1); inside a node O(G / W). Throws InputError unless the ranks of each group
// all have something for each other. ranks_per_node in 1..ranks.
std::shared_ptr<const schedule::Schedule> alltoall_two_level(std::shared_ptr<const pattern::Transpose> transpose,
                                                             Index ranks_per_node);
// The same between layouts of any closed form. Where the groups are closed, within each of them; volumes then take time
// that grows with the blocks of a message. Else among all ranks: each node gathers what it has for each other one that
// wants something of it (Bienz, Gropp & Olson 2019), in 3 stages.
std::shared_ptr<const schedule::Schedule> redistribution_two_level(
    std::shared_ptr<const pattern::Redistribution> pattern, Index ranks_per_node);

}  // namespace tradewind::algorithm
