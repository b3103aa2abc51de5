// One simulation with a given routing and kind of buffers. The engine is compiled once for each of them, those of
// finite and of unbounded buffers in a file of their own.
#pragma once

#include <optional>

#include "machine/routing/dispatch.hpp"
#include "sim/engine.hpp"
#include "sim/outcome.hpp"

namespace tradewind::sim {

template <class Routing, bool finite>
SimulationResult run_with(const Machine& machine, const Program& program, const Placement& placement,
                          const SimulationOptions& asked, Routing routing) {
    SimulationOptions options = asked;
    Peers alone;
    Peers& peers = options.peers ? *options.peers : alone;
    const Effort expected = effort(machine, program, options, peers.processes());
    options.threads = static_cast<int>(peers.least(expected.threads));
    if (options.threads == 0) throw PeerFailed();                      // one has refused
    options.blocks = static_cast<int>(-peers.least(-options.blocks));  // as many as any of them wants
    std::optional<World> world;
    peers.together([&] {
        world.emplace(machine, program, placement, options, Parts(options.threads, peers),
                      finite ? routing.channels() : 0, Routing::spreads);
    });
    world->look_ahead(peers.least(world->network.look_ahead()));
    std::optional<Engine<Routing, finite>> engine;
    peers.together([&] { engine.emplace(*world, routing, options, peers, expected.events_a_window); });
    engine->run();
    Share share(world->ending.steps());
    share.result.windows = engine->windows();
    share.result.solo_windows = engine->windows_alone();
    for (const auto& part : engine->parts()) part->add_to(share);
    return conclude(*world, peers, share);
}

template <bool finite>
SimulationResult run(const Machine& machine, const Program& program, const Placement& placement,
                     const SimulationOptions& options) {
    bool begun = false;
    try {
        return with_routing(machine, [&](auto routing) {
            begun = true;
            return run_with<decltype(routing), finite>(machine, program, placement, options, std::move(routing));
        });
    } catch (...) {
        if (!begun && options.peers) options.peers->refuse();
        throw;
    }
}

SimulationResult run_unbounded(const Machine& machine, const Program& program, const Placement& placement,
                               const SimulationOptions& options);
SimulationResult run_finite(const Machine& machine, const Program& program, const Placement& placement,
                            const SimulationOptions& options);

}  // namespace tradewind::sim
