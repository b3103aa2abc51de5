#pragma once

#include <memory>

#include "pattern/gather_scatter_brick.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// The gather-scatter of a brick in three stages: along x, y and z each rank exchanges a plane with both neighbours, and
// combines it with its own, so that what is combined along one direction goes on along the next. Nothing is stored for
// each rank.
std::shared_ptr<const schedule::Schedule> gather_scatter_cartesian(
    std::shared_ptr<const pattern::BrickGatherScatter> whole);

}  // namespace tradewind::algorithm
