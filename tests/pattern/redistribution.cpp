// Redistributions between layouts with a closed form, by search over all points: who has how many for whom.
#include "pattern/redistribution.hpp"

#include "base/error.hpp"
#include "testing/drawing.hpp"

namespace testing::pattern_redistribution {

using namespace tradewind;
using layout::Blocks, layout::Grid, layout::Parts, layout::Product, pattern::Redistribution;

using Counts = std::map<std::array<Rank, 2>, Index>;  // by sender and receiver: points, none of them 0

Counts counted(const Redistribution& pattern) {
    const auto before = owners_of(pattern.from()), after = owners_of(pattern.to());
    Counts count;
    for (std::size_t i = 0; i < before.size(); ++i) ++count[{before[i], after[i]}];
    return count;
}

// The same by what a rank knows of the others, as a sender or as a receiver; each pair meets once.
Counts met(const Redistribution& pattern, bool sending) {
    Counts count;
    for (Rank rank = 0; rank < pattern.ranks(); ++rank) {
        for (const auto& at : pattern.places()) {
            const auto place = sending ? pattern.sending(at, rank) : pattern.receiving(at, rank);
            for (Index other = 0; place && other < (sending ? at.receivers : at.senders); ++other) {
                const auto partner =
                    sending ? pattern.receiver_at(at, rank, other) : pattern.sender_at(at, rank, other);
                if (!partner || partner->points == 0) continue;
                const auto pair = sending ? std::array{rank, partner->rank} : std::array{partner->rank, rank};
                CHECK(count.emplace(pair, partner->points).second);
            }
        }
    }
    return count;
}

RedistributionPtr draw_any(Draw& draw) {
    return draw.boolean() ? draw_redistribution(draw) : draw_closed_redistribution(draw, 20);
}

PROPERTY("partners and counts are those of a search over all points", 2000) {
    const auto pattern = draw_any(draw);
    const auto count = counted(*pattern);
    CHECK(met(*pattern, true) == count);
    CHECK(met(*pattern, false) == count);
    for (const auto& [pair, points] : count) {
        std::vector<layout::Box> boxes;
        pattern->append_blocks(pair[0], pair[1], boxes);
        Index found = 0;
        for (const auto& box : boxes) found += box.volume();
        CHECK_EQUAL(found, points);
        for (const auto& each : count_points(boxes)) {
            CHECK_EQUAL(each.second, 1);
            CHECK_EQUAL(pattern->from().owner(each.first), pair[0]);
            CHECK_EQUAL(pattern->to().owner(each.first), pair[1]);
        }
    }
}

PROPERTY("the result is what a rank owns afterwards", 500) {
    const auto pattern = draw_any(draw);
    for (Rank rank = 0; rank < pattern->ranks(); ++rank) {
        CHECK(pattern->expected(rank) == pattern->to().boxes(rank));
        CHECK(pattern->owned_boxes(rank) == pattern->from().boxes(rank));
        for (int axis : {0, 1, 2}) {
            CHECK_EQUAL(pattern->source_box(rank).width(axis), pattern->from().patch(rank).width(axis));
            CHECK_EQUAL(pattern->target_box(rank).width(axis), pattern->to().patch(rank).width(axis));
        }
    }
}

PROPERTY("groups are all that exchange with each other where they are closed, else all ranks", 1000) {
    const auto pattern = draw_any(draw);
    CHECK(pattern->collective() == pattern::Collective::all_to_all);
    std::map<Rank, Index> sizes;
    for (Rank rank = 0; rank < pattern->ranks(); ++rank) ++sizes[pattern->group(rank)];
    for (const auto& each : counted(*pattern)) {
        CHECK_EQUAL(pattern->group(each.first[0]), pattern->group(each.first[1]));
    }
    for (const auto& each : sizes) CHECK_EQUAL(each.second, pattern->largest_group());
    CHECK(pattern->closed() || sizes.size() == 1);
}

PROPERTY("there and back each rank meets the same ranks", 500) {
    const auto points = draw_points(draw, 9);
    const auto ranks = static_cast<Rank>(draw.integer(1, 12));
    const auto layout = std::make_shared<Product>(draw_product(draw, points, ranks));
    const std::array parts{Parts::even(points[0], ranks), Parts::even(points[1], 1), Parts::even(points[2], 1)};
    const auto slices = std::make_shared<Product>(layout->grid(), parts, std::array{0, -1, -1}, 0, ranks, "slices");
    Counts back;
    for (const auto& [pair, points_of] : met(Redistribution(slices, layout), false)) {
        back[{pair[1], pair[0]}] = points_of;
    }
    CHECK(met(Redistribution(layout, slices), true) == back);
}

std::shared_ptr<const Product> product(const Grid& grid, std::array<Index, 2> split, const char* axes) {
    return std::make_shared<Product>(Blocks(grid, split, axes));
}

TEST("rows and columns of ranks are closed, and other exchanges are not") {
    const Grid grid(12, 12, 12);
    const auto closed = [&](std::array<Index, 2> split, const char* before, const char* after) {
        return Redistribution(product(grid, split, before), product(grid, split, after)).closed();
    };
    CHECK(closed({4, 3}, "xy", "zy"));
    CHECK(closed({4, 3}, "zy", "zx"));
    CHECK(closed({4, 3}, "xy", "xy"));
    CHECK(!closed({4, 3}, "xy", "yx"));
    const auto placed = std::make_shared<Product>(product(grid, {4, 1}, "xy")->placed(1, 5));
    CHECK(!Redistribution(placed, placed).closed());
}

TEST("a million ranks store nothing of each other") {
    const auto before = product(Grid(2048, 2048, 4), {1024, 1024}, "xy");
    const auto after = product(Grid(2048, 2048, 4), {1024, 1024}, "yx");
    const Redistribution pattern(before, after);
    const auto& at = pattern.places().front();
    CHECK(pattern.sending(at, 500'000));
    CHECK_EQUAL(pattern.ranks(), 1 << 20);
}

TEST("layouts that do not go together are refused") {
    const auto one = product(Grid(4, 4, 4), {2, 1}, "xy"), other = product(Grid(4, 4, 5), {2, 1}, "xy");
    CHECK_THROWS(InputError, ({"the two layouts divide different grids"}), Redistribution(one, other));
    CHECK_THROWS(InputError, ({"2 ranks before and 3 after"}),
                 Redistribution(one, std::make_shared<Product>(one->placed(0, 3))));
    const auto in_lines = [&](std::vector<Index> ends) {
        return std::make_shared<Product>(one->in_lines({{0, 1, 0, 2}, std::move(ends)}));
    };
    CHECK_THROWS(InputError, ({"lie in other lines"}), Redistribution(in_lines({3, 2, 0, 3}), in_lines({3, 3, 0, 2})));
}

}  // namespace testing::pattern_redistribution
