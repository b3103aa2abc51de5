#include "verify/cover.hpp"

#include <algorithm>

namespace tradewind::verify {

namespace {

struct Corner {
    std::array<Index, 3> point;
    int sign;
};

void add_corners(std::vector<Corner>& corners, const layout::Box& box, int sign) {
    if (box.empty()) return;
    for (int c = 0; c < 8; ++c) {
        Corner corner{{}, sign};
        for (int a = 0; a < 3; ++a) {
            const bool at_end = (c >> a) & 1;
            corner.point[a] = at_end ? box.end[a] : box.begin[a];
            if (at_end) corner.sign = -corner.sign;
        }
        corners.push_back(corner);
    }
}

int count_containing(const std::vector<layout::Box>& boxes, const std::array<Index, 3>& p) {
    return static_cast<int>(std::count_if(boxes.begin(), boxes.end(), [&](const layout::Box& b) {
        return p[layout::X] >= b.begin[layout::X] && p[layout::X] < b.end[layout::X] &&
               p[layout::Y] >= b.begin[layout::Y] && p[layout::Y] < b.end[layout::Y] &&
               p[layout::Z] >= b.begin[layout::Z] && p[layout::Z] < b.end[layout::Z];
    }));
}

}  // namespace

// The difference along x, y and z of a box's indicator function is +-1 at its eight corners and 0 elsewhere, and a
// function of bounded support is known from that difference by summing it up again. So two sums of indicator functions
// are equal exactly when their signed corners cancel. If not: at the first corner left over in (x, y, z) order, all
// that is summed up to its value lies before it in that order and has cancelled, so the point there is a miscount.
std::optional<Miscount> find_miscount(const std::vector<layout::Box>& boxes, const std::vector<layout::Box>& wanted) {
    std::vector<Corner> corners;
    corners.reserve(8 * (boxes.size() + wanted.size()));
    for (const layout::Box& box : boxes) add_corners(corners, box, 1);
    for (const layout::Box& box : wanted) add_corners(corners, box, -1);
    std::sort(corners.begin(), corners.end(), [](const Corner& a, const Corner& b) { return a.point < b.point; });
    for (auto c = corners.begin(); c != corners.end();) {
        int sum = 0;
        const auto point = c->point;
        for (; c != corners.end() && c->point == point; ++c) sum += c->sign;
        if (sum != 0) return Miscount{point, count_containing(boxes, point), count_containing(wanted, point)};
    }
    return std::nullopt;
}

}  // namespace tradewind::verify
