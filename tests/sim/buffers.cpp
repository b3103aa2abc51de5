// Finite buffers and credits, in closed form: 10 GB/s are 100 ps per byte, links take 100 ns.
#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "machine/walker.hpp"
#include "testing/simulation.hpp"

namespace testing::buffers {

using namespace tradewind;

// One message of `packets` packets of 512 B from each of two nodes to the other, over NIC, switch, switch and NIC.
Simulation between_two_switches(std::int64_t packets) {
    Simulation simulation(machine_on(complete(2, 1)), all_reduce(2, 64 * packets, "recursive-2"));
    simulation.options.packet = {512};
    simulation.options.finite_buffers = true;
    return simulation;
}

// As many packets as there is room for pass in each round trip, or as fast as the link is.
std::int64_t expected(std::int64_t packets, std::int64_t room, std::int64_t latencies, std::int64_t trip) {
    const auto each = 512 * byte;
    return latencies + each + (packets - 1) / room * std::max(trip, room * each) + (packets - 1) % room * each;
}

TEST("a buffer passes as many packets as it holds each round trip") {
    for (const std::int64_t packets : {1, 2, 7, 40}) {
        for (const std::int64_t room : {1, 2, 4, 64}) {
            auto simulation = between_two_switches(packets);
            simulation.machine.buffer = {512 * room};
            CHECK_EQUAL(simulation.packets().time.value, expected(packets, room, 300 * ns, 200 * ns));
        }
    }
}

TEST("a port's buffer is divided among its channels, those of the routing or as many as are given") {
    for (const int channels : {0, 2, 5}) {
        for (const auto& [room, packets] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 7}, {3, 40}}) {
            auto simulation = between_two_switches(packets);
            CHECK_EQUAL(machine::Walker(simulation.machine).channels(), 1);
            simulation.machine.port_buffer = {512 * room * std::max(1, channels)};
            simulation.machine.channels = channels;
            CHECK_EQUAL(simulation.packets().time.value, expected(packets, room, 300 * ns, 200 * ns));
        }
    }
    for (const auto& pair : routed()) {
        auto machine = machine_on(pair.network->make(), pair.routing);
        const auto channels = machine::Walker(machine).channels();
        machine.port_buffer = {1000 * channels + channels - 1};
        machine.output_buffer = {700 * channels};
        const auto sizes = buffer_sizes(machine);
        CHECK_EQUAL(sizes.channel, 1000);
        CHECK_EQUAL(sizes.output, 700);
        CHECK_EQUAL(sizes.nic, 1000);
    }
}

TEST("a NIC sends as many packets as its switch has room for each round trip") {
    for (const std::int64_t packets : {1, 2, 9}) {
        for (const std::int64_t room : {1, 2, 16}) {
            auto simulation = between_two_switches(packets);
            simulation.machine.nic_buffer = {512 * room};
            simulation.machine.injection.latency = simulation.machine.ejection.latency = {300 * ns};
            CHECK_EQUAL(simulation.packets().time.value, expected(packets, room, 700 * ns, 600 * ns));
        }
    }
}

// Two switches, A with nodes 0 and 1, B with 2 and 3; nodes receive a packet in 512 ns. Node 3 sends two packets to
// node 2, which come to its port at 100 and 151.2 ns and keep it until 1124; node 0 sends one to node 2, which comes at
// 200 ns, and then three to node 3, which find no room in B's input buffer of one packet until that one leaves it.
// Without output buffers it does at 1124 ns; where the port to node 2 has room behind the crossbar for one packet, when
// the second of node 3's has left that, at 612 ns; for two, at once.
TEST("a packet in the output buffer makes room for those behind it") {
    for (const auto& [output, second] : std::vector<std::pair<int, int>>{{0, 1224}, {1, 712}, {2, 300}, {5, 300}}) {
        Simulation simulation(machine_on(complete(2, 2)), messages(4, {{0, 2, 64}, {0, 3, 3 * 64}, {3, 2, 2 * 64}}));
        simulation.options.packet = {512};
        simulation.options.finite_buffers = true;
        simulation.machine.ejection.bandwidth = {1e9};
        simulation.machine.buffer = {512};
        simulation.machine.output_buffer = {512 * output};
        simulation.machine.nic_buffer = {64 << 10};
        // `second` is when the first packet for node 3 leaves A; it takes two links, and node 3 its time for all three.
        CHECK_EQUAL(simulation.packets().time.value, (second + 100 + 100 + 3 * 512) * ns);
    }
}

TEST("buffers that are never full change nothing") {
    for (const auto& machine : {machine_on(torus()), machine_on(dragonfly(), "ugal"), machine_on(dragonfly(), "par")}) {
        Simulation unbounded(machine, transpose({24, 40, 24}, {6, 4}, "xy", "ring-2"));
        auto large = unbounded;
        large.options.finite_buffers = true;
        large.machine.buffer = {64 << 20};
        CHECK_EQUAL(bits(large.packets()), bits(unbounded.packets()));
    }
    // Output buffers neither: input buffers are then left at once, and what they hold, 16 packets, is more than a link
    // passes in the round trip of a credit. (Of several channels one with room goes before another that came first.)
    for (const auto& pair : routed()) {
        Simulation unbounded(machine_on(pair.network->make(), pair.routing), Steps{});
        if (!pair.network->typical || machine::Walker(unbounded.machine).channels() > 1) continue;
        const auto ranks = std::min(unbounded.machine.nodes(), 32u);
        unbounded.steps = {exchange(all_to_all(static_cast<Rank>(ranks), "burst", 300))};
        unbounded.options.packet = {512};
        auto large = unbounded;
        large.options.finite_buffers = true;
        large.machine.buffer = {8 << 10};
        large.machine.output_buffer = {128 << 20};
        CHECK_EQUAL(bits(large.packets()), bits(unbounded.packets()));
    }
}

