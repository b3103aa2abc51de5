// Before and after a packet simulation: how many threads pay, and what a finished run says.
#pragma once

#include "sim/world.hpp"

namespace tradewind::sim {

// The number of threads to use, of those asked for, and how many events a window of time is expected to hold.
struct Effort {
    int threads;
    double events_a_window;
};
Effort effort(const Machine& machine, const Program& program, const SimulationOptions& options);

// Fills in what is known once all ranks are done. Throws std::runtime_error where some are not.
void conclude(const World& world, std::int64_t finished, std::int64_t arrived, SimulationResult& result);

}  // namespace tradewind::sim
