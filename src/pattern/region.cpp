#include "pattern/region.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace tradewind {

namespace {

void check(const char* what, Index value, const Halo& halo) {
    if (value < 0 || value > halo.width())
        throw InputError(std::string(what) + " " + std::to_string(value) + ": 0.." + std::to_string(halo.width()) +
                         " are allowed, the halo's width");
}

}  // namespace

Box widened(const Halo& halo, Rank rank, Index by) {
    check("by", by, halo);
    Box box = halo.layout().box(rank);
    for (int axis : {X, Y}) {
        const auto [begin, end] = halo.extended(axis, halo.layout().part(rank, axis));
        box.begin[axis] = std::max(begin, box.begin[axis] - by);
        box.end[axis] = std::min(end, box.end[axis] + by);
    }
    return box;
}

Box interior(const Halo& halo, Rank rank, Index reach) {
    check("reach", reach, halo);
    Box box = halo.layout().box(rank);
    for (int axis : {X, Y}) {
        const auto [begin, end] = halo.extended(axis, halo.layout().part(rank, axis));
        if (begin < box.begin[axis]) box.begin[axis] = std::min(box.begin[axis] + reach, box.end[axis]);
        if (end > box.end[axis]) box.end[axis] = std::max(box.begin[axis], box.end[axis] - reach);
    }
    return box;
}

std::vector<Box> rim(const Halo& halo, Rank rank, Index reach) {
    const Box own = halo.layout().box(rank), inner = interior(halo, rank, reach);
    if (inner.empty()) return {own};
    std::vector<Box> boxes;
    const auto add = [&](int axis, Index begin, Index end) {
        Box box = own;
        if (axis == X) {
            box.begin[Y] = inner.begin[Y];
            box.end[Y] = inner.end[Y];
        }
        box.begin[axis] = begin;
        box.end[axis] = end;
        if (!box.empty()) boxes.push_back(box);
    };
    for (int axis : {Y, X}) {
        add(axis, own.begin[axis], inner.begin[axis]);
        add(axis, inner.end[axis], own.end[axis]);
    }
    return boxes;
}

}  // namespace tradewind
