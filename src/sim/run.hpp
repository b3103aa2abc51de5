// One simulation of packets, of what has been checked.
#pragma once

#include "sim/simulate.hpp"

namespace tradewind::sim {

SimulationResult run(const machine::Machine& machine, const program::Program& program,
                     const machine::Placement& placement, const SimulationOptions& options);

}  // namespace tradewind::sim
