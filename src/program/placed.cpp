#include "program/placed.hpp"

namespace tradewind::program {

Placed::Placed(std::shared_ptr<const schedule::Schedule> schedule, const Members& members, Rank ranks)
    : Schedule(std::make_shared<PlacedPattern>(schedule->shared_pattern(), members, ranks), schedule->algorithm()),
      schedule_(std::move(schedule)),
      members_(members) {}

}  // namespace tradewind::program
