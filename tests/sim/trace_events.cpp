// Trace events of ranks and passages of packets, computed by hand. bounds.cpp holds those of any run to the schedules.
#include <algorithm>
#include <map>
#include <set>

#include "algorithm/registry.hpp"
#include "base/error.hpp"
#include "machine/walker.hpp"
#include "pattern/fetch.hpp"
#include "pattern/fetch_adjoint.hpp"
#include "testing/simulation.hpp"

namespace testing::trace_events {

using namespace tradewind;
using Kind = sim::TraceEventKind;

std::vector<sim::TraceEvent> events(Simulation simulation, Rank rank, Kind kind) {
    for (Rank r = 0; r < simulation.program().ranks(); ++r) simulation.options.shown.push_back(r);
    std::vector<sim::TraceEvent> found;
    for (const auto& event : simulation.packets().trace_events) {
        if (event.rank == rank && event.kind == kind) found.push_back(event);
    }
    return found;
}
void check_one(const Simulation& simulation, Rank rank, Kind kind, std::int64_t begin, std::int64_t end) {
    const auto found = events(simulation, rank, kind);
    CHECK_EQUAL(found.size(), 1u);
    CHECK_EQUAL(found[0].begin.value, begin);
    CHECK_EQUAL(found[0].end.value, end);
    const bool of_message = kind == Kind::send || kind == Kind::copy || kind == Kind::arrival;
    CHECK_EQUAL(found[0].peer, of_message ? 1 - rank : -1);
}
Simulation pair(TopologyPointer topology, Index points) {
    return {machine_on(std::move(topology)), all_reduce(2, points, "recursive-2")};
}

TEST("one message, computed by hand") {
    auto simulation = pair(torus(), 1000);
    simulation.apart(3, 0).options.packet = {1024};
    simulation.machine.send_overhead = {7 * ns};
    simulation.machine.receive_overhead = {9 * ns};
    const auto left = 7 * ns + 8000 * byte, arrives = left + 500 * ns;
    for (const Rank rank : {0, 1}) {
        check_one(simulation, rank, Kind::stage, 0, arrives + 9 * ns);
        check_one(simulation, rank, Kind::post, 0, 7 * ns);
        check_one(simulation, rank, Kind::send, 7 * ns, left);
        check_one(simulation, rank, Kind::match, arrives, arrives + 9 * ns);
        check_one(simulation, rank, Kind::arrival, arrives, arrives);
        CHECK_EQUAL(events(simulation, rank, Kind::send)[0].bytes, 8000);
    }
    // A request of 64 bytes there, the grant back, then the message.
    simulation.machine.send_overhead = simulation.machine.receive_overhead = {0};
    simulation.machine.eager_limit = {0};
    const auto control = 500 * ns + 64 * byte;
    check_one(simulation, 0, Kind::send, 2 * control, 2 * control + 8000 * byte);
    check_one(simulation, 1, Kind::arrival, 2 * control + 500 * ns + 8000 * byte, 2 * control + 500 * ns + 8000 * byte);
}

TEST("copies, and messages past the network") {
    auto copied = pair(crossbar(), 1000);
    copied.machine.copy_bandwidth = {20e9};
    copied.ranks_per_node = 2;
    for (const Rank rank : {0, 1}) {  // one memory, two copies, each no faster than one can be: at once
        check_one(copied, rank, Kind::copy, 0, 8000 * byte / 2);
        check_one(copied, rank, Kind::arrival, 8000 * byte / 2, 8000 * byte / 2);
    }
    auto past = pair(crossbar(), 10);
    past.machine.bypass = {80};
    check_one(past, 0, Kind::send, 0, 80 * byte);
    check_one(past, 0, Kind::arrival, 200 * ns + 80 * byte, 200 * ns + 80 * byte);
}

TEST("ranks that share a NIC take turns") {
    // Two send 64 packets each: one has every first turn, the other every second, whatever the windows are.
    for (const std::int64_t latency : {1 * ns, 1000 * ns, 100'000 * ns}) {
        for (const bool finite : {false, true}) {
            Simulation simulation(machine_on(crossbar()), all_reduce(4, 2048, "recursive-2"));
            simulation.machine.injection.latency = simulation.machine.ejection.latency = {latency};
            simulation.ranks_per_node = 2;
            simulation.placement = "round-robin";
            simulation.options.packet = {256};
            simulation.options.finite_buffers = finite;
            for (const auto& [rank, begin, end] : std::vector<std::array<std::int64_t, 3>>{{0, 0, 127}, {2, 1, 128}}) {
                const auto sends = events(simulation, static_cast<Rank>(rank), Kind::send);
                CHECK_EQUAL(sends[0].begin.value, begin * 256 * byte);
                CHECK_EQUAL(sends[0].end.value, end * 256 * byte);
            }
        }
    }
}

TEST("ranks that cannot be shown or followed, and too many events, are refused") {
    Simulation simulation(machine_on(torus()), transpose({30, 26, 25}, {6, 4}, "xz", "ring-2"));
    for (const auto& shown : std::vector<std::vector<Rank>>{{-1}, {24}, {3, 3}, {5, 4}}) {
        simulation.options.shown = shown;
        CHECK_THROWS(InputError, ({"0 to 23 are allowed, in ascending order"}), simulation.packets());
    }
    simulation.options.shown = {0, 5};
    std::set<Rank> seen;
    for (const auto& event : simulation.packets().trace_events) seen.insert(event.rank);
    CHECK_EQUAL(std::vector<Rank>(seen.begin(), seen.end()), simulation.options.shown);
    simulation.options.shown = {};
    for (const Rank rank : {24, -2}) {
        simulation.options.followed = rank;
        CHECK_THROWS(InputError, ({"followed rank", "0 to 23 are allowed, or -1 for none"}), simulation.packets());
    }
    simulation.options.followed = -1;
    simulation.steps[0].repeat = 10'000;
    for (Rank rank = 0; rank < 24; ++rank) simulation.options.shown.push_back(rank);
    CHECK_THROWS(InputError, ({"time line of 24 ranks: more than 500000 stages and messages"}), simulation.packets());
}

TEST("senders that packets have no room for are unknown") {
    // With 4095 blocks of ranks, packets can name one rank beside them: here 183, a neighbour at a corner.
    Simulation simulation(machine_on(crossbar(4100)), halo({328, 200, 1}, {82, 50}, 1, "", "direct"));
    simulation.options.blocks = 4095;
    simulation.options.shown = {100};
    std::vector<std::pair<Rank, std::int64_t>> arrivals;
    const auto result = simulation.packets();
    for (const auto& event : result.trace_events) {
        if (event.kind == Kind::arrival) arrivals.emplace_back(event.peer, event.bytes);
    }
    std::sort(arrivals.begin(), arrivals.end());
    CHECK(arrivals == (std::vector<std::pair<Rank, std::int64_t>>{{-1, (4 * 4 + 3) * 8}, {183, 8}}));
}

TEST("a packet that is followed is seen at every switch of its way") {
    Simulation simulation(machine_on(dragonfly()), transpose({30, 26, 25}, {6, 4}, "xz", "ring-2"));
    simulation.options.packet = {256};
    simulation.options.followed = 5;
    const auto& topology = *simulation.machine.topology;
    machine::Walker walker(simulation.machine);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> expected, seen;  // bytes by switch and port
    for (const auto& message : messages_of(simulation)) {
        if (message.to != 5) continue;
        for (const auto& hop : walker.walk(static_cast<std::uint32_t>(message.from), 5, 0, 0)) {
            expected[{hop.switch_id, hop.port}] += message.bytes;
        }
        expected[{topology.switch_of(5), topology.terminal_of(5)}] += message.bytes;
    }
    for (const auto& passage : simulation.packets().passages) seen[{passage.switch_id, passage.port}] += passage.bytes;
    CHECK(seen == expected);
    CHECK(!seen.empty());
}

TEST("messages of an adjoint go the other way") {
    const auto there = messages(8, {{0, 3, 50}, {1, 0, 20}, {7, 3, 5}, {2, 6, 60}, {3, 4, 1}});
    const auto forward = std::dynamic_pointer_cast<const pattern::Fetch>(there->shared_pattern());
    const auto back = algorithm::make_schedule(std::make_shared<pattern::FetchAdjoint>(forward), "direct");
    const Simulation one(machine_on(torus({4, 2}, 1)), there), other(machine_on(torus({4, 2}, 1)), back);
    const auto sent = one.packets(), returned = other.packets();
    CHECK_EQUAL(returned.bytes, sent.bytes);
    const auto ports = sent.port_bytes.all(), nics = sent.nic_bytes.all();
    const auto returned_ports = returned.port_bytes.all(), returned_nics = returned.nic_bytes.all();
    for (std::uint32_t node = 0; node < 8; ++node) {
        const auto port = one.machine.topology->radix() * node + one.machine.topology->first_terminal();
        CHECK_EQUAL(returned_nics[node], ports[port]);
        CHECK_EQUAL(returned_ports[port], nics[node]);
    }
}

}  // namespace testing::trace_events
