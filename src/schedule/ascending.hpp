// A schedule whose ranks post the sends of a stage in ascending order of their receivers, as simulations take it.
#pragma once

#include <memory>

#include "schedule/schedule.hpp"

namespace tradewind::schedule {

// The same messages, but all ranks send to the first rank of their group first, and not each to the one after itself:
// the order of a loop over ranks 0, 1, 2, ...
//
// Throws InputError, with the stage, for a schedule that does not go around the ring of ranks: all of its messages are
// looked at to find out. A message is found by a search among those of its rank and stage.
std::shared_ptr<const Schedule> ascending(std::shared_ptr<const Schedule> schedule);

}  // namespace tradewind::schedule
