// Gather-scatters straight from rank to rank: what they send. tests/algorithm/node_aware.cpp has those by nodes.
#include <algorithm>
#include <set>

#include "pattern/gather_scatter_brick.hpp"
#include "testing/drawing.hpp"

namespace testing::algorithm_gather_scatter {

using namespace tradewind;
using algorithm::make_schedule;

PROPERTY("pairwise sends what two ranks share once, of a brick and of its lists alike", 500) {
    Lists lists;
    const auto pattern = draw_gather_scatter(draw, lists)->with_levels({1, 1});
    std::vector<SchedulePtr> schedules{make_schedule(pattern, "pairwise")};
    if (const auto* brick = dynamic_cast<const pattern::BrickGatherScatter*>(pattern.get())) {
        schedules.push_back(make_schedule(pattern::listed(*brick), "pairwise"));
    }
    std::vector<std::set<Index>> ids;
    for (const auto& list : lists.ids) {
        auto& mine = ids.emplace_back(list.begin(), list.end());
        mine.erase(mine.begin(), mine.upper_bound(0));
    }
    for (const auto& schedule : schedules) {
        for (Rank rank = 0; rank < pattern->ranks(); ++rank) {
            std::map<Rank, Index> common, found;
            for (Rank peer = 0; peer < pattern->ranks(); ++peer) {
                const auto &mine = ids[static_cast<std::size_t>(rank)], &theirs = ids[static_cast<std::size_t>(peer)];
                const auto count =
                    std::count_if(mine.begin(), mine.end(), [&](auto id) { return theirs.contains(id); });
                if (peer != rank && count > 0) common[peer] = count;
            }
            for (const auto& message : sent(*schedule, rank, 0)) found[message.peer] += message.count;
            CHECK(found == common);
        }
    }
}

TEST("cartesian sends whole planes: (e (n - 1) + 1)^2 points to each neighbour along each direction") {
    const pattern::Brick brick({2, 3, 4}, 5, {3, 3, 3}, {false, false, false});
    const auto schedule = make_schedule(std::make_shared<pattern::BrickGatherScatter>(brick, "add"), "cartesian");
    const std::array<Index, 3> planes{13 * 17, 9 * 17, 9 * 13};
    Rank step = 1;
    for (int axis = 0; axis < 3; ++axis, step *= 3) {
        const auto messages = sent(*schedule, 13, axis);
        CHECK_EQUAL(messages.size(), 2u);
        CHECK(messages[0].peer == 13 + step && messages[1].peer == 13 - step);
        for (const auto& message : messages) CHECK_EQUAL(message.count, planes[static_cast<std::size_t>(axis)]);
    }
}

}  // namespace testing::algorithm_gather_scatter
