// Messages outside the network: rendezvous, one-sided puts, the bypass, what comes before its receive, several NICs,
// and the switch's own bandwidth; each against its closed form.
#include <algorithm>

#include "base/error.hpp"
#include "testing/simulation.hpp"

namespace testing::messages_alone {

using namespace tradewind;

constexpr std::int64_t trip = 200 * ns;  // latency of a head, from NIC to NIC

Simulation pair(Index points) {
    return {machine_on(crossbar()), all_reduce(2, points, "recursive-2")};
}

TEST("messages up to the limit are sent at once; longer ones wait until they are asked for") {
    auto simulation = pair(1000);
    const auto plain = bits(simulation.packets());
    simulation.machine.eager_limit = {8000};
    CHECK_EQUAL(bits(simulation.packets()), plain);
    // The request, the clear-to-send and the acknowledgement are headers; the receiver pays for the request.
    for (const std::int64_t header : {1, 64, 5000}) {
        auto asked = pair(100);
        asked.machine.eager_limit = {0};
        asked.machine.header = {header};
        const auto expected = 4 * trip + 3 * header * byte + 800 * byte;
        CHECK_EQUAL(asked.packets().time.value, expected);
        CHECK_EQUAL(asked.loggp().time.value, 3 * trip + 800 * byte);  // there, back and there; headers are no bytes
        asked.machine.send_overhead = {40 * ns};
        asked.machine.receive_overhead = {60 * ns};
        CHECK_EQUAL(asked.packets().time.value, expected + 100 * ns);
    }
}

TEST("a put needs no receiver") {
    auto simulation = pair(100);
    simulation.machine.receive_overhead = {60 * ns};
    CHECK_EQUAL(simulation.packets().time.value, trip + 800 * byte + 60 * ns);
    simulation.machine.eager_limit = {0};
    simulation.options.one_sided = true;
    CHECK_EQUAL(simulation.packets().time.value, trip + 800 * byte);
}

TEST("a bypass knows no congestion, and is as far as a packet alone") {
    // All send to all at once, and every message takes what it would take alone after those before it have left.
    Simulation simulation(machine_on(crossbar()), all_to_all(10, "burst"));
    simulation.machine.bypass = {8};
    const auto result = simulation.packets();
    CHECK_EQUAL(result.packet_hops, 0);
    CHECK_EQUAL(result.time.value, 9 * 8 * byte + trip);
    simulation.steps = {exchange(all_to_all(10, "burst", 2))};
    CHECK_EQUAL(simulation.packets().packet_hops, 2 * 10 * 9);
    const auto exchanged = halo({24, 20, 1}, {24, 1}, 1, "", "sweep");
    for (const auto& topology : {torus(), dragonfly(), fattree()}) {
        Simulation alone(machine_on(topology), exchanged);
        const auto time = alone.packets().time;
        alone.machine.bypass = {1024};
        const auto past = alone.packets();
        CHECK(past.time <= time);
        if (topology->name() == "torus") continue;
        alone.machine.bypass_last_dimension = true;
        CHECK_EQUAL(bits(alone.packets()), bits(past));
    }
    // As in SST/macro 7.1: the last dimension of a torus of 4 x 4 x 4 alone; each dimension the shorter way.
    for (const Rank target : {1, 4, 7, 13, 40, 63}) {
        int links[3] = {target % 4, target / 4 % 4, target / 16};
        for (int& each : links) each = std::min(each, 4 - each);
        Simulation far(machine_on(torus({4, 4, 4}, 1)), messages(64, {{0, target, 100}}));
        far.machine.local.latency = {70 * ns};
        far.machine.bypass = {1024};
        CHECK_EQUAL(far.packets().time.value, trip + (links[0] + links[1] + links[2]) * 70 * ns + 800 * byte);
        far.machine.bypass_last_dimension = true;
        CHECK_EQUAL(far.packets().time.value, trip + links[2] * 70 * ns + 800 * byte);
    }
}

// ------------------------------------------------------------------------------------ what comes before its receive

// Rank 2 keeps rank 1 in its first step; rank 0 sends to rank 1 in the second, and begins that at once.
Simulation three(Index first, Index second) {
    Simulation simulation(machine_on(complete(3, 1)),
                          Steps{exchange(messages(3, {{2, 1, first}})), exchange(messages(3, {{0, 1, second}}))});
    simulation.options.packet = {512};
    return simulation;
}

TEST("what came before its receive is copied when that is posted") {
    // 1024 bytes of rank 0 are there when the 8192 of rank 2 are, and both have shared rank 1's link.
    auto simulation = three(1024, 128);
    const auto plain = simulation.packets();
    const auto expected = 3 * 100 * ns + (8192 + 1024) * byte;
    CHECK_EQUAL(plain.time.value, expected);
    CHECK_EQUAL(plain.unexpected_bytes, 0);
    simulation.machine.receives_at_start = true;
    CHECK_EQUAL(bits(simulation.packets()), bits(plain));
    simulation.machine.unexpected_bandwidth = {1e9};
    for (const bool at_start : {false, true}) {
        for (const bool finite : {false, true}) {
            simulation.machine.receives_at_start = at_start;
            simulation.options.finite_buffers = finite;
            const auto result = simulation.packets();
            CHECK_EQUAL(result.unexpected_bytes, 1024);
            CHECK_EQUAL(result.time.value, expected + 1024 * ns);
        }
    }
    // Packets of ranks 0 and 2 come to rank 1 in turns, those of rank 0 first, which has the lower port: when the last
    // of 4 of rank 2's has come, the 8th of all, 4 of rank 0's have. The other 12 come while these are copied.
    auto part = three(4 * 64, 16 * 64);
    part.machine.unexpected_bandwidth = {1e8};
    CHECK_EQUAL(part.packets().unexpected_bytes, 4 * 512);
    CHECK_EQUAL(part.packets().time.value, 3 * 100 * ns + 8 * 512 * byte + 4 * 512 * 10 * ns);
}

TEST("a long message waits for its receive and is not copied, nor is what is put") {
    auto simulation = three(64, 256);
    simulation.machine.unexpected_bandwidth = {1e9};
    simulation.machine.eager_limit = {1024};
    CHECK_EQUAL(simulation.packets().unexpected_bytes, 0);
    Simulation drifting(machine_on(torus()), all_to_all(32, "ring-1", 1000));
    drifting.machine.unexpected_bandwidth = {1e9};
    CHECK(drifting.packets().unexpected_bytes > 0);
    drifting.options.one_sided = true;
    CHECK_EQUAL(drifting.packets().unexpected_bytes, 0);
}

TEST("receives that are all posted at the start are never late, and requests need not wait for a stage") {
    for (const bool finite : {false, true}) {
        Simulation simulation(machine_on(torus()), all_to_all(40, "ring-1", 700));
        simulation.options.finite_buffers = finite;
        const auto plain = simulation.packets();
        simulation.machine.unexpected_bandwidth = {5e9};
        const auto by_stage = simulation.packets();
        simulation.machine.receives_at_start = true;
        const auto at_start = simulation.packets();
        CHECK_EQUAL(at_start.unexpected_bytes, 0);
        CHECK_EQUAL(at_start.time.value, plain.time.value);
        CHECK(by_stage.unexpected_bytes > plain.bytes / 10 && by_stage.time > plain.time);
        simulation.machine.unexpected_bandwidth = {0};
        simulation.machine.eager_limit = {1024};
        const auto asked = simulation.packets().time;
        simulation.machine.receives_at_start = false;
        CHECK(asked < simulation.packets().time);
    }
}

TEST("copies of what came early have the same bits on any threads, beside computations too") {
    for (const auto& machine : {machine_on(torus()), machine_on(dragonfly(), "ugal")}) {
        Simulation simulation(machine, Steps{});
        for (const char* slab : {"xz", "xy", "yz"}) {
            const auto schedule = transpose({24, 40, 24}, {6, 4}, slab, "ring-2");
            simulation.steps.push_back(exchange(schedule, 2));
            simulation.steps.push_back(compute(5e-6, schedule));
        }
        simulation.options.packet = {512};
        simulation.options.finite_buffers = true;
        simulation.machine.receive_overhead = {50 * ns};
        simulation.machine.unexpected_bandwidth = {3e9};
        simulation.machine.eager_limit = {2048};
        const auto one = simulation.packets();
        CHECK(one.unexpected_bytes > 0);
        for (const int threads : {2, 3}) CHECK_EQUAL(bits(simulation.packets_on(threads)), bits(one));
    }
}

// ------------------------------------------------------------------------------------------------------------ NICs

TEST("messages share the NICs of a node") {
    // NIC (a + b) mod n carries what ranks a and b send each other.
    for (const auto& [topology, ranks] : std::vector<std::pair<TopologyPointer, Rank>>{
             {crossbar(), 5}, {fattree({18, 9}, {9}), 8}, {fattree({18, 9}, {9}), 9}}) {
        for (const std::uint32_t nics : {1u, 2u}) {
            Simulation simulation(machine_on(topology), all_to_all(ranks, "burst", 1000));
            simulation.machine.nics = nics;
            simulation.options.packet = {0};
            Rank most = 0;
            for (Rank a = 0; a < ranks; ++a) {
                for (Rank nic = 0; nic < static_cast<Rank>(nics); ++nic) {
                    Rank count = 0;
                    for (Rank b = 0; b < ranks; ++b) count += b != a && (a + b) % static_cast<Rank>(nics) == nic;
                    most = std::max(most, count);
                }
            }
            const auto result = simulation.packets();
            CHECK_EQUAL(result.time.value, most * 8000 * byte + trip);
            CHECK_EQUAL(result.bytes, ranks * (ranks - 1) * 8000);
        }
    }
    // Also where every rank sends to the rank of its own place on other nodes, as two-level all-to-alls do.
    for (const int each : {2, 3, 4}) {
        Simulation simulation(machine_on(crossbar()), all_to_all(8 * each, "two-level-" + std::to_string(each), 100));
        simulation.machine.nics = 2;
        simulation.ranks_per_node = static_cast<std::uint32_t>(each);
        const auto sent = simulation.packets().nic_bytes.all();
        const auto [least, most] = std::minmax_element(sent.begin(), sent.begin() + 16);
        CHECK(10 * *least > 3 * *most);
    }
    for (const bool finite : {false, true}) {
        Simulation simulation(machine_on(torus()), transpose({24, 40, 24}, {6, 4}, "xz", "ring-2"));
        simulation.machine.nics = 2;
        simulation.ranks_per_node = 2;
        simulation.options.finite_buffers = finite;
        CHECK_EQUAL(bits(simulation.packets_on(2)), bits(simulation.packets()));
    }
}

TEST("node-aware halos bring each point to a node once") {
    // A row of 8 ranks of 4 x 4 points is a node; around it are 9 rows of 32 points above, and as many below.
    for (const auto& [algorithm, expected] : std::vector<std::pair<std::string, std::uint64_t>>{
             {"direct", 2 * 9 * 8 * (4 + 2 * 9) * 8}, {"two-level-8", 2 * 9 * 32 * 8}, {"leaders-8", 2 * 9 * 32 * 8}}) {
        Simulation simulation(machine_on(crossbar()), halo({32, 32, 1}, {8, 8}, 9, "xy", algorithm));
        simulation.ranks_per_node = 8;
        const auto ports = simulation.packets().port_bytes.all();
        CHECK_EQUAL(std::vector<std::uint64_t>(ports.begin(), ports.begin() + 8),
                    std::vector<std::uint64_t>(8, expected));
    }
}

TEST("two packets cross a switch one after the other, and a switch is a bound") {
    for (const auto& [bandwidth, slower] : std::vector<std::pair<double, int>>{{10e9, 1}, {20e9, 1}, {5e9, 2}}) {
        auto simulation = pair(512);
        simulation.machine.crossbar_bandwidth = {bandwidth};
        const auto crossing = static_cast<std::int64_t>(4096e12 / bandwidth);
        CHECK_EQUAL(simulation.packets().time.value, trip + crossing + 4096 * byte * slower);
    }
    // Ten ranks all to all through a switch of 1 GB/s: all bytes pass it one after another.
    Simulation simulation(machine_on(crossbar()), all_to_all(10, "burst", 512));
    simulation.machine.crossbar_bandwidth = {1e9};
    CHECK_EQUAL(simulation.packets().time.value, trip + 90 * 4096 * 1000);
}

TEST("delays are counted where packets wait") {
    // Five ranks send a packet each to another one at one time: they wait for none, one, ... four of 1 us.
    Simulation simulation(machine_on(crossbar()),
                          messages(6, {{0, 5, 1000}, {1, 5, 1000}, {2, 5, 1000}, {3, 5, 1000}, {4, 5, 1000}}));
    for (auto* rate : {&simulation.machine.injection, &simulation.machine.ejection}) rate->bandwidth = {8e9};
    simulation.options.packet = {0};
    simulation.options.blocks = 1;
    const auto result = simulation.packets();
    for (int waits = 0; waits < 5; ++waits) {
        std::size_t bin = 0;
        while (sim::DelayHistogram::lower_edge(bin + 1) <= waits * 1e-6 * (1 + 1e-9)) ++bin;
        CHECK_EQUAL(result.delay.counts[bin], 1u);
    }
    sim::Delayed sum;
    for (const auto& each : result.delay_series.values) sum.add(each);
    for (const auto& total : {sum, result.delay_pairs.values.at(0)}) {
        CHECK_EQUAL(total.packets, 5u);
        CHECK(std::abs(total.delay.picoseconds() - 10e6) < 1e4);
    }
}

}  // namespace testing::messages_alone
