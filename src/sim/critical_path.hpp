// The critical path of a replay: back from the end of the last rank, whatever kept each rank from going on earlier.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/replay_times.hpp"

namespace tradewind::sim {

// A call that takes time of its rank, or a message that its call has sent and that is on its way.
struct PathPiece {
    Rank rank;
    std::uint32_t call;
    bool is_message;
    std::int64_t begin, end;  // ps
};

// In order of time; each piece begins where the one before it ends, from 0 to the end of the replay. A rank that waits
// hands the path to the sender of the message, or to whoever had to ask for it; between them the message is on its way,
// with all that it waits for in NICs and switches.
std::vector<PathPiece> critical_path(const ReplayTimes& times);

}  // namespace tradewind::sim
