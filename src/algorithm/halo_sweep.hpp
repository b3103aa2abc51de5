#pragma once

#include <memory>

#include "pattern/halo.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// The halo exchange in two stages: along x, then along y with the x halo attached, so that corners travel by way of
// the neighbours (Zheng & Marguinaud 2018). Each stage reaches as many ranks as the width needs.
std::shared_ptr<const schedule::Schedule> halo_sweep(std::shared_ptr<const pattern::Halo> halo);

}  // namespace tradewind::algorithm
