// The posting order of sendrecv, in closed form: one exchange after another takes the sum of their times.
#include "algorithm/registry.hpp"
#include "base/error.hpp"
#include "pattern/gather_scatter_brick.hpp"
#include "schedule/ascending.hpp"
#include "schedule/one_by_one.hpp"
#include "testing/simulation.hpp"

namespace testing::posting_orders {

using namespace tradewind;
using schedule::one_by_one;

constexpr Index points = 20;
constexpr std::int64_t trip = 200 * ns, size = points * points * 8;  // bytes of a face of one element
constexpr std::int64_t together = trip + 2 * size * byte;            // both messages of a rank, one behind the other
constexpr std::int64_t by_turns = 2 * (trip + size * byte);

SchedulePointer line(Rank ranks, bool periodic = false) {
    const pattern::Brick elements({1, 1, 1}, points, {ranks, 1, 1}, {periodic, false, false});
    const auto brick = std::make_shared<pattern::BrickGatherScatter>(elements, "add");
    return algorithm::make_schedule(brick, "cartesian");
}
Simulation simulated(Steps steps, std::uint32_t each = 1) {
    Simulation simulation(machine_on(crossbar()), std::move(steps));
    simulation.ranks_per_node = each;
    simulation.options.packet = {0};
    return simulation;
}

TEST("two exchanges take the sum of their times") {
    for (const auto& [ranks, periodic] :
         std::vector<std::pair<Rank, bool>>{{3, false}, {8, false}, {4, true}, {16, true}}) {
        const auto schedule = line(ranks, periodic);
        const auto at_once = simulated({exchange(schedule)}), alone = simulated({exchange(one_by_one(schedule))});
        CHECK_EQUAL(at_once.packets().time.value, together);
        CHECK_EQUAL(alone.packets().time.value, by_turns);
        CHECK_EQUAL(alone.loggp().time.value, by_turns);
        CHECK_EQUAL(alone.packets().messages, at_once.packets().messages);
        CHECK_EQUAL(alone.packets().bytes, at_once.packets().bytes);
    }
    // One exchange of a program is posted so, another at once.
    CHECK_EQUAL(simulated({exchange(one_by_one(line(3))), exchange(line(3))}).packets().time.value,
                by_turns + together);
}

TEST("exchanges by memory and by network take the sum and not the maximum") {
    // Ranks 0 and 1 share a node. Rank 2 sends to 1 when it has received, so that is two trips; the copies hide.
    CHECK_EQUAL(simulated({exchange(line(3))}, 2).packets().time.value, trip + size * byte);
    CHECK_EQUAL(simulated({exchange(one_by_one(line(3)))}, 2).packets().time.value, by_turns);
}

TEST("stages of one message are what they were, and what has no such order is refused") {
    const auto ring = all_reduce(8, 4096, "ring");
    CHECK_EQUAL(bits(simulated({exchange(one_by_one(ring))}).packets()), bits(simulated({exchange(ring)}).packets()));
    CHECK_THROWS(InputError, ({"message 1 that rank 0", "both ends number alike"}),
                 one_by_one(all_reduce(12, 30, "halving-doubling")));
}

TEST("where all begin with the same rank, the last one gets all of its messages at the end") {
    // Without buffers that fill up each NIC sends n - 1 messages without a gap, of which the last n - 1 go to one rank.
    for (const Rank n : {3, 4, 9}) {
        const auto burst = all_to_all(n, "burst", points);
        const auto staggered = simulated({exchange(burst)}),
                   ordered = simulated({exchange(schedule::ascending(burst))});
        CHECK_EQUAL(staggered.packets().time.value, trip + (n - 1) * points * 8 * byte);
        CHECK_EQUAL(ordered.packets().time.value, trip + (2 * n - 3) * points * 8 * byte);
        CHECK_EQUAL(ordered.packets().bytes, staggered.packets().bytes);
    }
    CHECK_THROWS(InputError, ({"posting ascending", "stage 0 of direct"}),
                 schedule::ascending(halo({12, 12, 1}, {4, 4}, 1, "xy", "direct")));
}

}  // namespace testing::posting_orders
