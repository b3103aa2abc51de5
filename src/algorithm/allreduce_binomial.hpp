#pragma once

#include <memory>

#include "pattern/allreduce.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// Allreduce as a reduction to rank 0 over a binomial tree and a broadcast from there over the same tree (Thakur,
// Rabenseifner & Gropp 2005, binomial tree): 2 ceil(log2 n) stages, 2 (n - 1) messages in all, each the whole vector.
std::shared_ptr<const schedule::Schedule> allreduce_binomial(std::shared_ptr<const pattern::AllReduce> reduce);

}  // namespace tradewind::algorithm