TEST("small buffers take longer, and output buffers help") {
    for (const std::uint32_t each : {1u, 2u}) {
        Simulation simulation(machine_on(torus()), all_to_all(40, "burst", 1000));
        simulation.ranks_per_node = each;
        simulation.options.finite_buffers = true;
        simulation.machine.buffer = {4 << 10};
        const auto small = simulation.packets().time;
        simulation.machine.buffer = {1 << 20};
        CHECK(small.seconds() > 1.05 * simulation.packets().time.seconds());
    }
    Simulation simulation(machine_on(fattree()), all_to_all(32, "burst", 300));
    simulation.placement = "random";
    simulation.options.packet = {512};
    simulation.options.finite_buffers = true;
    simulation.machine.buffer = {1 << 10};
    const auto small = simulation.packets().time;
    simulation.machine.output_buffer = {2 << 10};
    const auto helped = simulation.packets().time;
    simulation.machine.output_buffer = {0};
    simulation.machine.buffer = {16 << 10};
    CHECK(simulation.packets().time < helped && helped < small);
}

// A packet that waits for room stands in no port's time: a routing that did not count it would draw the uplink of each,
// and one that went on counting it would send all that come later the same way.
TEST("an adaptive routing counts what waits for room, as long as it waits") {
    Simulation simulation(machine_on(fattree({2, 2}, {2}), "adaptive"), Steps{});
    simulation.options.packet = {512};
    simulation.options.finite_buffers = true;
    simulation.machine.buffer = {1024};
    simulation.machine.nic_buffer = {16 << 10};
    simulation.machine.ejection.bandwidth = {1e9};
    const auto uplinks = [&](const Steps& steps) {
        simulation.steps = steps;
        const auto bytes = simulation.packets().port_bytes.all();  // of the first switch, behind its two downlinks
        return std::array{bytes[2] / 512, bytes[3] / 512};
    };
    const auto one_by_one = repeated({compute(1e-3), exchange(messages(4, {{0, 3, 64}}))}, 40);
    for (Index packets = 401; packets < 409; ++packets) {  // of some as many wait on one uplink as on the other
        const auto crowd = exchange(messages(4, {{0, 2, packets * 64}}));
        const auto [one, other] = uplinks({crowd});
        CHECK_EQUAL(one + other, static_cast<std::uint64_t>(packets));
        CHECK(std::max(one, other) - std::min(one, other) <= 3);
        Steps all{crowd};
        all.insert(all.end(), one_by_one.begin(), one_by_one.end());
        const auto [first, second] = uplinks(all);
        CHECK_EQUAL(first + second, static_cast<std::uint64_t>(packets + 40));
        CHECK(first > one + 10 && second > other + 10);
    }
}

// Where messages may be asked for, all actions of a window are processed in order of time, and a NIC takes packet after
// packet; otherwise the order is kept within each node alone. A window as long as dozens of packets gives a node
// several actions.
TEST("a size that no message exceeds changes nothing with finite buffers") {
    for (const auto& machine : {machine_on(torus()), machine_on(dragonfly()), machine_on(fattree())}) {
        for (const std::int64_t buffer : {128, 512, 2048}) {
            Simulation simulation(
                machine, Steps{exchange(all_to_all(42, "ring-3", 40), 2), exchange(all_reduce(42, 90, "recursive-3"))});
            simulation.placement = "random";
            simulation.options.packet = {64};
            simulation.options.finite_buffers = true;
            simulation.machine.buffer = {buffer};
            simulation.machine.local.latency = simulation.machine.injection.latency = {300 * ns};
            const auto by_node = bits(simulation.packets());
            simulation.machine.eager_limit = {1 << 30};
            CHECK_EQUAL(bits(simulation.packets()), by_node);
        }
    }
}

TEST("messages in one packet are cut to what a buffer holds, and larger packets are refused") {
    Simulation simulation(machine_on(crossbar()), all_reduce(2, 250, "recursive-2"));
    simulation.machine.buffer = {1000};
    simulation.options.packet = {0};
    CHECK_EQUAL(simulation.packets().packet_hops, 2 * 2);
    simulation.options.finite_buffers = true;
    CHECK_EQUAL(simulation.packets().packet_hops, 2 * 2 * 2);
    simulation.options.packet = {1001};
    CHECK_THROWS(InputError, ({"fit a buffer"}), simulation.packets());
    auto machine = machine_on(dragonfly());
    machine.port_buffer = {32 << 10};
    machine.channels = 1;
    CHECK_THROWS(InputError, ({"routing minimal uses 2"}), buffer_sizes(machine));
    machine.channels = 0;
    machine.output_buffer = {1};
    CHECK_THROWS(InputError, ({"1 bytes per port leaves nothing for each of 2 channels"}), buffer_sizes(machine));
}

}  // namespace testing::buffers
