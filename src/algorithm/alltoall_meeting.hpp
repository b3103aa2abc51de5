// All-to-all algorithms for transpositions between layouts of any closed form.
#pragma once

#include <memory>

#include "pattern/redistribution.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// Each message is what one rank has for another, sent straight. The distances of all meeting places are gone through in
// one order by all ranks, `radix` of them in a stage (ring-k of Zheng & Marguinaud 2018, between unlike sets of ranks).
// A rank is asked for the distances at which it may meet somebody alone: none of that takes time that grows with the
// ranks. radix in 1..Redistribution::rounds().
std::shared_ptr<const schedule::Schedule> meeting_ring(std::shared_ptr<const pattern::Redistribution> pattern,
                                                       Index radix);
// Everything at once: the ring with all distances in one stage.
std::shared_ptr<const schedule::Schedule> meeting_burst(std::shared_ptr<const pattern::Redistribution> pattern);
// Places p and q meet in stage (p + q) mod n of a meeting place of n, so that ranks that have something for each other
// exchange it.
std::shared_ptr<const schedule::Schedule> meeting_pairwise(std::shared_ptr<const pattern::Redistribution> pattern);

}  // namespace tradewind::algorithm
