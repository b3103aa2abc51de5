#include "layout/product.hpp"

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "testing/drawing.hpp"

namespace testing::layout_product {

using namespace tradewind;
using layout::Grid, layout::Parts, layout::Product;

Product draw_any(Draw& draw) {
    const auto points = draw_points(draw, 9);
    return draw_product(draw, points, static_cast<Rank>(draw.integer(1, 12)));
}

std::size_t place(const Grid& grid, const Point& p) {
    return static_cast<std::size_t>(p[0] + grid.points[0] * (p[1] + grid.points[1] * p[2]));
}

PROPERTY("every point has one owner, who is found by its coordinates, of lines as well", 1000) {
    auto layout = draw_any(draw);
    const auto first = layout.first();
    if (draw.boolean()) layout = layout.in_lines(draw_lines(draw, layout.grid().points));
    const auto owners = owners_of(layout);
    CHECK(*std::min_element(owners.begin(), owners.end()) >= first);
    for_points({{0, 0, 0}, layout.grid().points},
               [&](const Point& p) { CHECK_EQUAL(layout.owner(p), owners[place(layout.grid(), p)]); });
}

PROPERTY("the array of a rank holds its points, as many along each direction as there are, in their order", 1000) {
    const auto layout = draw_any(draw);
    const auto owners = owners_of(layout);
    for (Rank rank = 0; rank < layout.ranks(); ++rank) {
        std::array<std::set<Index>, 3> along;
        for_points({{0, 0, 0}, layout.grid().points}, [&](const Point& p) {
            if (owners[place(layout.grid(), p)] != rank) return;
            for (std::size_t axis = 0; axis < 3; ++axis) along[axis].insert(p[axis]);
        });
        const auto patch = layout.patch(rank);
        if (along[0].empty()) {
            CHECK_EQUAL(patch.width(0) * patch.width(1) * patch.width(2), 0);
            continue;
        }
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const auto a = static_cast<int>(axis);
            CHECK_EQUAL(patch.width(a), static_cast<Index>(along[axis].size()));
            CHECK_EQUAL(patch.first(a), *along[axis].begin());
            Index before = 0;
            for (const auto point : along[axis]) CHECK_EQUAL(patch.place(a, point), before++);
        }
    }
}

PROPERTY("blocks are a case of them", 500) {
    const auto blocks = draw_blocks(draw, draw_points(draw), 12);
    const Product product(blocks);
    CHECK_EQUAL(owners_of(product), owners_of(blocks));
    for (Rank rank = 0; rank < blocks.ranks(); ++rank) {
        CHECK(product.boxes(rank) == std::vector{blocks.box(rank)});
        for (int axis : {0, 1, 2}) CHECK_EQUAL(product.patch(rank).width(axis), blocks.box(rank).width(axis));
    }
}

PROPERTY("rows one after another are the same points", 500) {
    const auto layout = draw_any(draw);
    if (layout.parts(0).parts() > 1) {
        CHECK_THROWS(InputError, ({"x is divided among"}), layout.in_one_row());
        return;
    }
    const auto row = layout.in_one_row();
    const auto& n = layout.grid().points;
    CHECK(row.grid() == Grid(n[0] * n[1], 1, n[2]));
    CHECK_EQUAL(owners_of(row), owners_of(layout));  // x fastest, then y
}

PROPERTY("a layout can be placed among other ranks", 500) {
    const auto layout = draw_any(draw);
    const auto placed = layout.placed(layout.first() + 2, layout.ranks() + 3);
    auto owners = owners_of(layout);
    for (auto& owner : owners) owner += 2;
    CHECK_EQUAL(owners_of(placed), owners);
    CHECK(!placed.part_of(0) && placed.boxes(0).empty());
    CHECK_EQUAL(placed.patch(0).width(0), 0);
}

