// Programs with several exchanges open at once, in closed form: who brings them on, and what that takes.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "program/order.hpp"
#include "testing/simulation.hpp"

namespace testing::open_exchanges {

using namespace tradewind;
using program::Exchange, program::Group, program::GroupStep, program::Order, program::StepKind;
using sim::Progress;

constexpr double trip = 200e-9, byte_s = 1e-10;
constexpr Index count = 1000;
// Each of the two stages of a sum over four ranks is one message to another rank.
constexpr double stage = trip + count * 8 * byte_s;
const std::vector<Progress> all_progress = {Progress::calls, Progress::pokes, Progress::thread};

GroupStep start(int exchange) {
    return {"start", StepKind::start, exchange, 1, {}};
}
GroupStep wait(int exchange) {
    return {"wait", StepKind::wait, exchange, 1, {}};
}
GroupStep whole(int exchange, double seconds = 0, int repeat = 1) {
    GroupStep step{"whole", StepKind::exchange, exchange, repeat, {}};
    step.compute.seconds = seconds;
    return step;
}
GroupStep computing(double seconds) {
    GroupStep step{"compute", StepKind::compute, -1, 1, {}};
    step.compute.seconds = seconds;
    return step;
}
GroupStep poke() {
    return {"poke", StepKind::poke, -1, 1, {}};
}

struct Opened {
    machine::Machine machine = machine_on(crossbar());
    std::vector<Exchange> exchanges = {{"a", all_reduce(4, count, "recursive-2"), 8, 0},
                                       {"b", all_reduce(4, count, "recursive-2"), 8, 0}};
    std::uint32_t ranks_per_node = 1;
    sim::SimulationOptions options{};

    sim::SimulationResult run(std::vector<Group> groups) const {
        const auto order = std::make_shared<const Order>(used(groups), groups);
        const machine::Placement place("linear", order->ranks(), ranks_per_node, machine.nodes(), 1);
        return sim::simulate_packets(machine, program::Program(order), place, options);
    }
    sim::SimulationResult run(const std::vector<GroupStep>& steps, int repeat = 1) const {
        return run({Group{"all", exchanges[0].schedule->ranks(), steps, repeat, 0}});
    }
    double seconds(const std::vector<GroupStep>& steps, Progress progress = Progress::pokes) {
        options.progress_by = progress;
        return run(steps).time.seconds();
    }

