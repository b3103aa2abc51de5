// How long a program takes at least, before it is simulated.
#pragma once

#include "sim/simulate.hpp"

namespace tradewind::sim {

// Throws InputError where a few of the ranks show that a program takes longer than the clock of a simulation goes: by
// what they compute, and by the time that their NICs, their copies and their CPUs need for their messages alone. So
// that does not come out after hours. What only other ranks or the network would show, the simulation finds itself.
void check_minimum_time(const machine::Machine& machine, const program::Program& program,
                        const machine::Placement& placement, const SimulationOptions& options);

}  // namespace tradewind::sim
