// Times that are too long for the clock, picoseconds in 64 bits: one error, and never a wrong time.
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "sim/minimum_time.hpp"
#include "testing/simulation.hpp"

namespace testing::long_times {

using namespace tradewind;

constexpr double day_s = 86400;
const std::string allowed = "times of at most 9000000 s (104 days) can be simulated";

machine::Machine slow(TopologyPointer topology = crossbar()) {
    auto machine = machine_on(std::move(topology));
    for (auto* rate : {&machine.local, &machine.injection, &machine.ejection}) *rate = {{1e6}, {1000 * ns}};
    return machine;
}

// A message of 16 GB each way, which takes 16,000 s each time.
Simulation far(int times, machine::Machine machine = slow()) {
    Simulation simulation(std::move(machine), repeated({exchange(all_reduce(2, 2'000'000'000, "recursive-2"))}, times));
    simulation.options.packet = {0};
    return simulation;
}

void refused(const Simulation& simulation, std::string_view word = "") {
    CHECK_THROWS(InputError, ({word, allowed}), simulation.packets());
    CHECK_THROWS(InputError, ({word, allowed}), simulation.loggp());
}
void takes(const Simulation& simulation, double seconds) {
    for (const auto& result : {simulation.packets(), simulation.loggp()}) {
        CHECK(std::abs(result.time.seconds() - seconds) <= 1e-6 * seconds);
    }
}

TEST("what is too long is refused before it begins, and the longest is simulated") {
    const std::string_view word = "the messages and computations of rank 0 take at least 9008000 s (104 days)";
    refused(far(563), word);
    const auto simulation = far(563);
    CHECK_THROWS(
        InputError, ({word}),
        sim::check_minimum_time(simulation.machine, simulation.program(), simulation.place(), simulation.options));
    takes(far(562), 562 * 16'000.0);
}

TEST("computations, slow links, copies and overheads count") {
    const auto exchanged = halo({8, 6, 10}, {2, 1}, 1, "", "direct");
    const double month = 30 * day_s;
    takes({slow(), Steps{compute(month, {}, 3), exchange(exchanged)}}, 3 * month);
    refused({slow(), Steps{compute(month, {}, 4), exchange(exchanged)}});
    refused({slow(), Steps{compute(2 * month), exchange(exchanged), compute(2 * month)}});
    refused({slow(), Steps{compute(1e300), exchange(exchanged)}});
    refused({slow(), Steps{compute(std::numeric_limits<double>::infinity()), exchange(exchanged)}});
    Simulation threads(slow(), Steps{compute(4 * month), exchange(exchanged)});
    CHECK_THROWS(InputError, ({allowed}), threads.packets_on(2));
    // No rank is busy for long by itself, but 16 GB take hours through the link.
    auto ring = slow(torus({2}, 1));
    ring.injection.bandwidth = ring.ejection.bandwidth = {1e15};
    takes(far(500, ring), 500 * 16'000.0);
    refused(far(600, ring));
    auto copies = far(1000);
    copies.machine.memory_bandwidth = copies.machine.copy_bandwidth = {1e6};
    copies.ranks_per_node = 2;
    refused(copies);
    Simulation overheads(slow(), repeated({exchange(all_reduce(2, 1, "recursive-2"))}, 2600));
    overheads.machine.send_overhead = overheads.machine.receive_overhead = {3600'000'000'000 * ns};
    refused(overheads);
}

TEST("a computation beside an exchange takes no time of its own") {
    const auto exchanged = all_reduce(2, 2'000'000'000, "recursive-2");
    Simulation simulation(slow(), Steps{compute(16'000, exchanged, 400)});  // each 6.4e6 s
    simulation.options.packet = {0};
    sim::check_minimum_time(simulation.machine, simulation.program(), simulation.place(), simulation.options);
}

TEST("what only the whole shows is found on the way") {
    // Each rank sends to the next once it has the message of the one before: none alone is busy for long.
    const auto chain = [](Rank ranks) {
        Steps steps;
        for (Rank r = 0; r + 1 < ranks; ++r)
            steps.push_back(exchange(messages(ranks, {{r, r + 1, 1'000'000'000'000}})));
        Simulation simulation(slow(), steps);
        simulation.bytes_per_point = 1;
        simulation.options.packet = {0};
        return simulation;
    };
    refused(chain(12), " s (1");
    takes(chain(9), 8e6);
    // Twenty ranks each send for six days to one rank: its port, and no rank, is busy for longer than allowed.
    std::vector<Sent> crowd;
    for (Rank r = 0; r < 21; ++r) {
        if (r != 5) crowd.push_back({r, 5, static_cast<Index>(6 * day_s) * 1'000'000});
    }
    Simulation simulation(slow(), messages(21, crowd));
    simulation.bytes_per_point = 1;
    simulation.options.packet = {0};
    for (const std::int64_t compact_from : {1, 512 << 20}) {
        simulation.options.compact_from = {compact_from};
        CHECK_THROWS(InputError, ({" s (10", allowed}), simulation.packets());
    }
}

}  // namespace testing::long_times
