#include "sim/outcome.hpp"

#include <algorithm>
#include <stdexcept>

namespace tradewind::sim {

namespace {

// With fewer events a window than this for each thread, more threads do not pay.
constexpr double few_events = 300;

// The bound and the imbalance of a finished run.
void judge_load(const World& world, SimulationResult& result) {
    const Network& network = world.network;
    const auto time = [&](std::uint64_t bytes, std::uint32_t rate) {
        return Picoseconds{static_cast<std::int64_t>(static_cast<double>(bytes) *
                                                     static_cast<double>(network.rates[rate].byte_time) / 65536)};
    };
    const auto consider = [&](Picoseconds needed, const char* what) {
        if (needed > result.bound) {
            result.bound = needed;
            result.bound_by = what;
        }
    };
    std::uint64_t most = 0, total = 0, used = 0;
    for (std::uint32_t index = 0; index < network.ports(); ++index) {
        const Port& port = network.port(index);
        if (port.bytes == 0) continue;
        const bool terminal = port.kind == static_cast<std::uint8_t>(LinkKind::terminal);
        const bool global = port.kind == static_cast<std::uint8_t>(LinkKind::global);
        consider(time(port.bytes, port.rate), terminal ? "ejection" : global ? "global link" : "link");
        if (terminal) continue;
        most = std::max(most, port.bytes);
        total += port.bytes;
        ++used;
    }
    for (const Nic& nic : world.nics) consider(time(nic.bytes, Network::injection), "injection");
    if (total > 0)
        result.imbalance = static_cast<double>(most) * static_cast<double>(used) / static_cast<double>(total);
}

// Packets of a message that a rank sends first, times the ports on a path, over the time that the NIC takes for one:
// what a window would hold if every rank sent without a pause.
double events_a_window(const Machine& machine, const Program& program, const SimulationOptions& options) {
    const std::int64_t most = options.packet.value > 0 ? options.packet.value : SimulationOptions::largest_packet;
    double packet = 1;
    for (const Step& step : program.steps()) {
        if (!step.schedule || step.schedule->stages() == 0) continue;
        for (int j = 0, n = step.schedule->sends(0, 0); j < n; ++j)
            packet = std::max(packet, static_cast<double>(std::min(
                                          most, step.schedule->send(0, 0, j).count * program.bytes_per_point())));
        break;
    }
    const double packet_time = packet / machine.injection.bandwidth.value;
    const double window = std::min(machine.local.latency.value, machine.injection.latency.value) * 1e-12;
    return program.ranks() * 5.0 * window / packet_time;
}

}  // namespace

Effort effort(const Machine& machine, const Program& program, const SimulationOptions& options) {
    const double events = events_a_window(machine, program, options);
    if (!options.adaptive) return {options.threads, events};
    return {static_cast<int>(std::clamp(events / few_events, 1.0, static_cast<double>(options.threads))), events};
}

void conclude(const World& world, std::int64_t finished, std::int64_t arrived, SimulationResult& result) {
    if (finished != world.program.ranks() || arrived != result.bytes)
        throw std::runtime_error(std::to_string(world.program.ranks() - finished) +
                                 " ranks wait for messages that nobody sends: verify the schedule");
    for (Picoseconds& end : result.step_end) {  // a step without stages ends with the one before
        end = std::max(end, result.time);
        result.time = end;
    }
    judge_load(world, result);
    std::stable_sort(result.passages.begin(), result.passages.end(), [](const Passage& a, const Passage& b) {
        return a.time != b.time ? a.time < b.time : a.switch_id < b.switch_id;
    });
    const Network& network = world.network;
    result.port_bytes.reserve(network.ports());
    result.nic_bytes.reserve(world.nics.size());
    for (std::uint32_t index = 0; index < network.ports(); ++index)
        result.port_bytes.push_back(network.port(index).bytes);
    for (const Nic& nic : world.nics) result.nic_bytes.push_back(nic.bytes);
}

}  // namespace tradewind::sim
