#pragma once

#include <memory>

#include "pattern/allreduce.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// Allreduce around a ring in 2 (n - 1) stages (Patarasuk & Yuan 2009, "Bandwidth optimal all-reduce algorithms for
// clusters of workstations"): the vector is cut into n chunks; n - 1 stages sum up each chunk on its way around, n - 1
// more carry the sums around. Every rank sends 2 (n - 1) / n of the vector, the minimum.
std::shared_ptr<const schedule::Schedule> allreduce_ring(std::shared_ptr<const pattern::AllReduce> reduce);

}  // namespace tradewind::algorithm
