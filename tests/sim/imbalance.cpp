// Imbalance of computations: a random factor by rank, whose mean and spread are given.
#include "program/imbalance.hpp"

#include <cmath>

#include "base/error.hpp"
#include "base/random.hpp"
#include "program/order.hpp"
#include "testing/simulation.hpp"

namespace testing::imbalance {

using namespace tradewind;
using program::Distribution;
using program::Imbalance;

const std::vector<Distribution> distributions = {Distribution::normal, Distribution::uniform, Distribution::lognormal,
                                                 Distribution::exponential};

TEST("factors have a mean of 1, the given standard deviation, and are never negative") {
    constexpr int number = 40'000;
    for (const Distribution each : distributions)
        for (const double spread : {0.05, 0.3}) {
            double sum = 0, squares = 0;
            for (std::uint64_t i = 0; i < number; ++i) {
                const double factor = Imbalance{each, spread}.factor(mix(7, i));
                CHECK(factor >= 0);
                sum += factor;
                squares += (factor - 1) * (factor - 1);
            }
            CHECK(std::abs(sum / number - 1) < 5 * spread / std::sqrt(double{number}));
            CHECK(std::abs(std::sqrt(squares / number) / spread - 1) < 0.04);
        }
}

program::Step drawn(Imbalance imbalance, double seconds, SchedulePointer during, int repeat = 1) {
    auto step = compute(seconds, std::move(during), repeat);
    step.compute.imbalance = imbalance;
    return step;
}

// The mean over seeds of the time of 16 ranks that compute 1 ms and then wait for each other.
double mean_s(Imbalance imbalance, bool loggp = false) {
    Simulation simulation(machine_on(crossbar()), {drawn(imbalance, 1e-3, all_reduce(16, 1, "recursive-2"))});
    double sum = 0;
    constexpr int seeds = 400;
    for (int seed = 1; seed <= seeds; ++seed) {
        simulation.options.seed = static_cast<std::uint64_t>(seed);
        sum += (loggp ? simulation.loggp() : simulation.packets()).time.seconds();
    }
    return sum / seeds;
}

TEST("the slowest of 16 ranks takes the expected maximum of 16 factors") {
    double harmonic = 0;  // expected maximum of 16 exponential numbers of mean 1
    for (int i = 1; i <= 16; ++i) harmonic += 1.0 / i;
    for (const bool loggp : {false, true}) {
        CHECK(std::abs(mean_s({Distribution::exponential, 1}, loggp) / (1e-3 * harmonic) - 1) < 0.06);
        // The maximum of n uniform numbers lies at n / (n + 1) of their interval, in the mean.
        const double uniform = 1 + 0.2 * std::sqrt(3.0) * (2.0 * 16 / 17 - 1);
        CHECK(std::abs(mean_s({Distribution::uniform, 0.2}, loggp) / (1e-3 * uniform) - 1) < 0.01);
    }
}

Simulation sums(Imbalance imbalance, int repeat = 40) {
    Simulation simulation(machine_on(torus({4, 4, 2}, 2)),
                          {drawn(imbalance, 20e-6, all_reduce(64, 10, "recursive-2"), repeat)});
    simulation.ranks_per_node = 2;
    return simulation;
}

TEST("a rank that keeps its factor lets repetitions be skipped, with the same result; one that draws anew does not") {
    auto kept = sums({Distribution::exponential, 0.5});
    const auto some = kept.packets();
    CHECK(some.steps_skipped > 20);
    kept.options.skip = false;
    CHECK_EQUAL(bits(kept.packets()), bits(some));
    auto anew = sums({Distribution::exponential, 0.5, true});
    const auto all = anew.packets();
    CHECK_EQUAL(all.no_skip, "a computation draws a random number each time");
    CHECK(all.time != some.time);
}

TEST("the same bits for any number of threads") {
    for (const bool each_time : {false, true}) {
        const auto some = sums({Distribution::normal, 0.1, each_time}, 2);
        CHECK_EQUAL(bits(some.packets_on(3)), bits(some.packets()));
    }
}

TEST("each step of a program draws for itself, and an imbalance of 0 changes nothing") {
    const auto time = [](Steps steps) { return Simulation(machine_on(crossbar()), std::move(steps)).packets().time; };
    const auto sum = all_reduce(16, 1, "recursive-2");
    const Imbalance uneven{Distribution::uniform, 0.3};
    const auto once = time({drawn(uneven, 1e-3, sum)});
    CHECK(time({drawn(uneven, 1e-3, sum), drawn(uneven, 1e-3, sum)}).value < 2 * once.value - 1'000'000);
    CHECK_EQUAL(time({drawn({Distribution::uniform, 0}, 1e-3, sum)}), time({compute(1e-3, sum)}));
}

TEST("groups of ranks with steps of their own: the same bits with and without skipping") {
    using program::Exchange, program::Group, program::GroupStep, program::StepKind;
    for (const bool each_time : {false, true}) {
        program::Compute work;
        work.seconds = 20e-6;
        work.imbalance = {Distribution::exponential, 0.5, each_time};
        const std::vector<GroupStep> steps = {{"work", StepKind::compute, -1, 1, work},
                                              {"a", StepKind::exchange, 0, 1, {}}};
        const auto order = std::make_shared<const program::Order>(
            std::vector<Exchange>{{"a", all_reduce(6, 10, "recursive-2"), 8, 0}},
            std::vector<Group>{{"first", 2, steps, 24}, {"second", 4, steps, 24}});
        const auto machine = machine_on(torus({4, 4, 2}, 2));
        const machine::Placement place("linear", 6, 1, machine.nodes(), 1);
        sim::SimulationOptions options;
        const auto some = sim::simulate_packets(machine, program::Program(order), place, options);
        CHECK_EQUAL(some.steps_skipped > 0, !each_time);
        options.skip = false;
        CHECK_EQUAL(bits(sim::simulate_packets(machine, program::Program(order), place, options)), bits(some));
    }
}

TEST("names and spreads that cannot be are refused") {
    CHECK_THROWS(InputError, ({"distribution 'gauss'", "normal"}), program::distribution_of("gauss"));
    for (const Distribution each : distributions)
        for (const double spread : {-0.1, 11.0})
            CHECK_THROWS(InputError, ({"spread", "is allowed"}), sums({each, spread}).packets());
}

}  // namespace testing::imbalance
