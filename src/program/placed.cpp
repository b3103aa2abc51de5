#include "program/placed.hpp"

namespace tradewind::program {

Placed::Placed(std::shared_ptr<const schedule::Schedule> schedule, Rank first, Rank ranks)
    : Schedule(std::make_shared<PlacedPattern>(schedule->shared_pattern(), first, ranks), schedule->algorithm()),
      schedule_(std::move(schedule)),
      first_(first) {}

}  // namespace tradewind::program
