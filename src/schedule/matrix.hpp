// Who sends how much to whom, summed up over stages.
#pragma once

#include <functional>
#include <vector>

#include "schedule/schedule.hpp"

namespace tradewind {

// Points that rank bin i sends to rank bin j, [i][j], over the stages first..last - 1. Of `bins` bins, rank r is in bin
// floor(r * bins / ranks). `poll` is called now and then; it may throw to stop.
std::vector<Index> communication_matrix(const Schedule& schedule, int bins, int first, int last,
                                        const std::function<void()>& poll);

}  // namespace tradewind
