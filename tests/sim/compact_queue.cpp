// Packets that wait long for a port, where buffers are unbounded and many wait: held in few bytes, and let go at their
// times. The truth is the simulation with finite buffers that are never full. It holds no packet so: one that finds
// room has its time when it arrives.
#include <sys/resource.h>

#include "testing/simulation.hpp"

namespace testing::compact_queue {

using namespace tradewind;

// Windows of 2^9 ps, where latencies are 1 ns: what waits longer than 1024 of them is held back.
constexpr double patience_s = 1024 * 0.512e-9;

void check(Simulation finite) {
    for (auto* rate :
         {&finite.machine.local, &finite.machine.global, &finite.machine.injection, &finite.machine.ejection}) {
        rate->latency = {1 * ns};
    }
    finite.options.packet = {100};
    auto held = finite;
    held.options.compact_from = {0};
    finite.options.finite_buffers = true;
    finite.machine.buffer = {64 << 20};
    const auto truth = finite.packets();
    std::size_t longest = sim::DelayHistogram::bins - 1;
    while (truth.delay.counts[longest] == 0) --longest;
    // A crossbar has no links between switches, and the receivers' own need no event.
    CHECK(finite.machine.topology->name() == "crossbar" || sim::DelayHistogram::lower_edge(longest) > 2 * patience_s);
    CHECK_EQUAL(bits(held.packets()), bits(truth));
    held.options.followed = 5;
    CHECK_EQUAL(bits(held.packets()), bits(truth));
}

// All transpositions of a spectral model, on 6 x 4 ranks.
Steps slabs(std::array<Index, 3> grid, const std::string& algorithm) {
    Steps steps;
    for (const char* slab : {"xz", "xy", "yz"}) steps.push_back(exchange(transpose(grid, {6, 4}, slab, algorithm)));
    return steps;
}

TEST("packets that are held back leave at their times") {
    const std::vector<Simulation> cases = {
        {machine_on(torus()), slabs({24, 120, 24}, "burst")},
        {machine_on(torus()), halo({48, 48, 4}, {6, 4}, 20, "xy", "sweep")},
        {machine_on(dragonfly()), slabs({24, 200, 24}, "ring-3")},
        {machine_on(fattree()), halo({48, 48, 8}, {4, 4}, 13, "x", "direct")},
        {machine_on(torus()), all_to_all(40, "burst", 100)},  // more messages at a port than a line has places for
        {machine_on(crossbar()), all_to_all(60, "burst", 50)},
    };
    for (auto simulation : cases) {
        simulation.machine.eager_limit = {0};
        check(simulation);
        simulation.machine.eager_limit = {1 << 20};
        simulation.ranks_per_node = 2;
        check(simulation);
    }
    // Crossbars of limited bandwidth: all packets of a switch pass in order.
    auto ordered = cases[1];
    ordered.machine.crossbar_bandwidth = {20e9};
    check(ordered);
}

TEST("a packet that waits takes few bytes") {
    // Two rows of 16 nodes, joined by one link: 15 messages wait for it, of 100,000 packets each. As events of 32 bytes
    // they would take 45 MiB.
    Simulation simulation(machine_on(torus({2}, 16)), halo({32, 2, 1'250'000}, {16, 2}, 1, "", "sweep"));
    simulation.options.packet = {100};
    simulation.options.compact_from = {0};
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    CHECK(simulation.packets().packet_hops > 2'000'000);
    getrusage(RUSAGE_SELF, &after);
    if (counts_memory) CHECK(after.ru_maxrss - before.ru_maxrss < 32'000);
}

}  // namespace testing::compact_queue
