// Properties of every simulation, whatever the network, routing, exchange, placement, buffers and messages.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "machine/walker.hpp"
#include "testing/simulation.hpp"

namespace testing::bounds {

using namespace tradewind;
using machine::LinkKind;
using sim::TraceEventKind;

// Packets of a message as they are sent.
std::int64_t packets_in(const Simulation& simulation, std::int64_t bytes) {
    auto packet = simulation.options.packet.value;
    if (packet == 0) packet = sim::SimulationOptions::largest_packet;
    if (simulation.options.finite_buffers) packet = std::min(packet, buffer_sizes(simulation.machine).packet());
    return (bytes + packet - 1) / packet;
}

// Whether all packets between two nodes take one path, and the bytes of each port and the hops where that is so of all.
struct Walked {
    bool fixed = true;
    std::vector<std::uint64_t> bytes;
    std::int64_t hops = 0;
};
Walked walked(const Simulation& simulation, const std::vector<Message>& all) {
    static const std::set<std::string> pure = {"dimension-order", "d-mod-k", "minimal", "direct"};
    const auto& topology = *simulation.machine.topology;
    machine::Walker walker(simulation.machine);
    const auto place = simulation.place();
    Walked walked{pure.count(simulation.machine.routing) > 0,
                  std::vector<std::uint64_t>(std::size_t{topology.switches()} * topology.radix()), 0};
    for (const auto& message : all) {
        const auto from = place.node(message.from), to = place.node(message.to);
        if (from == to || !walked.fixed) continue;
        const auto path = walker.walk(from, to, 0, 0);
        for (const std::uint32_t word : {0x15555555u, 0x2aaaaaaau, 0x3210fedu, 0x0fedcbau}) {
            const auto other = walker.walk(from, to, word, 0);
            walked.fixed &= std::equal(path.begin(), path.end(), other.begin(), other.end(),
                                       [](auto& a, auto& b) { return a.switch_id == b.switch_id && a.port == b.port; });
        }
        const auto size = static_cast<std::uint64_t>(message.bytes);
        for (const auto& hop : path) walked.bytes[hop.switch_id * topology.radix() + hop.port] += size;
        walked.bytes[topology.switch_of(to) * topology.radix() + topology.terminal_of(to)] += size;
        walked.hops += packets_in(simulation, message.bytes) * (static_cast<std::int64_t>(path.size()) + 2);
    }
    return walked;
}

// Bytes into each switch equal those out of it; NICs and nodes have what their ranks send and receive; and the bound is
// the time of the busiest port or NIC. Of machines with one NIC per node, whose messages are all sent as they are.
void check_loads(const Simulation& simulation, const std::vector<Message>& all, const sim::SimulationResult& result) {
    const auto& topology = *simulation.machine.topology;
    const auto place = simulation.place();
    std::vector<std::uint64_t> sent(topology.nodes()), received(topology.nodes());
    std::int64_t packets = 0;
    for (const auto& message : all) {
        const auto from = place.node(message.from), to = place.node(message.to);
        if (from == to) continue;
        sent[from] += static_cast<std::uint64_t>(message.bytes);
        received[to] += static_cast<std::uint64_t>(message.bytes);
        packets += packets_in(simulation, message.bytes);
    }
    CHECK_EQUAL(result.nic_bytes.all(), sent);
    const auto loads = result.port_bytes.all();
    std::uint64_t counted = 0;
    for (const auto count : result.delay.counts) counted += count;
    CHECK_EQUAL(static_cast<std::int64_t>(counted), packets);
    std::vector<std::int64_t> balance(topology.switches());
    double bound = 0;
    for (std::uint32_t node = 0; node < topology.nodes(); ++node) {
        balance[topology.switch_of(node)] += static_cast<std::int64_t>(sent[node]);
        bound = std::max(bound, static_cast<double>(sent[node]) / simulation.machine.injection.bandwidth.value);
    }
    for (std::size_t i = 0; i < loads.size(); ++i) {
        const auto s = static_cast<std::uint32_t>(i / topology.radix()),
                   port = static_cast<std::uint32_t>(i % topology.radix());
        const auto end = topology.port(s, port);
        const auto load = loads[i];
        if (end.kind == LinkKind::terminal) {
            CHECK_EQUAL(load, received[s * topology.nodes_per_switch() + port - topology.first_terminal()]);
        }
        if (load == 0) continue;
        CHECK(end.kind != LinkKind::none);
        balance[s] -= static_cast<std::int64_t>(load);
        if (end.kind != LinkKind::terminal) balance[end.peer_switch] += static_cast<std::int64_t>(load);
        bound = std::max(bound, static_cast<double>(load) / simulation.machine.rate(end.kind).bandwidth.value);
    }
    CHECK_EQUAL(balance, std::vector<std::int64_t>(topology.switches()));
    CHECK(std::abs(result.bound.seconds() - bound) <= 1e-6 * bound + 1e-12);
    const auto by_hand = walked(simulation, all);
    if (by_hand.fixed) {
        CHECK_EQUAL(loads, by_hand.bytes);
        CHECK_EQUAL(result.packet_hops, by_hand.hops);
    }
    CHECK(2 * packets <= result.packet_hops && result.packet_hops <= 12 * packets);
}

// Trace events say what the schedules do, and come when they must.
void check_events(const std::vector<Message>& all, const sim::SimulationResult& result) {
    using Key = std::tuple<Rank, Rank, std::uint32_t>;  // from, to, stage
    std::map<Key, std::int64_t> wanted, sent, came;
    for (const auto& message : all) wanted[{message.from, message.to, message.stage}] += message.bytes;
    std::map<Key, std::int64_t> left;
    std::map<Rank, std::vector<const sim::TraceEvent*>> stages;
    Picoseconds last{0};
    for (const auto& event : result.trace_events) {
        if (event.kind == TraceEventKind::send || event.kind == TraceEventKind::copy) {
            sent[{event.rank, event.peer, event.stage}] += event.bytes;
            auto& end = left[{event.rank, event.peer, event.stage}];
            end = std::max(end, event.end.value);
        }
        if (event.kind == TraceEventKind::arrival) came[{event.peer, event.rank, event.stage}] += event.bytes;
        if (event.kind == TraceEventKind::stage) {
            auto& of_rank = stages[event.rank];
            CHECK(event.begin < event.end);
            if (!of_rank.empty()) CHECK(of_rank.back()->stage < event.stage && of_rank.back()->end <= event.begin);
            of_rank.push_back(&event);
            last = std::max(last, event.end);
        }
    }
    CHECK(sent == wanted);
    CHECK(came == wanted);
    CHECK_EQUAL(last.value, result.time.value);
    for (const auto& event : result.trace_events) {
        if (event.kind == TraceEventKind::stage) continue;
        const auto& of_rank = stages[event.rank];
        const auto own =
            std::find_if(of_rank.begin(), of_rank.end(), [&](auto* one) { return one->stage == event.stage; });
        const bool may_be_early = event.kind == TraceEventKind::arrival || event.kind == TraceEventKind::match;
        if (own == of_rank.end()) {  // the stage takes no time: all had come before it began, and nothing is sent
            CHECK(may_be_early);
        } else {
            CHECK(event.end <= (*own)->end);
            CHECK(may_be_early || event.begin >= (*own)->begin);
        }
        if (event.kind == TraceEventKind::send) CHECK(event.begin < event.end);
        if (event.kind == TraceEventKind::arrival)
            CHECK((left[{event.peer, event.rank, event.stage}]) <= event.begin.value);
    }
}

PROPERTY("every run conserves bytes, keeps its bounds, reports its events, and is the same on any number of threads",
         400) {
    const auto& pair = draw.from(routed());
    const auto topology = pair.network->make();
    auto on = machine_on(topology, pair.routing);
    const auto each = static_cast<std::uint32_t>(draw.integer(1, 3));
    std::array<Index, 2> split{};
    const auto steps =
        drawn_steps(draw, static_cast<Rank>(std::min<std::uint32_t>(20, topology->nodes() * each)), split);
    Simulation simulation(on, steps);
    simulation.ranks_per_node = each;
    simulation.split = split;
    simulation.placement = draw.from(std::vector<std::string>{"linear", "random", "round-robin", "blocks"});
    auto& options = simulation.options;
    auto& machine = simulation.machine;
    options.seed = static_cast<std::uint64_t>(draw.integer(1, 100));
    options.packet = {draw.from(std::vector<std::int64_t>{4096, 300, 100, 0})};
    options.blocks = static_cast<int>(draw.from(std::vector<std::int64_t>{0, 5}));
    options.order_seed = static_cast<std::uint64_t>(draw.integer(0, 2));
    options.one_sided = draw.boolean();
    options.finite_buffers = draw.boolean();
    if (options.finite_buffers) {
        const auto room =
            std::max<std::int64_t>(options.packet.value, 100) * draw.from(std::vector<std::int64_t>{64, 1, 2});
        machine.buffer = {room};
        if (draw.boolean()) machine.port_buffer = {16 * room};
        if (draw.boolean()) machine.output_buffer = {16 * room};
        if (draw.boolean()) machine.nic_buffer = {room};
    } else if (draw.boolean()) {
        options.compact_from = {1};
    }
    machine.injection.bandwidth = machine.ejection.bandwidth = {7e9};
    const auto latency = draw.from(std::vector<std::int64_t>{100'000, 30'000, 500'000});
    machine.local.latency = machine.injection.latency = machine.ejection.latency = {latency};
    machine.send_overhead = {draw.integer(0, 30'000)};
    machine.receive_overhead = {draw.integer(0, 20'000)};
    if (draw.boolean()) machine.crossbar_bandwidth = {9e9};
    if (draw.integer(0, 3) == 3) machine.unexpected_bandwidth = {3e9};
    machine.receives_at_start = draw.boolean();
    machine.eager_limit = {draw.from(std::vector<std::int64_t>{-1, -1, 0, 500})};
    machine.bypass = {draw.from(std::vector<std::int64_t>{0, 0, 256})};
    draw.note(pair.network->name + ", " + pair.routing + ", " + simulation.placement + ", packets of " +
              std::to_string(options.packet.value) + ", finite " + std::to_string(options.finite_buffers));

    const auto all = messages_of(simulation);
    const auto one = simulation.packets();
    CHECK_EQUAL(one.messages, static_cast<std::int64_t>(all.size()));
    std::int64_t bytes = 0;
    for (const auto& message : all) bytes += message.bytes;
    CHECK_EQUAL(one.bytes, bytes);
    CHECK(one.time >= one.bound && one.imbalance >= 1);
    CHECK(std::is_sorted(one.step_end.begin(), one.step_end.end()));
    CHECK_EQUAL(one.step_end.back().value, one.time.value);
    CHECK(all.empty() == (one.time.value == 0));
    CHECK(one.trace_events.empty() && one.passages.empty());
    if (machine.eager_limit.value < 0 && machine.bypass.value == 0) check_loads(simulation, all, one);

    const auto ranks = simulation.program().ranks();
    for (Rank rank = 0; rank < ranks; ++rank) options.shown.push_back(rank);
    if (draw.boolean()) options.followed = ranks - 1;
    const auto several = simulation.packets_on(static_cast<int>(draw.integer(1, 3)));
    CHECK_EQUAL(bits(several), bits(one));
    check_events(all, several);
    CHECK(std::is_sorted(several.passages.begin(), several.passages.end(),
                         [](auto& a, auto& b) { return a.time < b.time; }));
}

// Packets that hold what they have may wait for ever only in a circle, which is an error of the core's.
EVERY_ROUTING("all drains, however little buffers hold, and the same on two threads") {
    const auto topology = routed.network->make();
    Simulation simulation(machine_on(topology, routed.routing),
                          all_to_all(static_cast<Rank>(std::min(topology->nodes(), 40u)), "burst", 256));
    simulation.placement = "random";
    simulation.options.packet = {1024};
    simulation.options.finite_buffers = true;
    simulation.machine.buffer = {1024};
    const auto check = [&] {
        const auto one = simulation.packets();
        CHECK_EQUAL(one.bytes, static_cast<std::int64_t>(messages_of(simulation).size()) * 2048);
        CHECK(one.time >= one.bound);
        CHECK_EQUAL(bits(simulation.packets_on(2)), bits(one));
    };
    check();
    if (!routed.network->typical) return;
    // With room for one packet and a half behind the crossbar, and a port's buffer divided among its channels.
    const auto channels = machine::Walker(simulation.machine).channels();
    simulation.machine.output_buffer = {3 * 1024 * channels / 2};
    simulation.machine.port_buffer = {1500 * channels + channels - 1};
    CHECK_EQUAL(buffer_sizes(simulation.machine).channel, 1500);
    check();
}

}  // namespace testing::bounds
