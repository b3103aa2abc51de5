#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "base/checked.hpp"
#include "base/random.hpp"
#include "machine/topology/dragonfly.hpp"
#include "sim/event.hpp"
#include "sim/minimum_time.hpp"
#include "sim/network.hpp"
#include "sim/rank.hpp"
#include "sim/simulate.hpp"

namespace tradewind::sim {

namespace {

// Messages of a sample that is enough for the means; a rank more costs as many calls as it has stages and messages.
constexpr std::int64_t enough_messages = 200'000;
// Stages that are looked at, whether they hold messages or not: in a ring of few elements hardly any does, and all
// ranks have as many stages as there are ranks. At least one rank is looked at in full.
constexpr std::int64_t enough_stages = 50'000'000;

// Every rank once, those that follow one another far apart: i times a number near the golden section of n that has no
// divisor in common with it.
class RankOrder {
  public:
    explicit RankOrder(std::int64_t n)
        : n_(n), step_(std::max<std::int64_t>(1, std::llround(0.618034 * static_cast<double>(n)))) {
        while (std::gcd(step_, n_) != 1) ++step_;
    }
    Rank rank(std::int64_t i) const { return static_cast<Rank>(i * step_ % n_); }

  private:
    std::int64_t n_, step_;
};

// Links between switches that a packet takes. Of a dragonfly a packet takes some link between two groups, not the best.
int links(const machine::Topology& topology, std::uint32_t from, std::uint32_t to, std::uint64_t random) {
    const auto* dragonfly = dynamic_cast<const machine::Dragonfly*>(&topology);
    const std::uint32_t pairs = dragonfly ? dragonfly->links_per_pair() : 0;
    const auto d = pairs == 0 ? topology.distance(from, to)
                              : dragonfly->distance_by(from, to, static_cast<std::uint32_t>(random % pairs));
    return d.local + d.global;
}

// The messages that a sample of the ranks sends; sums over the sample.
struct Sent {
    std::int64_t ranks = 0, messages_seen = 0, stages_seen = 0;
    double messages = 0, bytes = 0, hops = 0;
    double packets_over_links = 0, bytes_over_links = 0;  // without what stays in a node
    double max_per_stage = 0;                             // packets of one rank

    bool enough() const { return messages_seen >= enough_messages || stages_seen >= enough_stages; }
};

class Sampling {
  public:
    Sampling(const machine::Machine& machine, const program::Program& program, const machine::Placement& placement,
             const SimulationOptions& options)
        : machine_(machine), program_(program), placement_(placement) {
        const std::int64_t whole =
            options.finite_buffers ? machine::buffer_sizes(machine).packet() : SimulationOptions::largest_packet;
        packet_ = static_cast<double>(options.packet.value > 0 ? options.packet.value : whole);
        // Links of a path: valiant takes up to two shortest ones, and UGAL and PAR one or the other.
        const bool around = machine.routing.starts_with("valiant");
        const bool either = machine.routing == "ugal" || machine.routing == "par";
        stretch_ = around ? 2.0 : either ? 1.5 : 1.0;
    }

    Sent draw() {
        const RankOrder order(program_.ranks());
        while (sent_.ranks < program_.ranks() && !sent_.enough()) {
            const Rank r = order.rank(sent_.ranks++);
            for (const program::Step& step : program_.steps())
                for (int stage = 0; step.exchanges() && stage < step.schedule->stages(); ++stage) add(r, step, stage);
        }
        return sent_;
    }

  private:
    void add(Rank r, const program::Step& step, int stage) {
        ++sent_.stages_seen;
        double packets = 0;
        for (int j = 0, n = step.schedule->sends(r, stage); j < n; ++j) {
            const schedule::Message message = step.schedule->send(r, stage, j);
            if (message.count > 0) packets += add(r, message, program_.bytes_per_point(step), step.repeat);
        }
        sent_.max_per_stage = std::max(sent_.max_per_stage, packets);
    }

