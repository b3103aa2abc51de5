#include "layout/blocks.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "testing/drawing.hpp"

namespace testing::layout_blocks {

using namespace tradewind;
using layout::Blocks, layout::Grid;

PROPERTY("every point has one owner, who is found by its coordinates", 1000) {
    const auto blocks = draw_blocks(draw, draw_points(draw));
    const auto owners = owners_of(blocks);
    const auto& n = blocks.grid().points;
    for_points({{0, 0, 0}, n}, [&](const Point& p) {
        CHECK_EQUAL(blocks.owner(p), owners[static_cast<std::size_t>(p[0] + n[0] * (p[1] + n[1] * p[2]))]);
    });
}

PROPERTY("parts are even, the larger ones first, and ranks count along the first axis first", 1000) {
    const auto blocks = draw_blocks(draw, draw_points(draw));
    for (std::size_t axis = 0; axis < 3; ++axis) {
        std::map<Index, Index> widths;  // by begin
        for (Rank rank = 0; rank < blocks.ranks(); ++rank) {
            const auto box = blocks.box(rank);
            widths[box.begin[axis]] = box.width(static_cast<int>(axis));
        }
        const auto largest = widths.begin()->second, smallest = widths.rbegin()->second;
        CHECK(largest - smallest <= 1);
        CHECK(std::is_sorted(widths.begin(), widths.end(), [](auto& a, auto& b) { return a.second > b.second; }));
    }
    const auto columns = static_cast<Rank>(blocks.split()[0]);
    const auto first = static_cast<std::size_t>(blocks.axes()[0] - 'x');
    const auto second = static_cast<std::size_t>(blocks.axes()[1] - 'x');
    for (Rank rank = 0; rank < blocks.ranks(); ++rank) {
        CHECK_EQUAL(blocks.box(rank).begin[first], blocks.box(rank % columns).begin[first]);
        CHECK_EQUAL(blocks.box(rank).begin[second], blocks.box(rank / columns * columns).begin[second]);
        const bool next = rank % columns != 0;
        CHECK(!next || blocks.box(rank).begin[first] > blocks.box(rank - 1).begin[first]);
        CHECK(rank < columns || blocks.box(rank).begin[second] > blocks.box(rank - columns).begin[second]);
    }
}

TEST("what cannot be is refused with direction, parts and points") {
    for (const auto* axes : {"xx", "x", "xyz", "ab", ""}) {
        CHECK_THROWS(InputError, ({"axes"}), Blocks(Grid(4, 5, 6), {1, 1}, axes));
    }
    CHECK_THROWS(InputError, ({"7 ranks do not divide the 6 points along x", "9 ranks", "8 points along z"}),
                 Blocks(Grid(6, 100, 8), {7, 9}, "xz"));
    CHECK_THROWS(InputError, ({"ny = 0"}), Grid(4, 0, 4));
}

TEST("as many points as can be counted make a grid, and no more") {
    CHECK_EQUAL(Grid(1 << 29, 1 << 30, 2).volume(), Index{1} << 60);
    CHECK_THROWS(InputError, ({"grid: 536870912 x 1073741824 x 3 points; at most 1152921504606846976 can be counted"}),
                 Grid(1 << 29, 1 << 30, 3));
}

}  // namespace testing::layout_blocks
