// Executor 1: does a schedule do what its pattern asks, and can it deadlock?
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace tradewind::verify {

struct Verified {
    Rank ranks = 0;
    int stages = 0;
    Index messages = 0;
    Index points = 0;   // sent in messages
    Index largest = 0;  // points of the largest message
    Index copied = 0;   // points copied within a rank
};

// Runs a schedule in this process and checks that every expected point of the pattern arrives exactly once and nothing
// else is touched, and that it is free of deadlock in the posting order of each of `transports` even where every send
// is synchronous. In O(messages) time; memory for the pieces that are held, not for points.
//
// `progress` is called with the number of each stage before it is run; it may throw to stop. Throws VerificationError
// where the schedule is wrong, InputError for an unknown transport.
Verified prove(const schedule::Schedule& schedule, const std::vector<std::string>& transports,
               const std::function<void(int)>& progress);

}  // namespace tradewind::verify