    // Returns the packets that it takes.
    double add(Rank r, const schedule::Message& message, std::int64_t bytes_per_point, double times) {
        ++sent_.messages_seen;
        const double size = static_cast<double>(message.count) * static_cast<double>(bytes_per_point);
        const std::uint32_t from = placement_.node(r), to = placement_.node(message.peer);
        sent_.messages += times;
        sent_.bytes += size * times;
        if (from == to) return 0;
        const machine::Topology& topology = *machine_.topology;
        const double packets = std::ceil(size / packet_);
        const int path =
            links(topology, topology.switch_of(from * machine_.nics), topology.switch_of(to * machine_.nics),
                  mix(static_cast<std::uint64_t>(sent_.messages_seen)));
        sent_.packets_over_links += packets * times;
        sent_.bytes_over_links += size * times;
        sent_.hops += packets * times * (2 + stretch_ * path);
        return packets;
    }

    const machine::Machine& machine_;
    const program::Program& program_;
    const machine::Placement& placement_;
    double packet_, stretch_;
    Sent sent_;
};

// Bytes of events, and of what stands for them in the ports' compact queues.
double in_flight(const Sent& sent, Rank ranks, const machine::Machine& machine, const SimulationOptions& options) {
    // A NIC lets out packets only as they leave, so a rank has no more than a stage, nor more than a path's worth, in
    // flight; twice for the chunks that are not full. Of what waits in the network beyond that a byte or two are kept.
    constexpr double path = 32;
    double bytes = ranks * std::min(sent.max_per_stage, path) * 2 * sizeof(sim::Event);
    if (options.finite_buffers) return bytes;
    // Packets that hold a port for long against its latency stay events for longer (see Ports::compact_from; a window
    // is half of a latency at least).
    const double waiting = ranks * std::max(sent.max_per_stage - path, 0.0) * sizeof(sim::Event);
    const double held_s =
        sent.bytes_over_links / std::max(sent.packets_over_links, 1.0) / machine.local.bandwidth.value;
    const bool large = 32 * held_s > 512e-12 * static_cast<double>(machine.local.latency.value);
    const double limit =
        static_cast<double>(options.compact_from.value) * SimulationOptions::long_hold_factor * options.threads;
    bytes += large ? std::min(waiting, limit) : 0;
    return bytes + ranks * sent.max_per_stage * 1.5;
}

// A rank has what it sends and receives once for each exchange that may be open.
double rank_bytes_of(const program::Program& program) {
    return sim::rank_bytes + 4.0 + (program.lines() - 1) * (sizeof(sim::Sender) + sizeof(sim::Receiver)) +
           (program.order() ? program.lines() * sizeof(sim::LineState) + sizeof(sim::Walker) : 0);
}

}  // namespace

Forecast forecast(const machine::Machine& machine, const program::Program& program, const machine::Placement& placement,
                  const SimulationOptions& options) {
    sim::check_minimum_time(machine, program, placement, options);
    const machine::Topology& topology = *machine.topology;
    const Sent sent = Sampling(machine, program, placement, options).draw();
    const double scale = static_cast<double>(program.ranks()) / static_cast<double>(sent.ranks);
    const double ports = static_cast<double>(topology.switches()) * topology.radix();
    // With finite buffers a port has its channels beside it (four at most, in most routings), and where to report
    // credits.
    const double port_bytes = sizeof(sim::Port) + 8.0 + (options.finite_buffers ? 4 * sizeof(sim::Channel) + 8.0 : 0);
    Forecast forecast;
    forecast.messages = sent.messages * scale;
    forecast.bytes = sent.bytes * scale;
    if (!(forecast.bytes < static_cast<double>(max_counted)))
        refuse_count("messages of the simulation", "about " + std::to_string(forecast.bytes), "bytes", max_counted);
    forecast.packet_hops = sent.hops * scale;
    // Counts only the ports and NICs that packets take, each with its page (see is_dense).
    constexpr double page = 1 << 16;
    const double whole = ports * port_bytes + topology.nodes() * (sizeof(sim::Nic) + 24.0);
    forecast.memory_bytes = std::min(whole, page * forecast.packet_hops) + program.ranks() * rank_bytes_of(program) +
                            in_flight(sent, program.ranks(), machine, options);
    return forecast;
}

}  // namespace tradewind::sim
