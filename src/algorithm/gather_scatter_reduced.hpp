#pragma once

#include <memory>
#include <string>

#include "pattern/gather_scatter.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// A gather-scatter as one reduction over all ranks of the vector of all shared ids, by an algorithm of allreduce such
// as "ring". A rank needs to know its own ids alone, but has memory for all that any ranks share.
std::shared_ptr<const schedule::Schedule> gather_scatter_reduced(std::shared_ptr<const pattern::GatherScatter> whole,
                                                                 const std::string& algorithm);

}  // namespace tradewind::algorithm
