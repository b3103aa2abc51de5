// Transports within a node, simulated: against values computed by hand from the tables.
#include <cmath>

#include "testing/simulation.hpp"

namespace testing::message_costs {

using namespace tradewind;

constexpr double latency = 1e-6, overhead = 4e-7, rate = 2e9, copy = 10e9, runs = 0.5e9;

// Two ranks of one node: messages of isend-irecv with buffers, in runs of 24 B or in one.
Simulation two_ranks(Steps steps) {
    Simulation simulation(machine_on(crossbar(2)), std::move(steps));
    auto& machine = simulation.machine;
    for (auto* each : {&machine.local, &machine.injection, &machine.ejection}) *each = {{1e9}, {1000 * ns}};
    machine.send_overhead = {100 * ns};
    machine.receive_overhead = {200 * ns};
    machine.memory_bandwidth = machine.copy_bandwidth = {copy};
    simulation.ranks_per_node = 2;
    simulation.options.packet = {1 << 20};
    simulation.options.intranode = std::make_shared<machine::IntranodeTransport>(machine::IntranodeTransport{
        {1000 * ns}, {400 * ns}, {{1024}, {24}, {{runs}}, {rate}}, {}, {{1024}, {}, {}, {copy}}, {8}, {}});
    return simulation;
}
SchedulePointer columns(const std::string& periodic = "") {
    return halo({64, 32, 1}, {2, 1}, 3, periodic, "direct");
}

void takes(const Simulation& simulation, double seconds) {
    const double found = simulation.packets().time.seconds();
    if (std::abs(found - seconds) > 1e-9 * seconds)
        throw Failure("takes " + text_of(found) + " s, not " + text_of(seconds), std::source_location::current());
}

constexpr double message = 3 * 32 * 8 / runs;  // three columns, in runs of 24 B

TEST("a message costs latency, overhead and its runs; messages one after another share the latency") {
    takes(two_ranks({exchange(columns())}), latency + overhead + message);
    takes(two_ranks({exchange(columns("x"))}), latency + 2 * (overhead + message));
    takes(two_ranks(repeated({exchange(columns())}, 3)), 3 * (latency + overhead + message));
    takes(two_ranks({exchange(columns()), compute(1e-5)}), latency + overhead + message + 1e-5);
    // Several fields are more runs of the same length; shorter elements shorter runs, each as long as one of 24 B.
    auto fields = two_ranks({exchange(columns())});
    fields.bytes_per_point = 16;
    takes(fields, latency + overhead + 2 * message);
    auto single = two_ranks({exchange(columns())});
    auto transport = *single.options.intranode;
    transport.element = {4};
    single.options.intranode = std::make_shared<machine::IntranodeTransport>(transport);
    single.bytes_per_point = 4;
    takes(single, latency + overhead + message);
}

TEST("what stays on a rank is copied while messages are under way") {
    // xz on 2 x 1 ranks: half of a rank's 32 x 16 x 4 points stays, half is sent, in one run there and in rows here.
    constexpr double half = 32 * 16 * 2 * 8;
    // Gathering is half of the whole message's time; rows of 256 B count as the longest runs that are known.
    const double sending = overhead / 2 + half / rate / 2, receiving = overhead / 2 + half / runs / 2;
    takes(two_ranks({exchange(transpose({64, 16, 4}, {2, 1}, "xz", "burst"))}),
          sending + std::max(latency, half / copy) + receiving);
}

TEST("what is combined counts as the longest runs") {
    takes(two_ranks({exchange(all_reduce(2, 1000, "recursive-2"))}), latency + overhead + 8000 / runs);
}

TEST("between nodes messages are gathered by copies and then the network's") {
    auto carried = two_ranks({exchange(columns())});
    carried.ranks_per_node = 1;
    auto plain = carried;
    plain.options.intranode.reset();
    // Runs are copied at the rate of whole ones here, once at either end.
    takes(carried, plain.packets().time.seconds() + 2 * 3 * 32 * 8 / copy);
}

TEST("a message costs what its runs do at both ends, by whichever transport") {
    // Rows of 512 B count as the longest runs that are known; then a transport that knows no runs, and no overhead.
    auto rows = two_ranks({exchange(halo({64, 32, 1}, {1, 2}, 3, "", "direct"))});
    takes(rows, latency + overhead + 3 * 64 * 8 / runs);
    rows.options.intranode = std::make_shared<machine::IntranodeTransport>(
        machine::IntranodeTransport{{100 * ns}, {0}, {{1024}, {}, {}, {4e9}}, {}, {{1024}, {}, {}, {copy}}, {8}, {}});
    takes(rows, 1e-7 + 3 * 64 * 8 / 4e9);
    CHECK_EQUAL(rows.packets().messages, 2);
    CHECK_EQUAL(rows.packets().bytes, 2 * 3 * 64 * 8);
}

}  // namespace testing::message_costs
