// The same bits for any number of threads where windows are full, on repeat, and beside another simulation.
#include <thread>

#include "base/error.hpp"
#include "testing/simulation.hpp"

namespace testing::threads {

using namespace tradewind;

// A thousand ranks, small packets: full windows.
std::vector<Simulation> full_windows() {
    std::vector<Simulation> simulations;
    for (const auto& machine :
         {machine_on(torus({8, 8, 4}, 4)), machine_on(fattree({10, 10, 10}, {10, 10}), "round-robin"),
          machine_on(dragonfly(4, 4, 16, 4, 2), "ugal"), machine_on(dragonfly(4, 4, 16, 4, 2), "valiant")}) {
        Simulation simulation(machine, transpose({400, 50, 40}, {20, 50}, "xy", "ring-4"));
        simulation.machine.local.latency = simulation.machine.injection.latency = {300 * ns};
        simulation.machine.send_overhead = {7 * ns};
        simulation.machine.receive_overhead = {9 * ns};
        simulation.ranks_per_node = simulations.size() % 2 == 0 ? 3 : 1;
        simulation.placement = "random";
        simulation.options.packet = {64};
        simulations.push_back(simulation);
    }
    return simulations;
}

TEST("the same bits for any number of threads where windows are full") {
    for (auto& simulation : full_windows()) {
        const auto one = simulation.packets();
        CHECK_EQUAL(one.solo_windows, one.windows);
        for (const int threads : {2, 3}) {
            const auto several = simulation.packets_on(threads);
            CHECK_EQUAL(bits(several), bits(one));
            CHECK_EQUAL(several.windows, one.windows);
            CHECK_EQUAL(several.solo_windows, 0u);
        }
        // And where the threads change between working together and one working for all.
        simulation.options.threads = 3;
        CHECK_EQUAL(bits(simulation.packets()), bits(one));
    }
}

TEST("two simulations at one time are as each alone") {
    const auto simulations = full_windows();
    std::string together[2];
    std::thread other([&] { together[0] = bits(simulations[0].packets_on(2)); });
    together[1] = bits(simulations[2].packets_on(2));
    other.join();
    CHECK_EQUAL(together[0], bits(simulations[0].packets()));
    CHECK_EQUAL(together[1], bits(simulations[2].packets()));
}

TEST("the same bits on more threads than switches that hold ranks, and where windows hold few events") {
    Simulation simulation(machine_on(torus()), all_to_all(6, "burst", 50));
    simulation.options.packet = {8};
    CHECK_EQUAL(bits(simulation.packets_on(16)), bits(simulation.packets()));
}

TEST("the same bits where a thread has several runs of switches") {
    // From 100,000 ranks per thread on, each has several.
    Simulation simulation(machine_on(dragonfly(25, 15, 125, 25, 1)), halo({2000, 1100, 4}, {500, 440}, 2, "", "sweep"));
    simulation.options.packet = {0};
    const auto several = simulation.packets_on(2);
    CHECK_EQUAL(bits(several), bits(simulation.packets()));
    CHECK_EQUAL(several.solo_windows, 0u);
}

TEST("progress ascends to the end, and may stop the simulation") {
    Simulation simulation(machine_on(crossbar(256)), repeated({exchange(all_to_all(256, "ring-1", 4))}, 2));
    simulation.options.packet = {8};
    simulation.options.between_calls = {};
    std::vector<std::array<std::int64_t, 3>> seen;
    simulation.options.progress = [&](Picoseconds time, Bytes bytes, std::int64_t hops) {
        seen.push_back({time.value, bytes.value, hops});
        return true;
    };
    const auto result = simulation.packets();
    CHECK(!seen.empty());
    for (std::size_t i = 0; i < seen.size(); ++i) {
        for (std::size_t k = 0; k < 3; ++k) CHECK(i == 0 || seen[i - 1][k] <= seen[i][k]);
    }
    CHECK(seen.back()[0] <= result.time.value && seen.back()[1] <= result.bytes &&
          seen.back()[2] <= result.packet_hops);
    simulation.options.progress = [](auto...) { return false; };
    for (const int threads : {1, 2}) CHECK_THROWS(Interrupted, ({"interrupted"}), simulation.packets_on(threads));
    CHECK_THROWS(Interrupted, ({"interrupted"}), [&] {
        Simulation formula(machine_on(torus({32, 32}, 14)), transpose({14'000, 14'000, 1}, {1, 14'000}, "xy", "burst"));
        formula.options.progress = [](auto...) { return false; };
        return formula.loggp();
    }());
}

}  // namespace testing::threads
