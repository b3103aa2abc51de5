// Ranks that run far ahead of others, windows that lie far apart, and what stays within bounds of memory.
#include <sys/resource.h>

#include <algorithm>
#include <cmath>

#include "sim/rank.hpp"
#include "testing/simulation.hpp"

namespace testing::far_events {

using namespace tradewind;

TEST("large packets and small latencies: nearly all windows are empty") {
    for (const std::int64_t latency : {std::int64_t{1}, 10 * ns}) {
        for (const int times : {1, 7}) {
            Simulation simulation(machine_on(crossbar()),
                                  repeated({exchange(all_to_all(8, "ring-1", 2'000'000))}, times));
            simulation.machine.injection.latency = simulation.machine.ejection.latency = {latency};
            simulation.options.packet = {0};
            const auto result = simulation.packets();
            CHECK_EQUAL(result.time.value, times * 7 * (16'000'000 * byte + 2 * latency));
            CHECK(result.windows < 100'000);
        }
    }
    Simulation hour(machine_on(crossbar()), all_reduce(2, 450'000'000, "recursive-2"));
    for (auto* rate : {&hour.machine.injection, &hour.machine.ejection}) *rate = {{1e6}, {1 * ns}};
    hour.options.packet = {128 << 20};
    CHECK(std::abs(hour.packets().time.seconds() - 3600) < 1e-5);
}

TEST("the chunks of all stages pass a slow link in a ring one after another") {
    for (const Index size : {1, 40}) {
        Simulation simulation(machine_on(torus({2}, 1)), repeated({exchange(all_reduce(8, 8 * size, "ring"))}, 50));
        simulation.ranks_per_node = 4;
        auto& machine = simulation.machine;
        for (auto* rate : {&machine.local, &machine.injection, &machine.ejection}) *rate = {{1e8}, {10 * ns}};
        const auto result = simulation.packets();
        CHECK_EQUAL(result.messages, 50 * 14 * 8);
        const auto slow = static_cast<double>(50 * 14 * size * 8 * 10 * ns);
        CHECK(slow < static_cast<double>(result.time.value));
        CHECK(static_cast<double>(result.time.value) < slow * 1.05 + 50.0 * 14 * 50 * ns);
        CHECK_EQUAL(bits(simulation.packets_on(2)), bits(result));
    }
}

TEST("messages that come dozens of stages early are taken in their own") {
    // 38 ranks of one node copy in an instant, ranks 38 and 39 are a millisecond away. Rank 0 first waits for rank 39;
    // meanwhile ranks 37, 36, .. 20 send it what it will ask for in stages 2 to 19. A rank's stage begins when the one
    // before has ended, and ends with its one message, sent in the sender's same stage.
    constexpr Rank n = 40;
    constexpr std::int64_t latency = 1'000'000 * ns, copy = 80;
    for (const int times : {1, 5}) {
        Simulation simulation(machine_on(crossbar()), repeated({exchange(all_to_all(n, "ring-1"))}, times));
        simulation.machine.injection.latency = simulation.machine.ejection.latency = {latency};
        simulation.ranks_per_node = 38;
        const auto result = simulation.packets();
        std::vector<std::int64_t> end(n, 0);
        for (Rank stage = 1; stage < n; ++stage) {
            const auto sent = end;
            for (Rank r = 0; r < n; ++r) {
                const Rank from = (r - stage + n) % n;
                const bool same = (r < 38) == (from < 38);
                end[static_cast<std::size_t>(r)] =
                    std::max(sent[static_cast<std::size_t>(r)] + copy,
                             sent[static_cast<std::size_t>(from)] + (same ? copy : 2 * latency));
            }
        }
        const auto expected = static_cast<double>(times * *std::max_element(end.begin(), end.end()));
        CHECK(std::abs(static_cast<double>(result.time.value) - expected) <= (times == 1 ? 0.01 : 0.5) * expected);
        CHECK_EQUAL(result.messages, times * n * (n - 1));
        CHECK_EQUAL(bits(simulation.packets_on(2)), bits(result));
    }
}

TEST("links a thousand times longer than others reach beyond the wheel") {
    Simulation simulation(machine_on(dragonfly(1, 2, 3, 2, 1)), all_to_all(12, "ring-2", 100));
    auto& machine = simulation.machine;
    for (auto* rate : {&machine.local, &machine.injection, &machine.ejection}) rate->latency = {10 * ns};
    machine.global.latency = {1'000'000 * ns};
    const auto one = simulation.packets();
    CHECK(one.time.value > 1'000'000 * ns);
    CHECK_EQUAL(bits(simulation.packets_on(4)), bits(one));
}

std::int64_t peak_kib() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;
}

TEST("a burst does not leave at once") {
    // A rank sends when its NIC is free, so what is in flight does not grow with the number of messages: 9 million of
    // 32 bytes would be 288 MB.
    const Simulation simulation(machine_on(crossbar(1500)), all_to_all(1500, "burst"));
    const auto before = peak_kib();
    CHECK_EQUAL(simulation.packets().messages, 1500 * 1499);
    if (counts_memory) CHECK(peak_kib() - before < 20'000);
}

TEST("a rank takes as many bytes as documented") {
    // The machine and the program itself are the same on both sides, so the difference is that of ranks; their ports
    // count too (one to the node, and links, 96 bytes in all), and packets in flight, of at most half of the ranks.
    const auto peak = [](Rank ranks) {
        Simulation simulation(machine_on(torus({25, 25, 75}, 25)), all_reduce(ranks, 3, "binomial"));
        simulation.options.packet = {0};
        CHECK_EQUAL(simulation.packets().messages, 2 * (ranks - 1));
        return peak_kib();
    };
    const auto few = peak(1 << 17);
    const auto each = (peak(1 << 19) - few) * 1024 / ((1 << 19) - (1 << 17));
    if (counts_memory) CHECK(each > 0 && each <= 352);
}

TEST("few ranks of a large machine use few of its ports, and little memory") {
    // 1.5 million ports: 46 MB with unbounded buffers, 140 MB with finite ones.
    for (const bool finite : {false, true}) {
        Simulation simulation(machine_on(torus({25, 25, 75}, 25)), all_reduce(16, 3, "recursive-4"));
        simulation.options.finite_buffers = finite;
        const auto before = peak_kib();
        const auto result = simulation.packets();
        if (counts_memory) CHECK(peak_kib() - before < 8000);
        CHECK_EQUAL(result.port_bytes.size, std::size_t{25} * 25 * 75 * simulation.machine.topology->radix());
        CHECK_EQUAL(result.port_bytes.used.size(), std::size_t{16});  // one switch: what it sends to each node
        CHECK_EQUAL(result.nic_bytes.used.size(), std::size_t{16});
    }
}

}  // namespace testing::far_events
