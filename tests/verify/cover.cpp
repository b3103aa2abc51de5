#include "verify/cover.hpp"

#include <algorithm>

#include "testing/drawing.hpp"

namespace testing::verify_cover {

using namespace tradewind;
using layout::Box, verify::find_miscount;

Box draw_box(Draw& draw) {
    Box box;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        box.begin[axis] = draw.integer(-3, 4);
        box.end[axis] = draw.integer(box.begin[axis], 4);
    }
    return box;
}

std::vector<Box> draw_boxes(Draw& draw) {
    std::vector<Box> boxes;
    for (Index left = draw.integer(0, 5); left > 0; --left) boxes.push_back(draw_box(draw));
    return boxes;
}

PROPERTY("a miscount is found exactly where counting points finds one", 20000) {
    const auto some = draw_boxes(draw), others = draw_boxes(draw);
    auto covered = count_points(some), wanted = count_points(others);
    const auto found = find_miscount(some, others);
    CHECK_EQUAL(found.has_value(), covered != wanted);
    if (!found) return;
    CHECK_EQUAL(found->covered, covered[found->point]);
    CHECK_EQUAL(found->wanted, wanted[found->point]);
    CHECK(found->covered != found->wanted);
}

PROPERTY("the pieces of a box cover it, and without one of them they do not", 5000) {
    std::vector<Box> pieces{draw_box(draw)};
    const auto whole = pieces;
    for (Index left = draw.integer(0, 5); left > 0; --left) {
        const auto axis = static_cast<std::size_t>(draw.integer(0, 2));
        const auto at = draw.integer(-3, 4);
        for (std::size_t i = pieces.size(); i-- > 0;) {
            auto& first = pieces[i];
            auto second = first;
            first.end[axis] = second.begin[axis] = std::clamp(at, first.begin[axis], first.end[axis]);
            pieces.push_back(second);
        }
    }
    pieces = draw.shuffled(pieces);
    CHECK(!find_miscount(pieces, whole));
    const bool had_points = !pieces.back().empty();
    pieces.pop_back();
    CHECK_EQUAL(find_miscount(pieces, whole).has_value(), had_points);
}

TEST("boxes of any volume are compared") {
    const Index n = Index{1} << 40;
    const auto found =
        find_miscount({{{0, 0, 0}, {n, n, n - 1}}, {{0, 0, n - 1}, {n, n - 1, n}}, {{0, n - 1, n - 1}, {n - 1, n, n}}},
                      {{{0, 0, 0}, {n, n, n}}});
    CHECK(found);
    CHECK_EQUAL(found->point, Point{n - 1, n - 1, n - 1});
    CHECK_EQUAL(found->covered, 0);
    CHECK_EQUAL(found->wanted, 1);
}

}  // namespace testing::verify_cover
