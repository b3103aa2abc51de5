// Schedules as text, for a reader and for error messages.
#pragma once

#include <string>

#include "schedule/schedule.hpp"

namespace tradewind::schedule {

// "[x 0:10, y 5:7, z 0:4]": begin:end of each direction, the end excluded.
std::string to_text(const layout::Box& box);

// "source [x 0:10, ...]", "scratch 1200 [...]".
std::string to_text(const Piece& piece);

// Describe a stage of a rank, one line per message or copy; empty messages are left out.
std::string stage_text(const Schedule& schedule, Rank rank, int stage);

}  // namespace tradewind::schedule
