#include "sim/run.hpp"

namespace tradewind::sim {

SimulationResult run_finite(const Machine& machine, const Program& program, const Placement& placement,
                            const SimulationOptions& options) {
    return run<true>(machine, program, placement, options);
}

}  // namespace tradewind::sim
