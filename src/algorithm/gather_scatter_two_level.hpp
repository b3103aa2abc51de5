#pragma once

#include <memory>

#include "algorithm/node_traffic.hpp"
#include "pattern/gather_scatter.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// A gather-scatter whose messages between nodes are bundled: see NodeAware. What several ranks of a node want of a cell
// goes there once. A brick stores nothing for each rank; lists have to be those of all ranks.
std::shared_ptr<const schedule::Schedule> gather_scatter_two_level(std::shared_ptr<const pattern::GatherScatter> whole,
                                                                   Index ranks_per_node, Carriers carriers);

}  // namespace tradewind::algorithm
