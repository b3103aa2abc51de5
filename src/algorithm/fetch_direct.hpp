#pragma once

#include <memory>

#include "pattern/fetch.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// A fetch in one stage: each rank receives one message from every other rank that owns points which it wants. A rank
// needs to know its own part of the pattern alone.
std::shared_ptr<const schedule::Schedule> fetch_direct(std::shared_ptr<const pattern::Fetch> fetch);

}  // namespace tradewind::algorithm
