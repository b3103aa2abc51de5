#pragma once

#include <memory>

#include "pattern/transpose.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// All-to-all in which each rank exchanges with one partner a stage (Thakur, Rabenseifner & Gropp 2005). In a
// group of n = 2^m ranks position p meets p xor s in n - 1 stages s; else p and q meet in stage (p + q) mod n of n.
std::shared_ptr<const schedule::Schedule> alltoall_pairwise(std::shared_ptr<const pattern::Transpose> transpose);

}  // namespace tradewind::algorithm
