// Bytes by sender and receiver, summed up over stages.
#pragma once

#include <functional>
#include <vector>

#include "schedule/schedule.hpp"

namespace tradewind::schedule {

// Points that the ranks of bin i send to those of bin j, [i][j], over the stages first..last - 1. A bin is
// `ranks_per_bin` ranks in a row, the last one perhaps fewer. `poll` is called now and then; it may throw to stop.
std::vector<Index> communication_matrix(const Schedule& schedule, Rank ranks_per_bin, int first, int last,
                                        const std::function<void()>& poll);

}  // namespace tradewind::schedule
