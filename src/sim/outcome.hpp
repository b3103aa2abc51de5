// Before and after a packet simulation: how many threads pay, and the result of a finished run.
#pragma once

#include "sim/share.hpp"
#include "sim/world.hpp"

namespace tradewind::sim {

// The number of threads to use, of those asked for, and how many events a window of time is expected to hold, on one
// of `processes` processes.
struct Effort {
    int threads;
    double events_per_window;
};
Effort effort(const machine::Machine& machine, const program::Program& program, const SimulationOptions& options,
              int processes);

// Collective. The result, on process 0, of what each process knows once all ranks are done. Throws VerificationError
// where some are not.
SimulationResult conclude(const World& world, Peers& peers, Share& share);

}  // namespace tradewind::sim
