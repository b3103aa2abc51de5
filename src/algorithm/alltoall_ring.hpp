#pragma once

#include <memory>

#include "pattern/transpose.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// All-to-all in ceil((n - 1) / radix) stages: in each, every rank sends to the next `radix` ranks of its group that it
// has not met yet (Zheng & Marguinaud 2018, ring-k). radix in 1..max(1, n - 1) for the largest group n.
std::shared_ptr<const schedule::Schedule> alltoall_ring(std::shared_ptr<const pattern::Transpose> transpose,
                                                        Index radix);

// Everything at once: the ring with radix n - 1.
std::shared_ptr<const schedule::Schedule> alltoall_burst(std::shared_ptr<const pattern::Transpose> transpose);

}  // namespace tradewind::algorithm
