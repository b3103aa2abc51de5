// Points around a part of a reduced grid.
#include "layout/row_rings.hpp"

#include <set>

#include "base/error.hpp"
#include "testing/testing.hpp"

namespace testing::row_rings {

using namespace tradewind;
using layout::RowRings;
using Points = std::vector<Index>;

TEST("a step leads along a row and to the points next to the same longitude") {
    RowRings rings({4, 8, 4});
    CHECK_EQUAL(rings.around(Points{5}, 0), Points{});
    // Place 1 of 8 is between places 0 and 1 of 4; place 1 of 4 is at place 2 of 8.
    CHECK_EQUAL(rings.around(Points{5}, 1), (Points{0, 1, 4, 6, 12, 13}));
    CHECK_EQUAL(rings.around(Points{1}, 1), (Points{0, 2, 6, 7}));
    // Rows are circles.
    CHECK_EQUAL(rings.around(Points{3}, 1), (Points{0, 2, 10, 11}));
    CHECK_EQUAL(rings.around(Points{11}, 1), (Points{0, 3, 4, 10, 12, 15}));
}

PROPERTY("points around a part are as many steps away as a search over all points finds", 60) {
    Points lengths;
    for (auto rows = draw.integer(1, 7); rows > 0; --rows) lengths.push_back(draw.integer(1, 24));
    // Links of all points, by longitude as a fraction: the last point not east of it, and the next.
    std::vector<std::set<Index>> links;
    Points first{0};
    for (const Index n : lengths) first.push_back(first.back() + n);
    for (std::size_t row = 0; row < lengths.size(); ++row) {
        for (Index place = 0; place < lengths[row]; ++place) {
            std::set<Index> near{first[row] + (place + 1) % lengths[row],
                                 first[row] + (place + lengths[row] - 1) % lengths[row]};
            for (std::size_t other = row == 0 ? 0 : row - 1; other < lengths.size() && other <= row + 1; ++other) {
                if (other == row) continue;
                Index west = 0;
                while (west + 1 < lengths[other] && (west + 1) * lengths[row] <= place * lengths[other]) ++west;
                near.insert(first[other] + west);
                near.insert(first[other] + (west + 1) % lengths[other]);
            }
            links.push_back(near);
        }
    }
    RowRings rings(lengths);
    for (int turn = 0; turn < 3; ++turn) {  // nothing is left of an earlier call
        const Index width = draw.integer(0, 5);
        std::set<Index> own;
        for (auto count = draw.integer(0, 12); count > 0; --count) own.insert(draw.integer(0, first.back() - 1));
        std::set<Index> reached = own;
        for (Index step = 0; step < width; ++step) {
            std::set<Index> next = reached;
            for (const Index point : reached)
                next.insert(links[static_cast<std::size_t>(point)].begin(),
                            links[static_cast<std::size_t>(point)].end());
            reached = next;
        }
        Points expected;
        for (const Index point : reached)
            if (!own.contains(point)) expected.push_back(point);
        CHECK_EQUAL(rings.around(Points(own.begin(), own.end()), width), expected);
    }
}

TEST("points and rows that cannot be are refused, and nothing is kept of them") {
    CHECK_THROWS(InputError, ({"a row of 0 points"}), RowRings({4, 0}));
    RowRings rings({4, 8});
    CHECK_THROWS(InputError, ({"point 12: 0..11 are allowed"}), rings.around(Points{3, 12}, 1));
    CHECK_EQUAL(rings.around(Points{2}, 1), (Points{1, 3, 8, 9}));
}

}  // namespace testing::row_rings
