#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "sim/network.hpp"
#include "sim/rank.hpp"
#include "sim/simulate.hpp"

namespace tradewind {

namespace {

// A sample of so many messages is enough for the means; a rank more costs as many calls as the schedule has messages.
constexpr std::int64_t enough_messages = 200'000;

}  // namespace

Forecast forecast(const Machine& machine, const Program& program, const Placement& placement,
                  const SimulationOptions& options) {
    const Topology& topology = *machine.topology;
    const double packet =
        static_cast<double>(options.packet.value > 0 ? options.packet.value : SimulationOptions::largest_packet);
    // Links of a path: valiant and UGAL take up to two shortest ones.
    const double stretch = machine.routing == "valiant" ? 2.0 : machine.routing == "ugal" ? 1.5 : 1.0;
    std::int64_t sampled_messages = 0, sampled_ranks = 0;
    double messages = 0, bytes = 0, hops = 0, most_in_flight = 0;
    while (sampled_ranks < program.ranks() && sampled_messages < enough_messages) {
        const auto r = static_cast<Rank>(mix(static_cast<std::uint64_t>(sampled_ranks)) %
                                         static_cast<std::uint64_t>(program.ranks()));
        ++sampled_ranks;
        for (const Step& step : program.steps())
            for (int stage = 0; stage < step.schedule->stages(); ++stage) {
                double stage_packets = 0;
                for (int j = 0, n = step.schedule->sends(r, stage); j < n; ++j) {
                    const Message message = step.schedule->send(r, stage, j);
                    if (message.count == 0) continue;
                    ++sampled_messages;
                    const double size =
                        static_cast<double>(message.count) * static_cast<double>(program.bytes_per_point());
                    const std::uint32_t from = placement.node(r), to = placement.node(message.peer);
                    messages += step.repeat;
                    bytes += size * step.repeat;
                    if (from == to) continue;
                    const auto d = topology.distance(topology.switch_of(from), topology.switch_of(to));
                    const double packets = std::ceil(size / packet);
                    hops += packets * step.repeat * (2 + stretch * (d.local + d.global));
                    stage_packets += packets;
                }
                most_in_flight = std::max(most_in_flight, stage_packets);
            }
    }
    const double scale = static_cast<double>(program.ranks()) / static_cast<double>(sampled_ranks);
    const double ports = static_cast<double>(topology.switches()) * topology.radix();
    // A NIC lets out packets only as they leave, so a rank has no more than a stage, nor more than a path's worth, in
    // flight; twice for the chunks that are not full.
    const double in_flight = program.ranks() * std::min(most_in_flight, 32.0) * 2 * 32;
    Forecast forecast;
    forecast.messages = messages * scale;
    forecast.bytes = bytes * scale;
    forecast.packet_hops = hops * scale;
    forecast.memory_bytes = ports * (sizeof(sim::Port) + 8) + topology.nodes() * (sizeof(sim::Nic) + 8.0) +
                            program.ranks() * (sizeof(sim::RankState) + 4.0) + in_flight;
    return forecast;
}

}  // namespace tradewind