PROPERTY("the points of lines follow each other, line by line", 500) {
    const auto points = draw_points(draw, 9);
    const auto layout = draw_product(draw, points, static_cast<Rank>(draw.integer(1, 12)));
    const auto lines = draw_lines(draw, points);
    const auto in_lines = layout.in_lines(lines);
    std::vector<Rank> expected;
    const auto owners = owners_of(layout);
    for (Index line = 0; line < points[2]; ++line) {
        for (Index y = lines.begin(line); y < lines.end(line); ++y) {
            for (Index x = 0; x < points[0]; ++x) expected.push_back(owners[place(layout.grid(), {x, y, line})]);
        }
    }
    CHECK(in_lines.grid() == Grid(points[0], 1, lines.points()));
    CHECK_EQUAL(owners_of(in_lines), expected);
    CHECK_THROWS(InputError, ({"lie in lines already"}), in_lines.in_lines(layout::Lines({0}, {1})));
}

TEST("parts that hold nothing have no owner and no points") {
    const auto parts = Parts::cut({0, 0, 4, 4, 6});
    std::vector<Index> widths;
    for (Index part = 0; part < 4; ++part) widths.push_back(parts.width(part));
    CHECK_EQUAL(widths, std::vector<Index>{0, 4, 0, 2});
    CHECK_EQUAL(parts.points(), 6);
    CHECK_EQUAL(parts.widest(), 4);
}

Product strange(const Grid& grid, std::array<int, 3> coordinates, Rank ranks) {
    return Product(grid, {Parts::even(5, 2), Parts::even(1, 1), Parts::even(1, 1)}, coordinates, 0, ranks, "strange");
}

TEST("what is no layout is refused") {
    CHECK_THROWS(InputError, ({"0 parts of a direction: 1 or more are allowed"}), Parts::even(5, 0));
    CHECK_THROWS(InputError, ({"1 cuts: 2 or more are allowed"}), Parts::cut({0}));
    CHECK_THROWS(InputError, ({"cut 0 is 1: 0 is allowed"}), Parts::cut({1, 5}));
    CHECK_THROWS(InputError, ({"cut 2 is 4, less than 5 before it: ascending cuts are allowed"}),
                 Parts::cut({0, 5, 4}));
    CHECK_THROWS(InputError, ({"point 1 belongs to part 2: 0..1 are allowed"}), Parts::dealt({0, 2}, 2));
    const Grid five(5, 1, 1);
    CHECK_THROWS(InputError, ({"x has 5 points in the layout and 6 in the grid"}),
                 strange(Grid(6, 1, 1), {0, -1, -1}, 2));
    CHECK_THROWS(InputError, ({"x has 2 parts and is divided by coordinate -1"}), strange(five, {-1, -1, -1}, 2));
    CHECK_THROWS(InputError, ({"y and x are divided by one coordinate: two are allowed"}),
                 strange(five, {0, 0, -1}, 2));
    CHECK_THROWS(InputError, ({"2 x 1 ranks from rank 0 on are more than the 1 that there are"}),
                 strange(five, {0, -1, -1}, 1));
}

TEST("lines that cannot be are named") {
    const Product layout(layout::Blocks(Grid(2, 3, 4), {2, 1}, "zx"));
    const auto in_lines = [&](std::vector<Index> begins, std::vector<Index> ends) {
        return layout.in_lines({std::move(begins), std::move(ends)});
    };
    CHECK_THROWS(InputError, ({"2 lines, and z has 4 points"}), in_lines({0, 0}, {1, 1}));
    CHECK_THROWS(InputError, ({"4 lines begin and 3 end"}), in_lines({0, 0, 0, 0}, {1, 1, 1}));
    CHECK_THROWS(InputError, ({"a line ends at 4, and y has 3 points"}), in_lines({0, 0, 0, 0}, {1, 1, 4, 1}));
    CHECK_THROWS(InputError, ({"line 1 has the places from 2 to before 1"}), in_lines({0, 2, 0, 0}, {1, 1, 1, 1}));
    CHECK_THROWS(InputError, ({"line 0 has the places from -1 to before 1"}), in_lines({-1, 0, 0, 0}, {1, 1, 1, 1}));
    CHECK_THROWS(InputError, ({"4 lines have no points"}), in_lines({1, 1, 1, 1}, {1, 1, 1, 1}));
}

}  // namespace testing::layout_product
