// Halos straight from their owners: whom they reach, and with how many points.
#include <set>

#include "base/error.hpp"
#include "testing/drawing.hpp"

namespace testing::algorithm_halo {

using namespace tradewind;

SchedulePtr made(const std::string& algorithm, const Point& points, std::array<Index, 2> split, Index width,
                 std::array<bool, 2> periodic = {false, false}) {
    const layout::Blocks layout(layout::Grid(points[0], points[1], points[2]), split);
    return algorithm::make_schedule(std::make_shared<pattern::Halo>(layout, width, periodic), algorithm);
}

std::multiset<Index> counts(const schedule::Schedule& schedule, Rank rank, int stage) {
    std::multiset<Index> all;
    for (const auto& message : sent(schedule, rank, stage)) all.insert(message.count);
    return all;
}

TEST("a sweep reaches as many ranks as the width needs") {
    for (const auto& [width, neighbours] : {std::array{1, 1}, {4, 1}, {5, 2}, {8, 2}, {9, 3}}) {
        const auto schedule = made("sweep", {40, 40, 2}, {10, 10}, width, {true, true});
        for (int stage : {0, 1}) {
            CHECK_EQUAL(static_cast<int>(sent(*schedule, 37, stage).size()), 2 * neighbours);
            CHECK_EQUAL(static_cast<int>(received(*schedule, 37, stage).size()), 2 * neighbours);
        }
    }
}

TEST("the second sweep carries the corners, and direct sends to all eight neighbours at once") {
    const auto sweep = made("sweep", {30, 30, 2}, {3, 3}, 2), direct = made("direct", {30, 30, 2}, {3, 3}, 2);
    CHECK_EQUAL(counts(*sweep, 4, 0), std::multiset<Index>{40, 40});
    CHECK_EQUAL(counts(*sweep, 4, 1), std::multiset<Index>{56, 56});
    CHECK_EQUAL(direct->stages(), 1);
    CHECK_EQUAL(counts(*direct, 4, 0), std::multiset<Index>{8, 8, 8, 8, 40, 40, 40, 40});
    std::set<Rank> peers;
    for (const auto& message : sent(*direct, 4, 0)) peers.insert(message.peer);
    CHECK_EQUAL(peers, std::set<Rank>{0, 1, 2, 3, 5, 6, 7, 8});
}

TEST("two ranks around a circle distinguish their two messages, and a seam onto oneself is copied") {
    for (const auto* name : {"sweep", "direct"}) {
        const auto messages = sent(*made(name, {20, 8, 1}, {2, 1}, 3, {true, false}), 0, 0);
        CHECK_EQUAL(messages.size(), 2u);
        CHECK(messages[0].peer == 1 && messages[1].peer == 1 && messages[0].tag != messages[1].tag);
        const auto alone = verified(*made(name, {5, 4, 3}, {1, 1}, 7, {true, true}));
        CHECK_EQUAL(alone.messages, 0);
        CHECK_EQUAL(alone.copied, ((5 + 14) * (4 + 14) - 5 * 4) * 3);
        CHECK_EQUAL(verified(*made(name, {9, 9, 9}, {3, 3}, 0, {true, true})).messages, 0);
    }
}

TEST("more ranks than a stage can hold are refused") {
    for (const std::string name : {"direct", "two-level-4", "leaders-4"}) {
        CHECK_THROWS(InputError, ({name, "use sweep"}), made(name, {100, 100, 1}, {100, 100}, 1 << 20, {true, true}));
    }
}

}  // namespace testing::algorithm_halo
