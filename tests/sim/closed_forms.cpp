// Simulated times against formulas, to the picosecond: 10 GB/s are 100 ps per byte, latencies 100 ns. Those of whole
// algorithms stand in validation/forms.py; here are those that are about one particular of the model.
#include <cmath>

#include "base/error.hpp"
#include "layout/blocks.hpp"
#include "testing/simulation.hpp"

namespace testing::closed_forms {

using namespace tradewind;

// Two ranks that send each other one message.
SchedulePointer pair(Index points) {
    return all_reduce(2, points, "recursive-2");
}

TEST("one message takes the same in packets of any size") {
    for (const std::int64_t packet : {0, 8, 1024, 1 << 20}) {
        Simulation simulation(machine_on(torus()), pair(1000));
        simulation.apart(3, 0).options.packet = {packet};
        CHECK_EQUAL(simulation.packets().time.value, 5 * 100 * ns + 8000 * byte);
    }
}

TEST("what arrives in the formula is taken from the network by all NICs of a node") {
    constexpr std::int64_t size = 8 * 1000;
    for (const std::uint32_t nics : {1u, 2u, 4u}) {
        Simulation simulation(machine_on(crossbar()), all_to_all(5, "ring-4", size / 8));
        simulation.machine.nics = nics;
        // The last of four messages is sent, at the rate of all NICs; its end then crosses one link.
        const auto rate = byte / nics;
        CHECK_EQUAL(simulation.loggp().time.value, 4 * size * rate + size * (byte - rate) + 200 * ns);
    }
}

TEST("links between groups have a latency of their own") {
    Simulation simulation(machine_on(dragonfly()), pair(1));
    simulation.apart(2, 1).machine.global.latency = {1'000'000};
    CHECK_EQUAL(simulation.packets().time.value, (4 * 100 + 1000) * ns + 8 * byte);
}

TEST("steps are repeated one after another") {
    for (const std::uint32_t each : {1u, 2u}) {
        Simulation once(machine_on(crossbar()), all_to_all(4, "ring-1", 10)), thrice = once;
        thrice.steps = repeated(once.steps, 3);
        once.ranks_per_node = thrice.ranks_per_node = each;
        const auto time = once.packets().time.value;
        const auto result = thrice.packets();
        CHECK_EQUAL(result.time.value, 3 * time);
        for (int i = 0; i < 3; ++i) CHECK_EQUAL(result.step_end[static_cast<std::size_t>(i)].value, (i + 1) * time);
    }
}

TEST("a halo on a crossbar takes its points and its stages") {
    // 3 x 3 blocks of 20 x 10 x 4 points, 2 wide. The corners travel with the second sweep, or by themselves.
    const std::int64_t points = 2 * (2 * 10) + 2 * (24 * 2);
    for (const auto& [algorithm, stages] : std::vector<std::pair<std::string, int>>{{"sweep", 2}, {"direct", 1}}) {
        const Simulation simulation(machine_on(crossbar()), halo({60, 30, 4}, {3, 3}, 2, "xy", algorithm));
        CHECK_EQUAL(simulation.packets().time.value, points * 4 * 8 * byte + stages * 200 * ns);
    }
}

TEST("a larger chunk of a ring allreduce delays all that wait for it") {
    const Simulation simulation(machine_on(torus({6}, 1)), all_reduce(6, 6001, "ring"));
    CHECK_EQUAL(simulation.packets().time.value, 10 * (8008 * byte + 300 * ns));
}

TEST("the fold of Rabenseifner: in pairs half of the vector either way, half of it back, all of it at the end") {
    constexpr std::int64_t size = 64 * 800;
    for (const auto& [ranks, bits] : std::vector<std::pair<Rank, int>>{{3, 1}, {6, 2}, {7, 2}, {40, 5}}) {
        std::int64_t expected = 2 * size * byte + 3 * 200 * ns;
        // Halving and doubling of 2^bits ranks.
        for (int i = 1; i <= bits; ++i) expected += 2 * ((size >> i) * byte + 200 * ns);
        const Simulation simulation(machine_on(crossbar()), all_reduce(ranks, size / 8, "rabenseifner"));
        CHECK_EQUAL(simulation.loggp().time.value, expected);
        // Ranks without a partner are early, and only packets get in each other's way.
        const auto packet = simulation.packets().time.value;
        CHECK(expected < packet && packet < expected + size * byte);
    }
}

TEST("two roles of a rank send one after the other") {
    // Ranks 1 and 2 exchange halves, then each a quarter with one role of rank 0; on the way back rank 0 sends one
    // quarter after the other, then ranks 1 and 2 exchange halves again.
    constexpr std::int64_t size = 64 * 800;
    const Simulation simulation(machine_on(crossbar()), all_reduce(3, size / 8, "halving-doubling"));
    const auto loggp = simulation.loggp().time.value, packet = simulation.packets().time.value;
    CHECK_EQUAL(loggp, (2 * size / 2 + 3 * size / 4) * byte + 4 * 200 * ns);
    CHECK(loggp < packet && packet < loggp + 2 * size * byte);
}

TEST("two-level on nodes: copies of 10 ps per byte, the node's NIC, copies of what has come") {
    constexpr std::int64_t block = 4096;
    for (const int width : {2, 3, 4}) {
        for (const std::int64_t packet : {4096, 0}) {
            Simulation simulation(machine_on(crossbar()),
                                  all_to_all(width * (width + 1), "two-level-" + std::to_string(width), block / 8));
            simulation.ranks_per_node = static_cast<std::uint32_t>(width);
            simulation.options.packet = {packet};
            const auto gather = (width - 1) * (1 + width) * block * 10, scatter = (width - 1) * width * block * 10;
            CHECK_EQUAL(simulation.packets().time.value,
                        gather + width * width * width * block * byte + 200 * ns + scatter);
        }
    }
}

TEST("ranks of one node copy at the bandwidth of a copy, whatever the latency") {
    Simulation simulation(machine_on(crossbar()), pair(100));
    simulation.ranks_per_node = 2;
    const auto result = simulation.packets();
    CHECK_EQUAL(result.time.value, 8 * ns);
    CHECK_EQUAL(result.packet_hops, 0);
    CHECK_EQUAL(result.bytes, 1600);
    CHECK_EQUAL(simulation.loggp().time.value, 8 * ns);
    simulation.machine.copy_bandwidth = {1e9};
    CHECK_EQUAL(simulation.loggp().time.value, 800 * ns);
}

TEST("copies of one node share its memory") {
    Simulation simulation(machine_on(crossbar()), pair(100));
    simulation.ranks_per_node = 2;
    simulation.machine.memory_bandwidth = simulation.machine.copy_bandwidth;
    CHECK_EQUAL(simulation.packets().time.value, 2 * 8 * ns);
}

TEST("a stage lasts until its copies are done") {
    // Ranks 0 and 2 share a node. Rank 2 copies 2 of 4 levels to rank 0 at 1 MB/s, then sends 1 level to rank 1; its
    // second exchange begins when the copy is done.
    Simulation simulation(machine_on(crossbar()), repeated({exchange(transpose({3, 1, 4}, {3, 1}, "xz", "burst"))}, 2));
    simulation.ranks_per_node = 2;
    simulation.placement = "round-robin";
    simulation.machine.copy_bandwidth = {1e6};
    CHECK_EQUAL(simulation.packets().time.value, 2 * 16 * ns * 1000);
}

TEST("the formula is the packet model where nothing contends") {
    for (const std::string algorithm : {"ring-1", "pairwise", "bruck"}) {
        for (const Index points : {1, 1000}) {
            Simulation simulation(machine_on(crossbar()), all_to_all(8, algorithm, points));
            for (const bool overheads : {false, true}) {
                if (overheads)
                    simulation.machine.send_overhead = {40 * ns}, simulation.machine.receive_overhead = {60 * ns};
                const auto packet = simulation.packets(), loggp = simulation.loggp();
                CHECK_EQUAL(packet.time.value, loggp.time.value);
                CHECK_EQUAL(packet.messages, loggp.messages);
                CHECK_EQUAL(packet.bytes, loggp.bytes);
                CHECK(packet.step_end == loggp.step_end);
            }
        }
    }
    // And without congestion it is not slower than links that are shared.
    for (const auto& schedule : {transpose({30, 26, 25}, {6, 4}, "xy", "ring-2"),
                                 halo({61, 50, 7}, {6, 4}, 3, "x", "sweep"), all_reduce(24, 600, "recursive-3")}) {
        const Simulation simulation(machine_on(torus()), schedule);
        const auto packet = simulation.packets(), loggp = simulation.loggp();
        CHECK_EQUAL(packet.messages, loggp.messages);
        CHECK(0 < loggp.time.value && loggp.time.seconds() <= packet.time.seconds() * 1.001);
    }
}

TEST("what is put is not asked for and costs its receiver nothing") {
    for (const Index points : {1, 1000}) {
        Simulation sent(machine_on(crossbar()), pair(points));
        sent.machine.send_overhead = {40 * ns};
        sent.machine.receive_overhead = {60 * ns};
        sent.machine.eager_limit = {100};
        auto put = sent;
        put.options.one_sided = true;
        const auto expected = (40 + 2 * 100) * ns + 8 * points * byte;
        CHECK_EQUAL(put.packets().time.value, expected);
        CHECK_EQUAL(put.loggp().time.value, expected);
        CHECK(sent.packets().time.value >= expected + 60 * ns);
        CHECK(sent.loggp().time.value >= expected + 60 * ns);
    }
}

TEST("one rank, and a step without messages, take no time") {
    const Simulation alone(machine_on(crossbar()), all_reduce(1, 8, "ring"));
    for (const auto& result : {alone.packets(), alone.loggp()}) {
        CHECK_EQUAL(result.time.value, 0);
        CHECK_EQUAL(result.messages, 0);
    }
    // One transposition of 4 x 1 ranks has groups of one rank.
    for (const std::string algorithm : {"ring-1", "burst", "pairwise"}) {
        for (const auto& split : std::vector<std::array<Index, 2>>{{4, 1}, {1, 4}, {2, 2}}) {
            Steps steps;
            for (const char* slab : {"xz", "xy", "yz"})
                steps.push_back(exchange(transpose({8, 8, 8}, split, slab, algorithm)));
            const Simulation simulation(machine_on(crossbar()), steps);
            for (const auto& result : {simulation.packets(), simulation.loggp()}) {
                std::int64_t before = 0;
                for (std::size_t i = 0; i < 3; ++i) {
                    const auto& schedule = *steps[i].schedule;
                    bool sends = false;
                    for (int stage = 0; stage < schedule.stages(); ++stage) sends |= schedule.sends(0, stage) > 0;
                    CHECK(sends ? result.step_end[i].value > before : result.step_end[i].value == before);
                    before = result.step_end[i].value;
                }
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------ with computations

TEST("computations come on top, by seconds, points and flops of a rank's share of its node") {
    const auto exchanged = halo({8, 6, 10}, {2, 1}, 1, "x", "sweep");
    const auto halo_ps = 200 * ns + 2 * 6 * 10 * 8 * byte;  // two messages of a rank, one on either side
    Simulation simulation(machine_on(crossbar()), {compute(3e-6), exchange(exchanged), compute(1e-6, {}, 2)});
    for (const auto& result : {simulation.packets(), simulation.loggp()}) {
        CHECK_EQUAL(result.time.value, 5000 * ns + halo_ps);
        CHECK_EQUAL(result.step_end[0].value, 3000 * ns);
    }
    // With 7 x 6 x 10 points one rank has 4 columns, one 3; the time per point is a core's, whoever shares the node.
    const auto uneven = std::make_shared<layout::Blocks>(layout::Grid(7, 6, 10), std::array<Index, 2>{2, 1});
    for (const std::uint32_t each : {1u, 2u}) {
        simulation.steps = {compute(0)};
        simulation.ranks_per_node = each;
        simulation.machine.flops = 1e12;
        simulation.steps[0].compute.layout = uneven;
        simulation.steps[0].compute.point_seconds = 2e-9;
        CHECK_EQUAL(simulation.packets().time.value, 4 * 60 * 2 * ns);
        auto& more = simulation.steps[0].compute;
        more.seconds = 1e-6, more.flops = 500;
        simulation.steps[0].repeat = 3;
        // 500 flops take 0.5 ns where a rank has all of 1 TFlop/s.
        const std::int64_t wanted = 3 * (1000 * ns + 240 * (2000 + 500 * each));
        CHECK_EQUAL(simulation.packets().time.value, wanted);
        CHECK_EQUAL(simulation.loggp().time.value, wanted);
    }
    simulation.machine.flops = 0;
    CHECK_THROWS(InputError, ({"node.flops"}), simulation.packets());
}

TEST("programs that cannot be are refused") {
    const auto exchanged = halo({8, 6, 10}, {2, 1}, 1, "x", "sweep");
    const auto refused = [](const std::string& text, const Steps& steps) {
        CHECK_THROWS(InputError, ({text}), program::Program(steps, 8));
    };
    refused("has no ranks", {compute(1)});
    refused("different ranks", {exchange(exchanged), exchange(all_reduce(3, 1, "ring"))});
    refused("repeated 1 or more", {exchange(exchanged, 0)});
    refused("0 or more seconds", {exchange(exchanged), compute(-1)});
    CHECK_THROWS(InputError, ({"1 to 256"}), [&] {
        Simulation simulation(machine_on(crossbar()), exchanged);
        simulation.options.threads = 257;
        return simulation.packets();
    }());
}

}  // namespace testing::closed_forms
