#include "sim/run.hpp"

#include <optional>

#include "sim/engine.hpp"
#include "sim/outcome.hpp"
#include "sim/skip.hpp"

namespace tradewind::sim {

namespace {

// Where this throws, other processes get the error.
SwitchFactory factory(const machine::Machine& machine, const SimulationOptions& options) {
    try {
        return options.finite_buffers ? finite_switches(machine) : unbounded_switches(machine);
    } catch (...) {
        if (options.peers) options.peers->refuse();
        throw;
    }
}

}  // namespace

SimulationResult run(const machine::Machine& machine, const program::Program& program,
                     const machine::Placement& placement, const SimulationOptions& asked) {
    const SwitchFactory switches = factory(machine, asked);
    SimulationOptions options = asked;
    Peers alone;
    Peers& peers = options.peers ? *options.peers : alone;
    const Effort expected = effort(machine, program, options, peers.processes());
    options.threads = static_cast<int>(peers.minimum(expected.threads));
    if (options.threads == 0) throw PeerFailed();                        // one has refused
    options.blocks = static_cast<int>(-peers.minimum(-options.blocks));  // as many as any of them wants
    const std::string obstacle = Skip::obstacle(options, program, switches.spreads);
    program::Program simulated = program;  // it may become shorter
    std::optional<World> world;
    peers.collective([&] {
        world.emplace(machine, simulated, placement, options, Parts(options.threads, peers), switches.channels,
                      switches.spreads);
    });
    world->look_ahead(peers.minimum(world->network.look_ahead()));
    std::optional<Engine> engine;
    peers.collective([&] { engine.emplace(*world, switches, options, peers, expected.events_per_window); });
    std::optional<Skip> skip;
    if (obstacle.empty()) skip.emplace(*world, simulated, engine->parts());
    if (skip && skip->is_useful()) engine->skip_by(*skip);
    engine->run();
    Share share(world->ending.steps());
    share.result.windows = engine->windows();
    share.result.solo_windows = engine->windows_alone();
    for (const auto& part : engine->parts()) part->add_to(share);
    if (options.calls && share.finished < program.ranks())
        for (const auto& part : engine->parts())
            if (const std::string stuck = part->ranks().replay()->stuck(); !stuck.empty())
                throw VerificationError(stuck);
    share.result.replay = world->replay_times;
    if (skip) {
        skip->complete(share.result);
    } else {
        share.result.no_skip = obstacle;
        if (options.early_end.asked.empty()) share.result.steps_simulated = Repeated(program).times();
    }
    return conclude(*world, peers, share);
}

}  // namespace tradewind::sim
