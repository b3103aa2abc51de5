// Repetitions that are the same as those before are skipped, and the result is that of all of them.
#include "program/order.hpp"
#include "testing/simulation.hpp"

namespace testing::skip {

using namespace tradewind;

void check_same(const sim::SimulationResult& some, const sim::SimulationResult& all) {
    CHECK_EQUAL(bits(some), bits(all));
    CHECK_EQUAL(all.steps_skipped, 0);
    CHECK(some.no_skip.empty() == (some.steps_skipped > 0));
}

// Networks with the routings that draw no random number for each packet.
const std::vector<Routed>& fixed_routes() {
    static const std::vector<Routed> found = [] {
        std::vector<Routed> some;
        for (const auto& each : routed()) {
            Simulation simulation(machine_on(each.network->make(), each.routing), all_reduce(2, 1, "recursive-2"));
            if (simulation.packets().no_skip.find("random") == std::string::npos) some.push_back(each);
        }
        return some;
    }();
    return found;
}

// A halo, a computation and a sum.
Steps time_step(Rank columns, Rank rows) {
    return {exchange(halo({8 * columns, 8 * rows, 4}, {columns, rows}, 2, "xy", "direct")), compute(20e-6),
            exchange(all_reduce(columns * rows, 10, "recursive-2"))};
}

TEST("of a hundred time steps most are skipped, and results say how many") {
    Simulation simulation(machine_on(torus({4, 4, 2}, 2)), repeated(time_step(8, 8), 100));
    for (const bool finite : {false, true}) {
        simulation.options.finite_buffers = finite;
        simulation.options.skip = true;
        const auto some = simulation.packets();
        simulation.options.skip = false;
        check_same(some, simulation.packets());
        CHECK(some.steps_skipped > 80);
        CHECK_EQUAL(some.steps_simulated + some.steps_skipped, 100);
    }
}

TEST("nothing is skipped where steps differ, and the result says why") {
    const auto why = [](const Simulation& simulation) {
        const auto result = simulation.packets();
        CHECK_EQUAL(result.steps_skipped, 0);
        return result.no_skip;
    };
    Simulation simulation(machine_on(torus({4, 4, 2}, 2)), repeated(time_step(2, 2), 7));
    CHECK_EQUAL(why(simulation), "no steps are repeated 8 times or more");
    simulation.steps = repeated(time_step(2, 2), 20);
    for (std::size_t i = 1; i < simulation.steps.size(); i += 3)
        simulation.steps[i].compute.seconds *= 1 + 1e-3 * static_cast<double>(i * i);
    CHECK_EQUAL(why(simulation), "no steps are repeated 8 times or more");
    simulation.steps = repeated(time_step(2, 2), 20);
    simulation.options.shown = {0};
    CHECK_EQUAL(why(simulation), "single events are recorded");
    simulation.options.shown = {};
    simulation.options.order_seed = 1;
    CHECK_EQUAL(why(simulation), "the order of packets that come at one time is drawn at random");
    simulation.options.order_seed = 0;
    simulation.machine.routing = "valiant";
    CHECK_EQUAL(why(simulation), "the routing draws a random number for each packet");
}

TEST("ranks without steps stand beside steps that are repeated") {
    using program::Exchange, program::Group, program::GroupStep, program::StepKind;
    const std::vector<GroupStep> steps = {{"a", StepKind::exchange, 0, 1, {}}};
    const auto order =
        std::make_shared<const program::Order>(std::vector<Exchange>{{"a", all_reduce(4, 10, "recursive-2"), 8, 0}},
                                               std::vector<Group>{{"work", 4, steps, 16, 0}, {"idle", 2, {}, 16, 0}});
    const auto machine = machine_on(torus({4, 4, 2}, 2));
    const machine::Placement place("linear", 6, 1, machine.nodes(), 1);
    sim::SimulationOptions options;
    const auto some = sim::simulate_packets(machine, program::Program(order), place, options);
    options.skip = false;
    check_same(some, sim::simulate_packets(machine, program::Program(order), place, options));
}

PROPERTY("a run that skips has the bits of one that does not", 40) {
    const auto& pair = draw.from(fixed_routes());
    const auto topology = pair.network->make();
    const auto each = static_cast<std::uint32_t>(draw.integer(1, 3));
    std::array<Index, 2> split{};
    const auto most = static_cast<Rank>(std::min<std::uint32_t>(9, topology->nodes() * each));
    auto row = drawn_steps(draw, most, split);
    if (draw.boolean()) row.push_back(compute(1e-9 * static_cast<double>(draw.integer(1, 20'000)), row[0].schedule));
    const auto times = static_cast<int>(draw.integer(8, 24));
    auto steps = repeated(row, times);
    if (draw.boolean()) steps = {exchange(row[0].schedule, times)};
    if (draw.integer(0, 3) == 3) {
        steps = {compute(2e-6, row[0].schedule, times)};
        steps[0].compute.imbalance = {program::Distribution::uniform, 0.3};
    }
    if (draw.boolean()) {
        auto other = row[0];
        other.compute.seconds = 3e-6;
        steps.insert(steps.begin(), other);
        if (draw.boolean()) steps.push_back(other);
    }
    Simulation simulation(machine_on(topology, pair.routing), steps);
    simulation.ranks_per_node = each;
    simulation.split = split;
    simulation.placement = draw.from(std::vector<std::string>{"linear", "random", "round-robin", "blocks"});
    auto& options = simulation.options;
    auto& machine = simulation.machine;
    options.seed = static_cast<std::uint64_t>(draw.integer(1, 100));
    options.packet = {draw.from(std::vector<std::int64_t>{4096, 500, 200, 0})};
    options.blocks = static_cast<int>(draw.from(std::vector<std::int64_t>{0, 5}));
    options.one_sided = draw.integer(0, 3) == 3;
    options.finite_buffers = draw.boolean();
    if (options.finite_buffers) {
        const auto room =
            std::max<std::int64_t>(options.packet.value, 200) * draw.from(std::vector<std::int64_t>{64, 1, 2});
        machine.buffer = {room};
        if (draw.boolean()) machine.port_buffer = {16 * room};
        if (draw.boolean()) machine.output_buffer = {16 * room};
        if (draw.boolean()) machine.nic_buffer = {room};
    } else if (draw.integer(0, 3) == 3) {
        options.compact_from = {1};
    }
    machine.injection.bandwidth = machine.ejection.bandwidth = {7e9};
    const auto latency = draw.from(std::vector<std::int64_t>{100'000, 30'000, 500'000});
    machine.local.latency = machine.injection.latency = machine.ejection.latency = {latency};
    machine.send_overhead = {draw.integer(0, 1) * draw.integer(0, 30'000)};
    machine.receive_overhead = {draw.integer(0, 1) * draw.integer(0, 20'000)};
    if (draw.integer(0, 3) == 3) machine.crossbar_bandwidth = {9e9};
    if (draw.integer(0, 3) == 3) machine.unexpected_bandwidth = {3e9};
    machine.receives_at_start = draw.boolean();
    machine.eager_limit = {draw.from(std::vector<std::int64_t>{-1, -1, 0, 500})};
    machine.bypass = {draw.from(std::vector<std::int64_t>{0, 0, 256})};
    draw.note(pair.network->name + ", " + pair.routing + ", " + simulation.placement + ", packets of " +
              std::to_string(options.packet.value) + ", finite " + std::to_string(options.finite_buffers) + ", " +
              std::to_string(steps.size()) + " steps");
    const auto some = simulation.packets();
    options.skip = false;
    check_same(some, simulation.packets());
    options.skip = true;
    const auto on_threads = simulation.packets_on(static_cast<int>(draw.integer(2, 3)));
    CHECK_EQUAL(bits(on_threads), bits(some));
    CHECK_EQUAL(on_threads.steps_skipped, some.steps_skipped);
}

// Two groups that exchange something with each other, and the first also among its own ranks.
PROPERTY("a program with open exchanges that skips has the bits of one that does not", 30) {
    using program::Exchange, program::Group, program::GroupStep, program::StepKind;
    const auto own = static_cast<Rank>(draw.integer(2, 4)), other = static_cast<Rank>(draw.integer(1, 3));
    const std::vector<Exchange> exchanges = {
        {"a", all_reduce(own, draw.integer(1, 400), "recursive-2"), 8, 0},
        {"b", all_to_all(own, draw.from(std::vector<std::string>{"burst", "ring-1"}), draw.integer(1, 30)), 8, 0},
        {"c", all_to_all(own + other, "burst", draw.integer(1, 20)), 8, 0}};
    const auto work = [&] {
        GroupStep step{"compute", StepKind::compute, -1, 1, {}};
        step.compute.seconds = 1e-9 * static_cast<double>(draw.integer(0, 5000));
        return step;
    };
    const auto with = [](const char* name, StepKind kind, int exchange) {
        return GroupStep{name, kind, exchange, 1, {}};
    };
    std::vector<GroupStep> first = {with("start a", StepKind::start, 0), work(),
                                    with("poke", StepKind::poke, -1),    with("b", StepKind::exchange, 1),
                                    with("start c", StepKind::start, 2), work(),
                                    with("wait a", StepKind::wait, 0),   with("wait c", StepKind::wait, 2)};
    std::vector<GroupStep> second = {work(), with("c", StepKind::exchange, 2)};
    const auto times = static_cast<int>(draw.integer(8, 24)), often = static_cast<int>(draw.integer(1, 2));
    if (often == 2) second.insert(second.end(), {work(), with("c again", StepKind::exchange, 2)});
    const auto order = std::make_shared<const program::Order>(
        exchanges, std::vector<Group>{{"first", own, first, often * times, 0}, {"second", other, second, times, 0}});
    const auto& pair = draw.from(fixed_routes());
    auto machine = machine_on(pair.network->make(), pair.routing);
    sim::SimulationOptions options;
    options.progress_by = draw.from(std::vector{sim::Progress::calls, sim::Progress::pokes, sim::Progress::thread});
    options.finite_buffers = draw.boolean();
    options.packet = {draw.from(std::vector<std::int64_t>{4096, 500})};
    machine.send_overhead = {draw.integer(0, 1) * draw.integer(0, 30'000)};
    machine.receive_overhead = {draw.integer(0, 1) * draw.integer(0, 20'000)};
    machine.eager_limit = {draw.from(std::vector<std::int64_t>{-1, 0, 500})};
    if (draw.integer(0, 3) == 3) machine.unexpected_bandwidth = {3e9};
    const auto ranks_per_node = static_cast<std::uint32_t>(machine.nodes() < 7 ? 7 : draw.integer(1, 2));
    const machine::Placement place("linear", order->ranks(), ranks_per_node, machine.nodes(), 1);
    const auto some = sim::simulate_packets(machine, program::Program(order), place, options);
    options.skip = false;
    check_same(some, sim::simulate_packets(machine, program::Program(order), place, options));
}

}  // namespace testing::skip
