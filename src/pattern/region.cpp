#include "pattern/region.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace tradewind::pattern {

namespace {

void check(const char* what, Index value, const Halo& halo) {
    if (value < 0 || value > halo.width())
        throw InputError(std::string(what) + " " + std::to_string(value) + ": 0.." + std::to_string(halo.width()) +
                         " are allowed, the halo's width");
}

}  // namespace

layout::Box widened(const Halo& halo, Rank rank, Index by) {
    check("by", by, halo);
    layout::Box box = halo.layout().box(rank);
    for (int axis : {layout::X, layout::Y}) {
        const auto [begin, end] = halo.extended(axis, halo.layout().part(rank, axis));
        box.begin[axis] = std::max(begin, box.begin[axis] - by);
        box.end[axis] = std::min(end, box.end[axis] + by);
    }
    return box;
}

layout::Box interior(const Halo& halo, Rank rank, Index reach) {
    check("reach", reach, halo);
    layout::Box box = halo.layout().box(rank);
    for (int axis : {layout::X, layout::Y}) {
        const auto [begin, end] = halo.extended(axis, halo.layout().part(rank, axis));
        if (begin < box.begin[axis]) box.begin[axis] = std::min(box.begin[axis] + reach, box.end[axis]);
        if (end > box.end[axis]) box.end[axis] = std::max(box.begin[axis], box.end[axis] - reach);
    }
    return box;
}

std::vector<layout::Box> rim(const Halo& halo, Rank rank, Index reach) {
    const layout::Box own = halo.layout().box(rank), inner = interior(halo, rank, reach);
    if (inner.empty()) return {own};
    std::vector<layout::Box> boxes;
    const auto add = [&](int axis, Index begin, Index end) {
        layout::Box box = own;
        if (axis == layout::X) {
            box.begin[layout::Y] = inner.begin[layout::Y];
            box.end[layout::Y] = inner.end[layout::Y];
        }
        box.begin[axis] = begin;
        box.end[axis] = end;
        if (!box.empty()) boxes.push_back(box);
    };
    for (int axis : {layout::Y, layout::X}) {
        add(axis, own.begin[axis], inner.begin[axis]);
        add(axis, inner.end[axis], own.end[axis]);
    }
    return boxes;
}

}  // namespace tradewind::pattern
