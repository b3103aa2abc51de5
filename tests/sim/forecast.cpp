// The forecast against what then happens.
#include <cmath>

#include "testing/simulation.hpp"

namespace testing::forecasts {

using namespace tradewind;

void check(const Simulation& simulation, double error) {
    const auto forecast =
        sim::forecast(simulation.machine, simulation.program(), simulation.place(), simulation.options);
    const auto result = simulation.packets();
    const auto close = [](double found, std::int64_t truth, double tolerance) {
        CHECK(std::abs(found - static_cast<double>(truth)) <= tolerance * static_cast<double>(truth) + 1e-6);
    };
    close(forecast.messages, result.messages, std::min(error, 0.05));
    close(forecast.bytes, result.bytes, std::min(error, 0.05));
    close(forecast.packet_hops, result.packet_hops, error);
    CHECK(forecast.memory_bytes > 0);
}

TEST("messages and hops of few ranks are forecast exactly where one path leads from node to node") {
    const std::vector<SchedulePointer> schedules = {transpose({40, 20, 30}, {10, 6}, "xz", "ring-2"),
                                                    transpose({64, 8, 64}, {64, 1}, "xz", "bruck"),
                                                    halo({100, 70, 8}, {10, 6}, 8, "", "sweep"),
                                                    halo({40, 30, 8}, {4, 1}, 2, "", "direct"),
                                                    all_reduce(59, 700, "recursive-4"),
                                                    all_reduce(64, 9000, "ring")};
    const auto network = dragonfly(4, 4, 9, 4, 4);
    const std::vector<std::pair<machine::Machine, double>> machines = {
        {machine_on(crossbar()), 1e-9},           {machine_on(torus({4, 4, 4}, 2)), 1e-9},
        {machine_on(fattree(), "d-mod-k"), 1e-9}, {machine_on(fattree(), "round-robin"), 1e-9},
        {machine_on(network, "minimal"), 0.05},   {machine_on(network, "valiant"), 0.5},
        {machine_on(network, "ugal"), 0.5}};
    for (const auto& [machine, error] : machines) {
        for (const auto& schedule : schedules) {
            Simulation simulation(machine, repeated({exchange(schedule)}, 2));
            for (const std::int64_t packet : {100, 0}) {
                simulation.options.packet = {packet};
                check(simulation, error);
            }
        }
    }
}

TEST("messages and hops of many ranks are forecast from a sample") {
    check({machine_on(torus({25, 25, 25}, 25)), halo({2000, 2000, 10}, {200, 200}, 2, "", "sweep")}, 0.05);
    check({machine_on(fattree({25, 25, 25, 25}, {25, 25, 25}), "d-mod-k"), all_reduce(30'000, 3, "recursive-8")}, 0.05);
    // Each of 3 elements makes n - 1 steps, twice; 24 of 25 go to a node of the same switch, one to the next switch.
    // All ranks in all their stages would be visited 180 thousand million times, which no test waits for.
    constexpr Rank ranks = 300'000;
    Simulation ring(machine_on(torus({25, 25, 25}, 25)), all_reduce(ranks, 3, "ring"));
    ring.options.packet = {0};
    const auto forecast = sim::forecast(ring.machine, ring.program(), ring.place(), ring.options);
    CHECK(std::abs(forecast.messages - 2.0 * 3 * (ranks - 1)) < 0.01 * 6 * ranks);
    CHECK(std::abs(forecast.packet_hops - 2.04 * forecast.messages) < 0.05 * 2.04 * forecast.messages);
}

}  // namespace testing::forecasts
