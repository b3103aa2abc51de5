#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// A message of a list.
struct ListedMessage {
    int stage = 0;
    Rank source = 0, destination = 0;
    Index points = 0;
    std::int32_t tag = 0;
    std::int8_t parity = 0;
};

// Messages that are listed one by one, such as those of a recorded run, in as many stages as they name. What they mean
// is not known: it is a fetch in which every message brings points of its own. A rank sends in the
// order of the list. Throws InputError for an invalid rank or stage, a message to its own sender or without points,
// and two messages of one stage between the same ranks with one tag.
std::shared_ptr<const schedule::Schedule> listed(Rank ranks, std::vector<ListedMessage> messages);

}  // namespace tradewind::algorithm
