#include "sim/outcome.hpp"

#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "base/error.hpp"

namespace tradewind::sim {

namespace {

// With fewer events per window than this for each thread, more threads do not pay.
constexpr double few_events = 300;

// The kind of link or NIC that sets the bound.
const char* bound_by(const World& world, std::uint64_t at) {
    const Network& network = world.network;
    if (at >= network.ports()) return "injection";
    const auto index = static_cast<std::uint32_t>(at);
    switch (world.machine.topology->port(index / network.radix(), index % network.radix()).kind) {
        case machine::LinkKind::terminal: return "ejection";
        case machine::LinkKind::global: return "global link";
        default: return "link";
    }
}

// Packets of a message that a rank sends first, times the ports on a path, over the time that the NIC takes for one:
// what a window would hold if every rank sent without a pause.
double events_per_window(const machine::Machine& machine, const program::Program& program,
                         const SimulationOptions& options) {
    const std::int64_t maximum = options.packet.value > 0 ? options.packet.value : SimulationOptions::largest_packet;
    double packet = 1;
    for (const program::Step& step : program.steps()) {
        if (!step.schedule || step.schedule->stages() == 0) continue;
        for (int j = 0, n = step.schedule->sends(0, 0); j < n; ++j)
            packet = std::max(packet, static_cast<double>(std::min(maximum, step.schedule->send(0, 0, j).count *
                                                                                program.bytes_per_point(step))));
        break;
    }
    const double packet_time = packet / machine.injection.bandwidth.value;
    const double window = std::min(machine.local.latency.value, machine.injection.latency.value) * 1e-12;
    return program.ranks() * 5.0 * window / packet_time;
}

}  // namespace

Effort effort(const machine::Machine& machine, const program::Program& program, const SimulationOptions& options,
              int processes) {
    const double events = events_per_window(machine, program, options) / processes;
    if (!options.adaptive) return {options.threads, events};
    return {static_cast<int>(std::clamp(events / few_events, 1.0, static_cast<double>(options.threads))), events};
}

SimulationResult conclude(const World& world, Peers& peers, Share& share) {
    peers.collective([&] { weigh(world, share); });
    gather(world, peers, share);
    SimulationResult result;
    peers.collective([&] {
        if (peers.process() > 0) return;
        result = std::move(share.result);
        if (result.bytes < 0) refuse_count("messages of the simulation", "more", "bytes", max_counted);
        if (share.finished != world.program.ranks() || share.arrived != result.bytes)
            throw VerificationError(std::to_string(world.program.ranks() - share.finished) +
                                    " ranks wait for messages that no rank sends: verify the schedule");
        if (world.program.order())
            result.time = *std::max_element(result.step_end.begin(), result.step_end.end());
        else
            for (Picoseconds& end : result.step_end) {  // a step without stages ends with the one before
                end = std::max(end, result.time);
                result.time = end;
            }
        std::stable_sort(result.passages.begin(), result.passages.end(), [](const Passage& a, const Passage& b) {
            return a.time != b.time ? a.time < b.time : a.switch_id < b.switch_id;
        });
        std::sort(result.trace_events.begin(), result.trace_events.end());
        const Load& load = share.load;
        result.bound = load.bound;
        if (load.bound.value > 0) result.bound_by = bound_by(world, load.bound_at);
        if (load.total > 0)
            result.imbalance =
                static_cast<double>(load.maximum) * static_cast<double>(load.used) / static_cast<double>(load.total);
    });
    return result;
}

}  // namespace tradewind::sim
