#include "sim/run.hpp"

namespace tradewind::sim {

SimulationResult run_unbounded(const Machine& machine, const Program& program, const Placement& placement,
                               const SimulationOptions& options) {
    return run<false>(machine, program, placement, options);
}

}  // namespace tradewind::sim
