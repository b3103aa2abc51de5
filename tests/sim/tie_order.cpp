// The order of packets that come to a switch at one time, drawn at random.
#include "sim/tie_order.hpp"

#include <map>
#include <set>

#include "testing/simulation.hpp"

namespace testing::tie_order {

using namespace tradewind;

TEST("the places of a switch and a time are a permutation, and all orders are drawn as often") {
    const sim::TieOrder order(7);
    for (const int bits : {0, 1, 2, 5, 11}) {
        std::set<std::uint32_t> places;
        for (std::uint32_t number = 0; number >> bits == 0; ++number) places.insert(order.place(3, 17, number, bits));
        CHECK_EQUAL(places.size(), std::size_t{1} << bits);
        CHECK_EQUAL(*places.rbegin(), (std::uint32_t{1} << bits) - 1);
    }
    for (const bool by_time : {true, false}) {
        std::map<std::array<bool, 3>, int> drawn;  // of three numbers: which of two is the first
        for (std::uint32_t i = 0; i < 6000; ++i) {
            const auto place = [&](std::uint32_t number) {
                return by_time ? order.place(3, 1000 * i, number, 8) : order.place(i, 1000, number, 8);
            };
            ++drawn[{place(2) < place(3), place(3) < place(130), place(2) < place(130)}];
        }
        CHECK_EQUAL(drawn.size(), 6u);
        for (const auto& [which, count] : drawn) CHECK(700 < count && count < 1300);
    }
}

// Eight ranks on a ring, and buffers of one packet.
Simulation symmetric() {
    Simulation simulation(machine_on(torus({8}, 1)), all_to_all(8, "ring-4", 4096));
    simulation.options.finite_buffers = true;
    simulation.machine.buffer = {4096};
    return simulation;
}

TEST("orders differ in the time of a symmetric exchange, not in what moves, and not between threads") {
    auto simulation = symmetric();
    const auto ports = simulation.packets();
    std::set<std::int64_t> times = {ports.time.value};
    for (const std::uint64_t seed : {1, 2, 3}) {
        simulation.options.order_seed = seed;
        const auto drawn = simulation.packets();
        times.insert(drawn.time.value);
        CHECK_EQUAL(drawn.messages, ports.messages);
        CHECK_EQUAL(drawn.port_bytes.all(), ports.port_bytes.all());
        CHECK_EQUAL(bits(simulation.packets_on(3)), bits(drawn));
        // All packets of a switch are put in order where one of them is followed, those of a port elsewhere.
        auto followed = simulation;
        followed.options.followed = 7;
        CHECK_EQUAL(bits(followed.packets()), bits(drawn));
    }
    CHECK_EQUAL(times.size(), 4u);
}

TEST("nothing changes where no packets come to a port at one time") {
    // From each of two nodes to the other, through buffers of two packets.
    Simulation simulation(machine_on(complete(2, 1)), all_reduce(2, 64 * 40, "recursive-2"));
    simulation.options.packet = {512};
    simulation.options.finite_buffers = true;
    simulation.machine.buffer = {1024};
    const auto ports = bits(simulation.packets());
    simulation.options.order_seed = 5;
    CHECK_EQUAL(bits(simulation.packets()), ports);
}

}  // namespace testing::tie_order
