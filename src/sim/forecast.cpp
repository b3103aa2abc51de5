#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.hpp"
#include "machine/topology/dragonfly.hpp"
#include "sim/event.hpp"
#include "sim/network.hpp"
#include "sim/rank.hpp"
#include "sim/simulate.hpp"

namespace tradewind {

namespace {

// A sample of so many messages is enough for the means; a rank more costs as many calls as it has stages and messages.
constexpr std::int64_t enough_messages = 200'000;
// Stages that are looked at, whether they hold messages or not: in a ring of few elements hardly any does, and all
// ranks have as many stages as there are ranks. At least one rank is looked at in full.
constexpr std::int64_t enough_stages = 50'000'000;

// Every rank once, those that follow one another far apart: i times a number near the golden section of n that has no
// divisor in common with it.
class Sample {
  public:
    explicit Sample(std::int64_t n)
        : n_(n), step_(std::max<std::int64_t>(1, std::llround(0.618034 * static_cast<double>(n)))) {
        while (std::gcd(step_, n_) != 1) ++step_;
    }
    Rank rank(std::int64_t i) const { return static_cast<Rank>(i * step_ % n_); }

  private:
    std::int64_t n_, step_;
};

// Links between switches that a packet takes. Of a dragonfly a packet takes some link between two groups, not the best.
int links(const Topology& topology, std::uint32_t from, std::uint32_t to, std::uint64_t random) {
    const auto* dragonfly = dynamic_cast<const Dragonfly*>(&topology);
    const std::uint32_t pairs = dragonfly ? dragonfly->links_per_pair() : 0;
    const auto d = pairs == 0 ? topology.distance(from, to)
                              : dragonfly->distance_by(from, to, static_cast<std::uint32_t>(random % pairs));
    return d.local + d.global;
}

}  // namespace

Forecast forecast(const Machine& machine, const Program& program, const Placement& placement,
                  const SimulationOptions& options) {
    const Topology& topology = *machine.topology;
    const std::int64_t whole = options.finite_buffers ? machine.buffer.value : SimulationOptions::largest_packet;
    const double packet = static_cast<double>(options.packet.value > 0 ? options.packet.value : whole);
    // Links of a path: valiant takes up to two shortest ones, and UGAL and PAR one or the other.
    const bool around = machine.routing.starts_with("valiant");
    const bool either = machine.routing.starts_with("ugal") || machine.routing == "par";
    const double stretch = around ? 2.0 : either ? 1.5 : 1.0;
    const Sample sample(program.ranks());
    std::int64_t sampled_messages = 0, sampled_stages = 0, sampled_ranks = 0;
    double messages = 0, bytes = 0, packets_sent = 0, bytes_sent = 0, hops = 0, most_in_flight = 0;
    while (sampled_ranks < program.ranks() && sampled_messages < enough_messages && sampled_stages < enough_stages) {
        const Rank r = sample.rank(sampled_ranks);
        ++sampled_ranks;
        for (const Step& step : program.steps())
            for (int stage = 0; step.exchanges() && stage < step.schedule->stages(); ++stage) {
                ++sampled_stages;
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
                    const double packets = std::ceil(size / packet);
                    packets_sent += packets * step.repeat;
                    bytes_sent += size * step.repeat;
                    const int path =
                        links(topology, topology.switch_of(from * machine.nics), topology.switch_of(to * machine.nics),
                              mix(static_cast<std::uint64_t>(sampled_messages)));
                    hops += packets * step.repeat * (2 + stretch * path);
                    stage_packets += packets;
                }
                most_in_flight = std::max(most_in_flight, stage_packets);
            }
    }
    const double scale = static_cast<double>(program.ranks()) / static_cast<double>(sampled_ranks);
    const double ports = static_cast<double>(topology.switches()) * topology.radix();
    // A NIC lets out packets only as they leave, so a rank has no more than a stage, nor more than a path's worth, in
    // flight; twice for the chunks that are not full. Of what waits in the network beyond that a byte or two are kept.
    double in_flight = program.ranks() * std::min(most_in_flight, 32.0) * 2 * 32;
    // Packets that hold a port for long against its latency stay events for longer (see Ports::crowd_from; a window
    // is half of a latency at least).
    if (!options.finite_buffers) {
        const double waiting = program.ranks() * std::max(most_in_flight - 32.0, 0.0) * sizeof(sim::Event);
        const double held_s = bytes_sent / std::max(packets_sent, 1.0) / machine.local.bandwidth.value;
        const bool large = 32 * held_s > 512e-12 * static_cast<double>(machine.local.latency.value);
        const double room = static_cast<double>(options.crowd.value) * SimulationOptions::large_crowd * options.threads;
        in_flight += large ? std::min(waiting, room) : 0;
        in_flight += program.ranks() * most_in_flight * 1.5;
    }
    Forecast forecast;
    forecast.messages = messages * scale;
    forecast.bytes = bytes * scale;
    forecast.packet_hops = hops * scale;
    // With finite buffers a port has its channels beside it (four at most, in most routings), and where to report room.
    const double port_bytes = sizeof(sim::Port) + 8.0 + (options.finite_buffers ? 4 * sizeof(sim::Channel) + 8.0 : 0);
    forecast.memory_bytes = ports * port_bytes + topology.nodes() * (sizeof(sim::Nic) + 24.0) +
                            program.ranks() * (sim::rank_bytes + 4.0) + in_flight;
    return forecast;
}

}  // namespace tradewind
