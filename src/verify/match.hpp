// The messages of a stage, each with both of its ends.
#pragma once

#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace tradewind::verify {

struct Match {
    Rank sender, receiver;
    std::int32_t send, receive;  // the j of either end
    std::int32_t tag;
    Index count;
};

// All messages of a stage that are not empty, ordered by sender, receiver, tag. Throws VerificationError where a
// message has only one end, two cannot be distinguished, or the ends disagree; it names rank, stage, peer and tag.
std::vector<Match> match_stage(const schedule::Schedule& schedule, int stage);

// "stage 2, message of rank 3 to rank 5 (tag 1, 20 points)"
std::string to_text(const Match& match, int stage);

}  // namespace tradewind::verify
