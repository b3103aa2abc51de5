#pragma once

#include <memory>

#include "pattern/gather_scatter.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// A gather-scatter in one stage: each rank sends its cells straight to every rank that shares them, and combines what
// comes in ascending order of ranks. On a brick nothing is stored for each rank.
std::shared_ptr<const schedule::Schedule> gather_scatter_pairwise(std::shared_ptr<const pattern::GatherScatter> whole);

}  // namespace tradewind::algorithm
