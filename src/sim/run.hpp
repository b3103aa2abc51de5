// One simulation with a given routing and kind of buffers. The engine is compiled once for each of them, those of
// finite and of unbounded buffers in a file of their own.
#pragma once

#include "machine/routing/dispatch.hpp"
#include "sim/engine.hpp"
#include "sim/outcome.hpp"

namespace tradewind::sim {

template <class Routing, bool finite>
SimulationResult run_with(const Machine& machine, const Program& program, const Placement& placement,
                          const SimulationOptions& asked, Routing routing) {
    SimulationOptions options = asked;
    const Effort expected = effort(machine, program, options);
    options.threads = expected.threads;
    World world(machine, program, placement, options, finite ? routing.channels() : 0, Routing::spreads);
    Engine<Routing, finite> engine(world, routing, options, expected.events_a_window);
    SimulationResult result;
    result.step_end.resize(program.steps().size());
    engine.run();
    result.windows = engine.windows();
    result.solo_windows = engine.windows_alone();
    std::int64_t finished = 0, arrived = 0;
    for (const auto& part : engine.parts()) part->add_to(result, finished, arrived);
    conclude(world, finished, arrived, result);
    return result;
}

template <bool finite>
SimulationResult run(const Machine& machine, const Program& program, const Placement& placement,
                     const SimulationOptions& options) {
    return with_routing(machine, [&](auto routing) {
        return run_with<decltype(routing), finite>(machine, program, placement, options, std::move(routing));
    });
}

SimulationResult run_unbounded(const Machine& machine, const Program& program, const Placement& placement,
                               const SimulationOptions& options);
SimulationResult run_finite(const Machine& machine, const Program& program, const Placement& placement,
                            const SimulationOptions& options);

}  // namespace tradewind::sim
