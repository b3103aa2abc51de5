// The time that ranks compute in a program, which is the same whatever its messages do.
#pragma once

#include "machine/machine.hpp"
#include "machine/placement.hpp"
#include "program/program.hpp"

namespace tradewind::sim {

// Seconds of all computations, as often as they are repeated: of all ranks, and of those with the least and the most.
struct BusyTime {
    double sum = 0, minimum = 0, maximum = 0;
};

// Throws InputError for a computation in flops on a machine without a rate for them.
BusyTime busy_time(const machine::Machine& machine, const program::Program& program,
                   const machine::Placement& placement);

}  // namespace tradewind::sim