  private:
    // Those that steps name, which must be the first ones.
    std::vector<Exchange> used(const std::vector<Group>& groups) const {
        int last = 0;
        for (const auto& group : groups) {
            for (const auto& step : group.steps) last = std::max(last, step.exchange);
        }
        return {exchanges.begin(), exchanges.begin() + last + 1};
    }
};

void close(double found, double wanted, double error = 1e-9,
           std::source_location place = std::source_location::current()) {
    if (std::abs(found - wanted) > error * wanted)
        throw Failure("it takes " + text_of(found) + " s, not " + text_of(wanted), place);
}

TEST("the second stage is posted in the wait, or by a thread, or in a poke once the first is over") {
    Opened opened;
    for (const auto progress : all_progress) {
        const bool thread = progress == Progress::thread;
        for (const double seconds : {0.3 * stage, 1.4 * stage, 5 * stage}) {
            const double wanted = thread ? std::max(seconds, 2 * stage) : std::max(seconds, stage) + stage;
            close(opened.seconds({start(0), computing(seconds), wait(0)}, progress), wanted);
        }
        for (const double half : {0.5 * stage, 1.2 * stage, 3 * stage}) {
            const double poked = half >= stage ? half + stage : std::max(2 * half, stage) + stage;
            const double wanted = progress == Progress::calls ? std::max(2 * half, stage) + stage
                                  : thread                    ? std::max(2 * half, 2 * stage)
                                                              : std::max(2 * half, poked);
            close(opened.seconds({start(0), computing(half), poke(), computing(half), wait(0)}, progress), wanted);
        }
    }
}

TEST("what a message costs the CPU waits for a call, or is the thread's") {
    Opened opened;
    opened.machine.send_overhead = {200 * ns};
    opened.machine.receive_overhead = {500 * ns};
    const double send = 0.2e-6, receive = 0.5e-6, seconds = 10e-6;
    for (const auto progress : all_progress) {
        const double rest = progress == Progress::thread ? 0 : receive + send + stage + receive;
        close(opened.seconds({start(0), computing(seconds), wait(0)}, progress), send + seconds + rest);
    }
    // In the poke one message is taken, then one is posted. The last one is taken in the wait.
    close(opened.seconds({start(0), computing(seconds), poke(), computing(seconds), wait(0)}),
          send + seconds + receive + send + seconds + receive);
}

TEST("a long message is asked for in a call") {
    Opened opened;
    opened.machine.eager_limit = {1000};
    opened.machine.header = {8};
    const double alone = opened.seconds({whole(0)}), seconds = 10 * alone;
    for (const auto progress : all_progress) {
        // The request has come, and is granted when the wait begins.
        const double wanted = progress == Progress::thread ? seconds : seconds + alone - (trip + 8 * byte_s);
        close(opened.seconds({start(0), computing(seconds), wait(0)}, progress), wanted, 1e-6);
    }
}

TEST("one exchange after another, and computing beside one, are as in a plain program") {
    Opened opened;
    opened.exchanges[0].schedule = halo({8, 6, 10}, {2, 2}, 1, "xy", "sweep");
    opened.exchanges[1].schedule = all_reduce(4, 500, "ring");
    for (const std::int64_t overhead : {std::int64_t{0}, 300 * ns}) {
        for (const std::int64_t limit : {-1, 1000}) {
            auto& machine = opened.machine;
            machine.send_overhead = machine.receive_overhead = {overhead};
            machine.eager_limit = {limit};
            const auto& exchanges = opened.exchanges;
            const Simulation plain(machine,
                                   {exchange(exchanges[0].schedule), compute(3e-6), exchange(exchanges[1].schedule)});
            const auto wanted = plain.packets();
            for (const auto& steps : {std::vector<GroupStep>{whole(0), computing(3e-6), whole(1)},
                                      {start(0), wait(0), computing(3e-6), start(1), wait(1)}}) {
                const auto found = opened.run(steps);
                CHECK_EQUAL(found.time.value, wanted.time.value);
                CHECK_EQUAL(found.messages, wanted.messages);
                CHECK_EQUAL(found.bytes, wanted.bytes);
            }
            const Simulation beside(machine, {compute(4e-6, exchanges[1].schedule, 2)});
            auto one = opened;
            one.exchanges = {exchanges[1]};
            const auto time = beside.packets().time.value;
            CHECK_EQUAL(one.run({whole(0, 4e-6, 2)}).time.value, time);
            CHECK_EQUAL(one.run({start(0), computing(4e-6), wait(0)}, 2).time.value, time);
        }
    }
}

TEST("exchanges that are open together share the NIC") {
    // Twice the bytes leave through one NIC; the second stages follow without a pause.
    Opened opened;
    const auto apart = opened.run({whole(0), whole(1)}), together = opened.run({start(0), start(1), wait(1), wait(0)});
    CHECK_EQUAL(together.messages, apart.messages);
    CHECK_EQUAL(together.bytes, apart.bytes);
    const double both = opened.seconds({start(0), start(1), wait(0), wait(1)});
    CHECK(2 * stage < both && both <= 4 * stage);
    CHECK(both >= trip + 4 * count * 8 * byte_s);  // what each NIC has to send
}

TEST("a message may come for an exchange that its rank has not started") {
    // Rank 3 of four computes for long before it starts anything; the others' messages wait for it.
    Opened opened;
    auto late = computing(0);
    late.compute.point_seconds = 1e-6;
    late.compute.points = std::make_shared<const std::vector<double>>(std::vector<double>{0, 0, 0, 50});
    const auto result = opened.run({late, start(0), start(1), wait(1), wait(0), start(0), wait(0)});
    CHECK_EQUAL(result.messages, 3 * 8);
    CHECK(50e-6 < result.time.seconds() && result.time.seconds() < 60e-6);
}

TEST("groups have steps of their own") {
    // Two servers take what six ranks send, and are free while these compute.
    Opened opened;
    opened.exchanges = {{"own", all_reduce(6, 10, "ring"), 8, 0}, {"both", all_reduce(8, 10, "recursive-2"), 8, 0}};
    const auto result = opened.run({Group{"model", 6, {whole(0), computing(30e-6), whole(1)}, 2, 0},
                                    Group{"servers", 2, {whole(1), computing(40e-6)}, 2, 0}});
    std::int64_t sent = 0;
    for (const auto& one : opened.exchanges) {
        sent += 2 * static_cast<std::int64_t>(messages_of({opened.machine, one.schedule}).size());
    }
    CHECK_EQUAL(result.messages, sent);
    CHECK_EQUAL(result.step_end.size(), 5u);
    // The second sum waits for the servers, which have encoded for 40 us since the first one.
    CHECK(result.step_end[3].seconds() > 70e-6);
    close(result.time.seconds(), result.step_end[3].seconds() + 40e-6, 1e-3);
}

TEST("programs with open exchanges have the same bits on any threads, and a thread is worth its calls") {
    Opened opened;
    opened.machine = machine_on(torus({4, 4, 2}, 2));
    opened.exchanges = {{"winds", halo({64, 64, 10}, {8, 8}, 2, "xy", "sweep"), 32, 0},
                        {"sums", all_reduce(64, 300, "recursive-4"), 4, 0},
                        {"swap", transpose({64, 64, 10}, {8, 8}, "yz", "ring-2"), 8, 0}};
    opened.machine.eager_limit = {4000};
    opened.machine.send_overhead = {100 * ns};
    opened.machine.receive_overhead = {150 * ns};
    std::vector<double> points;
    for (int rank = 0; rank < 64; ++rank) points.push_back(100 + 7 * (rank % 5));
    auto uneven = computing(0);
    uneven.compute.point_seconds = 1e-9;
    uneven.compute.points = std::make_shared<const std::vector<double>>(points);
    const std::vector<GroupStep> steps = {start(0), start(1), uneven,  poke(),   computing(1e-6), whole(2), wait(0),
                                          start(0), poke(),   wait(1), start(1), wait(0),         wait(1)};
    opened.options.finite_buffers = true;
    std::int64_t times[3];
    for (const auto progress : all_progress) {
        opened.options.progress_by = progress;
        for (const std::uint32_t each : {2u, 1u}) {
            opened.ranks_per_node = each;
            opened.options.threads = 1;
            const auto one = opened.run(steps, 2);
            opened.options.threads = 3;
            opened.options.adaptive = false;
            CHECK_EQUAL(bits(opened.run(steps, 2)), bits(one));
            times[static_cast<std::size_t>(progress)] = one.time.value;
        }
    }
    CHECK(times[static_cast<std::size_t>(Progress::thread)] < times[static_cast<std::size_t>(Progress::calls)]);
}

}  // namespace testing::open_exchanges
