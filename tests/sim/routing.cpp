// Each routing serves its purpose.
#include <algorithm>
#include <set>

#include "testing/simulation.hpp"

namespace testing::routing_purposes {

using namespace tradewind;
using machine::LinkKind;

// Bytes of all ports of one kind of link.
std::vector<std::uint64_t> loads(const Simulation& simulation, const sim::SimulationResult& result, LinkKind kind) {
    std::vector<std::uint64_t> found;
    const auto bytes = result.port_bytes.all();
    const auto& topology = *simulation.machine.topology;
    for (std::uint32_t s = 0; s < topology.switches(); ++s) {
        for (std::uint32_t port = 0; port < topology.radix(); ++port) {
            if (topology.port(s, port).kind == kind) found.push_back(bytes[s * topology.radix() + port]);
        }
    }
    return found;
}
std::uint64_t sum(const std::vector<std::uint64_t>& values) {
    std::uint64_t total = 0;
    for (const auto value : values) total += value;
    return total;
}
std::ptrdiff_t used(const std::vector<std::uint64_t>& values) {
    return std::count_if(values.begin(), values.end(), [](auto value) { return value > 0; });
}
// Whether all values are within a fifth of their mean.
bool alike(const std::vector<std::uint64_t>& values) {
    const double mean = static_cast<double>(sum(values)) / static_cast<double>(values.size());
    return std::all_of(values.begin(), values.end(),
                       [&](auto v) { return std::abs(static_cast<double>(v) - mean) < 0.2 * mean; });
}

TEST("d-mod-k carries shift permutations without contention") {
    // Every stage of ring-1 is a shift of all ranks; a fat-tree carries it as a crossbar would, but for latency.
    for (const std::size_t levels : {2, 3}) {
        const auto tree = fattree(std::vector<std::uint32_t>(levels, 4), std::vector<std::uint32_t>(levels - 1, 4));
        const Rank ranks = levels == 2 ? 16 : 64;
        Simulation simulation(machine_on(tree, "d-mod-k"), all_to_all(ranks, "ring-1", 2000));
        const auto result = simulation.packets();
        const auto latency = static_cast<std::int64_t>(2 * levels) * 100 * ns;  // not every rank waits for the longest
        CHECK((ranks - 1) * (16000 * byte + 200 * ns) < result.time.value);
        CHECK(result.time.value <= (ranks - 1) * (16000 * byte + latency));
        const auto local = loads(simulation, result, LinkKind::local);
        CHECK_EQUAL(std::set(local.begin(), local.end()).size(), levels - 1);  // one per level
        if (levels == 2) continue;
        // Dealt out in turn, packets meet on the way down.
        simulation.machine.routing = "round-robin";
        CHECK(simulation.packets().time > result.time);
    }
}

TEST("round-robin gives the uplinks of a switch the same number of packets, or one more to some") {
    Simulation simulation(machine_on(fattree(), "round-robin"), all_to_all(64, "ring-3", 8));
    simulation.options.packet = {64};
    const auto bytes = simulation.packets().port_bytes.all();
    for (std::size_t s = 0; s < 32; ++s) {
        const auto ups = bytes.begin() + static_cast<std::ptrdiff_t>(s * simulation.machine.topology->radix()) + 4;
        const auto [least, most] = std::minmax_element(ups, ups + 4);
        CHECK(*least > 0 && *most - *least <= 64);
    }
}

TEST("a taper of two halves the speed of what goes up") {
    // Rank r exchanges with rank r + 8, which is below another switch.
    const auto schedule = transpose({8, 2, 20'000}, {8, 2}, "xy", "burst");
    const auto full = Simulation(machine_on(fattree({8, 4}, {8}), "d-mod-k"), schedule).packets();
    const auto tapered = Simulation(machine_on(fattree({8, 4}, {4}), "d-mod-k"), schedule).packets();
    CHECK(std::abs(tapered.bound.value - 2 * full.bound.value) <= 2);
    CHECK(tapered.time.seconds() > 1.9 * full.time.seconds());
}

TEST("adaptive goes round the conflicts of d-mod-k") {
    // With random placement, several ranks below one switch send to nodes with the same digit.
    Simulation simulation(machine_on(fattree({8, 8}, {8}), "d-mod-k"), all_to_all(64, "ring-1", 2000));
    simulation.placement = "random";
    simulation.options.packet = {512};
    const auto fixed = simulation.packets().time.seconds();
    simulation.machine.routing = "adaptive";
    CHECK(simulation.packets().time.seconds() < 0.9 * fixed);
}

TEST("GPUs without a link pass through the host or a third GPU") {
    std::uint64_t global[2], local[2];
    double time[2];
    for (const int minimal : {0, 1}) {
        Simulation simulation(machine_on(v100(), minimal ? "minimal" : "direct"), all_to_all(8, "burst", 50'000));
        simulation.machine.global.bandwidth = {1e9};
        const auto result = simulation.packets();
        global[minimal] = sum(loads(simulation, result, LinkKind::global));
        local[minimal] = sum(loads(simulation, result, LinkKind::local));
        time[minimal] = result.time.seconds();
    }
    const std::uint64_t message = 8 * 50'000, joined = 8 * 4, apart = 8 * 3;  // pairs of GPUs with and without a link
    // From each GPU three messages go up to the PCIe switch, across the host unless they stay below it, and down.
    CHECK_EQUAL(global[0], 4 * apart * message);
    CHECK_EQUAL(local[0], joined * message);
    CHECK_EQUAL(global[1], 0u);
    CHECK_EQUAL(local[1], (joined + 2 * apart) * message);
    CHECK(time[0] > 2 * time[1]);
}

TEST("both links of a pair of GPUs are used alike") {
    // GPU g exchanges with GPU g + 4; 0 and 1 have two links there, 2 and 3 one.
    Simulation simulation(machine_on(v100(), "direct"), transpose({4, 2, 20'000}, {4, 2}, "xy", "burst"));
    simulation.options.packet = {512};
    const auto result = simulation.packets();
    const auto bytes = result.port_bytes.all();
    for (std::size_t gpu = 0; gpu < 4; ++gpu) {
        const auto ports = bytes.begin() + static_cast<std::ptrdiff_t>(gpu * simulation.machine.topology->radix());
        const auto lanes = ports + 2 * (static_cast<std::ptrdiff_t>(gpu) + 4);
        CHECK_EQUAL(lanes[0] + lanes[1], static_cast<std::uint64_t>(result.bytes) / 8);
        CHECK_EQUAL(sum({ports, ports + 16}), static_cast<std::uint64_t>(result.bytes) / 8);
        if (gpu < 2) CHECK(10 * std::min(lanes[0], lanes[1]) > 8 * std::max(lanes[0], lanes[1]));
    }
}

// Rank r exchanges with rank r + 16, which is in the next group.
Simulation neighbour_groups(const std::string& routing, std::uint32_t global_links, Index points = 10'000) {
    Simulation simulation(machine_on(dragonfly(2, 4, 9, 2, global_links), routing),
                          transpose({16, 2, 2 * points}, {16, 2}, "xy", "burst"));
    simulation.options.seed = 7;
    return simulation;
}

TEST("minimal takes one link between two groups, and detours beat that") {
    const auto simulation = neighbour_groups("minimal", 1);
    const auto minimal = simulation.packets();
    const auto links = loads(simulation, minimal, LinkKind::global);
    CHECK_EQUAL(used(links), 2);
    CHECK_EQUAL(sum(links), static_cast<std::uint64_t>(minimal.bytes));
    CHECK_EQUAL(minimal.bound_by, "global link");
    CHECK(minimal.time.seconds() < 1.1 * minimal.bound.seconds());
    for (const std::string routing : {"valiant", "valiant-router", "ugal", "par"}) {
        const auto other = neighbour_groups(routing, 1).packets();
        CHECK(2 * other.time.value < minimal.time.value);
        CHECK(other.imbalance < minimal.imbalance);
    }
}

TEST("ugal of SST/macro 7.1 never takes a detour and has a third of the room") {
    // Each of its 6 channels has a sixth of a port's buffer, each of minimal routing's 2 a half.
    auto minimal = neighbour_groups("minimal", 1), ugal = neighbour_groups("ugal-sst71", 1);
    CHECK_EQUAL(bits(ugal.packets()), bits(minimal.packets()));
    minimal.options.finite_buffers = ugal.options.finite_buffers = true;
    ugal.machine.port_buffer = {48 << 10};
    minimal.machine.buffer = {8 << 10};
    CHECK_EQUAL(bits(ugal.packets()), bits(minimal.packets()));
}

TEST("valiant spreads over all other groups, and within a group") {
    auto simulation = neighbour_groups("valiant", 2);
    simulation.options.packet = {256};
    const auto result = simulation.packets();
    const auto bytes = result.port_bytes.all();
    std::vector<std::uint64_t> out(81);  // [from group][to group]
    const auto& topology = *simulation.machine.topology;
    for (const auto& link : links_of(topology)) {
        if (link.kind == LinkKind::global)
            out[link.from / 8 * 9 + link.to / 8] += bytes[link.from * topology.radix() + link.port];
    }
    CHECK_EQUAL(out[1], 0u);  // a valiant path never takes the direct link
    CHECK(alike({out.begin() + 2, out.begin() + 9}));
    for (std::size_t group = 2; group < 9; ++group) CHECK_EQUAL(out[group], out[group * 9 + 1]);
    CHECK_EQUAL(sum(out), 2 * static_cast<std::uint64_t>(result.bytes));
    // Two switches of one group exchange: by way of random switches.
    Simulation within(machine_on(dragonfly(2, 4, 9, 2, 2), "valiant"),
                      transpose({2, 2, 20'000}, {2, 2}, "xy", "ring-1"));
    within.options.packet = {256};
    const auto inside = within.packets();
    CHECK(used(loads(within, inside, LinkKind::local)) > 10);
    CHECK_EQUAL(sum(loads(within, inside, LinkKind::global)), 0u);
}

TEST("parallel links between groups are used alike") {
    for (const std::string routing : {"minimal", "valiant"}) {
        const Simulation simulation(machine_on(dragonfly(4, 4, 2, 16, 4), routing), all_to_all(512, "burst"));
        const auto links = loads(simulation, simulation.packets(), LinkKind::global);
        CHECK_EQUAL(links.size(), 128u);
        CHECK(alike(links));
    }
}

TEST("ugal detours under load") {
    const auto simulation = neighbour_groups("ugal", 1);
    CHECK(used(loads(simulation, simulation.packets(), LinkKind::global)) > 10);
}

TEST("where there are few groups, nothing is detoured through") {
    for (const std::string routing : {"minimal", "valiant", "valiant-router", "ugal", "ugal-sst71", "par"}) {
        for (const std::uint32_t groups : {1u, 2u, 3u}) {
            for (const std::uint32_t columns : {1u, 2u}) {
                const auto ranks = static_cast<Rank>(2 * columns * groups);
                const Simulation simulation(machine_on(dragonfly(1, columns, groups, 2, columns == 1 ? 2 : 1), routing),
                                            all_to_all(ranks, "burst", 100));
                CHECK_EQUAL(simulation.packets().bytes, ranks * (ranks - 1) * 800);
            }
        }
    }
}

TEST("another seed changes random routing only") {
    const auto schedule = transpose({100, 40, 60}, {20, 12}, "xy", "ring-4");
    const auto changed = [&](const TopologyPointer& topology, const std::string& routing) {
        Simulation simulation(machine_on(topology, routing), schedule);
        const auto one = bits(simulation.packets());
        simulation.options.seed = 2;
        return bits(simulation.packets()) != one;
    };
    const auto network = dragonfly(2, 4, 9, 4, 2);
    CHECK(changed(network, "valiant"));
    CHECK(changed(network, "ugal"));
    CHECK(!changed(torus({8, 4, 4}, 4), "dimension-order"));
    CHECK(!changed(fattree({8, 8, 8}, {8, 8}), "d-mod-k"));
    CHECK(!changed(fattree({8, 8, 8}, {8, 8}), "round-robin"));
    // Where two groups have one link, a minimal path has nothing to choose.
    CHECK(!changed(dragonfly(2, 4, 9, 4, 1), "minimal"));
}

}  // namespace testing::routing_purposes
