// A halo's expected result and its regions, cell by cell.
#include "pattern/halo.hpp"

#include "base/error.hpp"
#include "pattern/region.hpp"
#include "testing/drawing.hpp"

namespace testing::pattern_halo {

using namespace tradewind;
using layout::Blocks, layout::Box, layout::Grid, pattern::Halo;

bool contains(const Box& box, const Point& p) {
    return box.contains({p, {p[0] + 1, p[1] + 1, p[2] + 1}});
}

// Whether a cell is a point of the (periodic) grid.
bool exists(const Halo& halo, const Point& p) {
    for (int axis : {0, 1}) {
        const auto a = static_cast<std::size_t>(axis);
        if (!halo.periodic(axis) && (p[a] < 0 || p[a] >= halo.layout().grid().points[a])) return false;
    }
    return true;
}

// A box and `by` more on all sides in x and y.
Box grown(Box box, Index by) {
    for (std::size_t axis : {0, 1}) box.begin[axis] -= by, box.end[axis] += by;
    return box;
}

PROPERTY("the expected result are the cells around the own points that the grid has", 300) {
    const auto halo = draw_halo(draw, 12);
    const auto rank = static_cast<Rank>(draw.integer(0, halo->ranks() - 1));
    const auto own = halo->layout().box(rank), array = grown(own, halo->width());
    CHECK(halo->source_box(rank) == array && halo->target_box(rank) == array && halo->in_place());
    std::map<Point, int> wanted;
    for_points(array, [&](const Point& p) {
        if (exists(*halo, p) && !contains(own, p)) wanted[p] = 1;
    });
    CHECK(count_points(halo->expected(rank)) == wanted);
}

// A cell is waited for if the exchange fills it; an own point is of the interior if no cell of its stencil is.
PROPERTY("interior, rim and widened box are those of the stencils of all points", 500) {
    const auto halo = draw_halo(draw, 40, 6);
    const auto rank = static_cast<Rank>(draw.integer(0, halo->ranks() - 1));
    const auto reach = draw.integer(0, halo->width());
    const auto own = halo->layout().box(rank);
    const auto interior = pattern::interior(*halo, rank, reach), widened = pattern::widened(*halo, rank, reach);
    const auto rim = pattern::rim(*halo, rank, reach);
    for (const auto& box : rim) CHECK(!box.empty());
    if (interior.empty()) CHECK(rim == std::vector{own});  // one piece of work
    auto regions = rim;
    regions.push_back(interior);
    CHECK(count_points(regions) == count_points({own}));
    for_points(own, [&](const Point& p) {
        bool waits = false;
        for_points(grown({p, {p[0] + 1, p[1] + 1, p[2] + 1}}, reach),
                   [&](const Point& q) { waits = waits || (exists(*halo, q) && !contains(own, q)); });
        CHECK_EQUAL(contains(interior, p), !waits);
    });
    for_points(grown(own, halo->width()), [&](const Point& p) {
        CHECK_EQUAL(contains(widened, p), contains(grown(own, reach), p) && exists(*halo, p));
    });
    for (const auto value : {Index{-1}, halo->width() + 1}) {
        const auto words =
            std::to_string(value) + ": 0.." + std::to_string(halo->width()) + " are allowed, the halo's width";
        CHECK_THROWS(InputError, {words}, pattern::interior(*halo, rank, value));
        CHECK_THROWS(InputError, {words}, pattern::rim(*halo, rank, value));
        CHECK_THROWS(InputError, {words}, pattern::widened(*halo, rank, value));
    }
}

TEST("where the grid ends nothing is waited for") {
    const Halo halo(Blocks(Grid(12, 12, 1), {2, 1}), 2, {false, false});
    CHECK(pattern::interior(halo, 0, 2) == Box({{0, 0, 0}, {4, 12, 1}}));
    CHECK(pattern::rim(halo, 0, 2) == std::vector<Box>({{{4, 0, 0}, {6, 12, 1}}}));
    CHECK(pattern::widened(halo, 0, 1) == Box({{0, 0, 0}, {7, 12, 1}}));
}

TEST("widths that cannot be, and arrays of too many points, are refused") {
    const Blocks blocks(Grid(64, 64, 2147483647), {64, 64});
    CHECK_THROWS(InputError, ({"width -1: a halo is 0 or more points wide"}), Halo(blocks, -1, {false, false}));
    CHECK_THROWS(InputError, ({"at most 16777216 points are allowed"}), Halo(blocks, (1 << 24) + 1, {false, false}));
    Halo(blocks, 180, {false, false});
    CHECK_THROWS(InputError, ({"arrays of a halo of width 181: 363 x 363 x 2147483647 x 4096 points"}),
                 Halo(blocks, 181, {false, false}));
}

}  // namespace testing::pattern_halo
