#pragma once

#include <memory>

#include "pattern/halo.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// The halo exchange in one stage: every rank receives from each rank that owns a part of its halo, corners included.
// Throws InputError where that are more messages than tags can distinguish.
std::shared_ptr<const schedule::Schedule> halo_direct(std::shared_ptr<const pattern::Halo> halo);

}  // namespace tradewind::algorithm
