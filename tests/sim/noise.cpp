// Noise of the operating system: detours take their time from what the CPUs of ranks do.
#include "sim/noise.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "testing/simulation.hpp"

namespace testing::noise {

using namespace tradewind;

// Whether a rank's CPU is in a detour, picosecond by picosecond: no work of 1 ps is done there.
bool is_away(const sim::Noise& noise, Rank rank, std::int64_t time) {
    return noise.after(rank, time, 1) > time + 1;
}

PROPERTY("work takes as many picoseconds outside of detours as it has, one by one", 60) {
    const std::int64_t detour = draw.integer(1, 12), period = detour + draw.integer(1, 30);
    const sim::Noise noise({{period}, {detour}, draw.boolean()}, static_cast<std::uint64_t>(draw.integer(0, 99)));
    const auto rank = static_cast<Rank>(draw.integer(0, 50));
    const std::int64_t begin = draw.integer(0, 200), work = draw.integer(0, 120);
    std::int64_t time = begin, left = work;
    for (; left > 0 || is_away(noise, rank, time); ++time) {
        if (!is_away(noise, rank, time)) --left;
        if (left == 0 && work > 0) {
            ++time;
            break;
        }
    }
    CHECK_EQUAL(noise.after(rank, begin, work), time);
    // A detour in each period, whatever the phase.
    std::int64_t away = 0;
    for (std::int64_t t = 0; t < 40 * period; ++t) away += is_away(noise, rank, t);
    CHECK(away >= 39 * detour && away <= 41 * detour);
}

TEST("work that is long against the period takes its time over the share that is left") {
    for (const bool scattered : {false, true}) {
        const sim::Noise noise({{1'000'000}, {25'000}, scattered}, 3);
        const std::int64_t work = 780'000'000;
        for (Rank rank = 0; rank < 20; ++rank) {
            const std::int64_t taken = noise.after(rank, 0, work);
            CHECK(std::abs(taken - 800'000'000) <= 1'000'000 + 25'000);
        }
    }
}

// A computation of 40 us, then a sum of all, some times.
Simulation noisy_sums(bool finite = false, int times = 20) {
    Simulation simulation(machine_on(torus({4, 4, 2}, 2)),
                          repeated({compute(40e-6), exchange(all_reduce(64, 10, "recursive-2"))}, times));
    simulation.options.finite_buffers = finite;
    simulation.options.noise = {{100'000 * ns}, {5'000 * ns}, finite};
    simulation.machine.send_overhead = {200 * ns};
    simulation.machine.receive_overhead = {200 * ns};
    return simulation;
}

TEST("ranks that wait for each other lose nearly a detour in each step, not their share of one") {
    auto simulation = noisy_sums();
    const auto noisy = simulation.packets().time;
    simulation.options.noise = {};
    const auto quiet = simulation.packets().time;
    // Some of 64 ranks with a detour of 5 us in 100 us are in one in each step of some 45 us: 95 us of detours in 20
    // steps, where none waits for the slowest.
    CHECK((noisy - quiet).value > 70'000 * ns);
    CHECK((noisy - quiet).value < 20 * 12 * 5'000 * ns);
}

TEST("the same bits for any number of threads, other ones for another seed, and no repetition is skipped") {
    for (const bool finite : {false, true}) {
        auto simulation = noisy_sums(finite, 2);
        const auto one = simulation.packets();
        CHECK_EQUAL(one.no_skip, "the noise of the operating system interrupts ranks at any time");
        CHECK_EQUAL(bits(simulation.packets_on(3)), bits(one));
        simulation.options.seed = 2;
        CHECK(simulation.packets().time != one.time);
    }
}

TEST("messages alone meet detours, too") {
    Simulation simulation(machine_on(crossbar()), all_reduce(16, 1, "recursive-2"));
    const auto quiet = simulation.packets().time;
    simulation.options.noise = {{100'000 * ns}, {90'000 * ns}};
    CHECK(simulation.packets().time.value > quiet.value + 80'000 * ns);
}

TEST("detours that leave no time, and a model without them, are refused") {
    Simulation simulation(machine_on(crossbar()), all_reduce(4, 1, "recursive-2"));
    simulation.options.noise = {{1000}, {500}};
    CHECK_THROWS(InputError, ({"loggp", "noise"}), simulation.loggp());
    simulation.options.noise.duration = {1000};
    CHECK_THROWS(InputError, ({"noise", "leave no time"}), simulation.packets());
}

}  // namespace testing::noise
