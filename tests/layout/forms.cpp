#include "layout/forms.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "testing/drawing.hpp"

namespace testing::layout_forms {

using namespace tradewind;
using layout::Grid;

std::vector<Index> draw_rows(Draw& draw) {
    std::vector<Index> rows;
    for (Index left = draw.integer(1, 12); left > 0; --left) rows.push_back(draw.integer(1, 12));
    return rows;
}

PROPERTY("shared bands have equal numbers of points, in the order of the rows", 500) {
    const auto rows = draw_rows(draw);
    const auto bands = static_cast<Rank>(draw.integer(1, 6)), sets = static_cast<Rank>(draw.integer(1, 3));
    const auto layout = layout::bands(rows, 3, bands * sets, sets, true);
    Index largest = 0, smallest = layout.grid().points[0];
    for (Rank band = 0; band < bands; ++band) {
        largest = std::max(largest, layout.patch(band).width(0));
        smallest = std::min(smallest, layout.patch(band).width(0));
    }
    CHECK_EQUAL(layout.grid().points[0], std::accumulate(rows.begin(), rows.end(), Index{0}));
    CHECK(largest - smallest <= 1);
    const auto owners = owners_of(layout);
    CHECK(std::is_sorted(owners.begin(), owners.begin() + layout.grid().points[0]));
}

PROPERTY("bands of whole rows cut no row, each cut the one nearest to its share of the points", 500) {
    const auto rows = draw_rows(draw);
    const auto bands = static_cast<Rank>(draw.integer(1, 6));
    const auto layout = layout::bands(rows, 1, bands, 1, false);
    std::vector<Index> ends{0};
    for (const auto row : rows) ends.push_back(ends.back() + row);
    Index cut = 0;
    for (Rank band = 0; band + 1 < bands; ++band) {
        cut += layout.patch(band).width(0);
        CHECK(std::find(ends.begin(), ends.end(), cut) != ends.end());
        const double share = static_cast<double>(ends.back()) * (band + 1) / bands;
        for (const auto end : ends) {
            CHECK(std::abs(static_cast<double>(cut) - share) <= std::abs(static_cast<double>(end) - share) + 1e-9);
        }
    }
}

TEST("wavenumbers lie in lists and sets of levels, whole fields on the last ranks one by one") {
    const auto waves = layout::wavenumbers(Grid(5, 4, 5), {0, 1, 1, 0, 0}, 2, 2);
    CHECK(waves.boxes(0) == std::vector<layout::Box>({{{0, 0, 0}, {1, 4, 3}}, {{3, 0, 0}, {5, 4, 3}}}));
    CHECK_EQUAL(waves.owner({2, 0, 4}), 3);
    const auto whole = layout::whole(Grid(1, 1, 7), 6, 2);
    CHECK_EQUAL(owners_of(whole), std::vector<Rank>{4, 5, 4, 5, 4, 5, 4});
}

PROPERTY("lines divide what two of their three directions say, the first of them first", 500) {
    const auto points = draw_points(draw, 6);
    layout::LineParts parts;
    const auto divided = draw.integer(0, 5);  // fields, places, lines or two of them
    const bool fields = divided == 0 || divided >= 4, places = divided == 1 || divided == 3 || divided == 4,
               lists = divided == 2 || divided == 3 || divided == 5;
    if (fields) parts.field_sets = draw.integer(1, points[0]);
    if (places) parts.cuts = {0, draw.integer(0, points[1]), points[1]};
    if (lists) {
        parts.lists = draw.integer(1, 3);
        for (Index line = 0; line < points[2]; ++line) {
            parts.owners.push_back(static_cast<std::int32_t>(draw.integer(0, parts.lists - 1)));
        }
    }
    const auto lines = draw_lines(draw, points);
    const auto layout = layout::lines(Grid(points[0], points[1], points[2]), lines.begins(), lines.ends(), parts);
    const auto of_fields = layout::Parts::even(points[0], parts.field_sets);
    std::vector<Rank> expected;
    for (Index line = 0; line < points[2]; ++line) {
        for (Index y = lines.begin(line); y < lines.end(line); ++y) {
            for (Index x = 0; x < points[0]; ++x) {
                Index rank = 0, stride = 1;
                const auto add = [&](Index part, Index many) { rank += part * stride, stride *= many; };
                if (lists) add(parts.owners[static_cast<std::size_t>(line)], parts.lists);
                if (places) add(y >= parts.cuts[1], 2);
                if (fields) add(of_fields.owner(x), parts.field_sets);
                expected.push_back(static_cast<Rank>(rank));
            }
        }
    }
    CHECK_EQUAL(owners_of(layout), expected);
}

TEST("what cannot be is refused") {
    CHECK_THROWS(InputError, ({"bands of 0 rows"}), layout::bands({}, 1, 1, 1, true));
    CHECK_THROWS(InputError, ({"row 1 has 0 points: 1 or more are allowed"}), layout::bands({4, 0}, 1, 1, 1, true));
    CHECK_THROWS(InputError, ({"2 sets of levels do not divide the ranks evenly"}),
                 layout::bands({4, 4}, 1, 5, 2, true));
    CHECK_THROWS(InputError, ({"whole fields on 3 servers: 1..2 are allowed among 2 ranks"}),
                 layout::whole(Grid(3, 1, 1), 2, 3));
    CHECK_THROWS(InputError, ({"fields, places and numbers are all divided: two are allowed"}),
                 layout::lines(Grid(2, 2, 2), {0, 0}, {2, 2}, {2, {0, 1, 2}, {0, 1}, 2}));
    CHECK_THROWS(InputError, ({"cuts from 0 to 2"}), layout::lines(Grid(2, 2, 2), {0, 0}, {2, 2}, {1, {0, 1}, {}, 1}));
    CHECK_THROWS(InputError, ({"1 owners of 2 lines"}), layout::lines(Grid(2, 2, 2), {0, 0}, {2, 2}, {1, {}, {0}, 2}));
}

}  // namespace testing::layout_forms
