// Times on an unloaded network, to the picosecond: 10 GB/s are 100 ps per byte, latencies 100 ns.
#include "testing/simulation.hpp"

namespace testing::unloaded {

using namespace tradewind;

TEST("one message alone takes the same on a loaded and on an unloaded network") {
    Simulation simulation(machine_on(torus()), all_reduce(2, 1000, "recursive-2"));
    simulation.apart(3, 0);
    const auto loaded = simulation.packets().time.value;
    simulation.options.unloaded = true;
    CHECK_EQUAL(simulation.packets().time.value, loaded);
}

TEST("messages of a rank leave one after another, and those of others are not in their way") {
    constexpr std::int64_t size = 8 * 1000;
    Simulation simulation(machine_on(crossbar()), all_to_all(5, "burst", 1000));
    const auto loaded = simulation.packets().time.value;
    simulation.options.unloaded = true;
    CHECK_EQUAL(simulation.packets().time.value, 4 * size * byte + 200 * ns);
    CHECK(simulation.packets().time.value <= loaded);
}

TEST("ranks that share a NIC wait for it on an unloaded network, too") {
    constexpr std::int64_t size = 8 * 1000;
    Simulation simulation(machine_on(crossbar()), all_to_all(4, "burst", 1000));
    simulation.ranks_per_node = 2;
    simulation.options.unloaded = simulation.options.free_copies = true;
    // Each of the two ranks of a node sends two messages to the other node.
    CHECK_EQUAL(simulation.packets().time.value, 4 * size * byte + 200 * ns);
}

TEST("a long message is announced and asked for on an unloaded network, too") {
    Simulation simulation(machine_on(crossbar()), all_reduce(2, 1000, "recursive-2"));
    simulation.machine.eager_limit = {0};
    simulation.options.unloaded = true;
    // Its sender waits for the acknowledgement.
    CHECK_EQUAL(simulation.packets().time.value, 8000 * byte + 4 * 200 * ns);
}

}  // namespace testing::unloaded
