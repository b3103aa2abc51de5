#include "pattern/halo.hpp"

#include "base/checked.hpp"
#include "base/error.hpp"

namespace tradewind::pattern {

Halo::Halo(layout::Blocks layout, Index width, std::array<bool, 2> periodic)
    : layout_(std::move(layout)), width_(width), periodic_(periodic) {
    if (width < 0) throw InputError("width " + std::to_string(width) + ": a halo is 0 or more points wide");
    if (width > (1 << 24)) throw InputError("width " + std::to_string(width) + ": at most 16777216 points are allowed");
    const auto widest = [&](int axis) { return layout_.division(axis).widest(); };
    storage_ = checked_product(
        {widest(layout::X) + 2 * width, widest(layout::Y) + 2 * width, widest(layout::Z), layout_.ranks()}, max_points,
        "arrays of a halo of width " + std::to_string(width), "points");
}

std::string Halo::describe() const {
    std::string periods;
    if (periodic_[layout::X]) periods += "x";
    if (periodic_[layout::Y]) periods += "y";
    return "halo of width " + std::to_string(width_) + (periods.empty() ? "" : ", periodic in " + periods);
}

std::array<Index, 3> Halo::period() const {
    const auto& n = layout_.grid().points;
    return {periodic_[layout::X] ? n[layout::X] : 0, periodic_[layout::Y] ? n[layout::Y] : 0, 0};
}

layout::Box Halo::target_box(Rank rank) const {
    layout::Box box = layout_.box(rank);
    for (int a : {layout::X, layout::Y}) {
        box.begin[a] -= width_;
        box.end[a] += width_;
    }
    return box;
}

Parameters Halo::parameters() const {
    return {{"grid", listed(layout_.grid().points)},
            {"split", listed(layout_.split())},
            {"width", width_},
            {"periodic", std::string(periodic(layout::X) ? "x" : "") + (periodic(layout::Y) ? "y" : "")}};
}

std::array<Index, 2> Halo::extended(int axis, Index part) const {
    const layout::Division& d = layout_.division(axis);
    Index begin = d.begin_unwrapped(part) - width_, end = d.end_unwrapped(part) + width_;
    if (!periodic(axis)) {
        begin = std::max<Index>(begin, 0);
        end = std::min(end, d.points());
    }
    return {begin, end};
}

std::array<Index, 2> Halo::reach(int axis, Index part) const {
    const layout::Division& d = layout_.division(axis);
    const auto [begin, end] = extended(axis, part);
    return {d.owner_unwrapped(begin), d.owner_unwrapped(end - 1)};
}

std::array<Index, 2> Halo::overlap(int axis, Index part, Index other) const {
    const layout::Division& d = layout_.division(axis);
    const auto [begin, end] = extended(axis, part);
    return {std::max(begin, d.begin_unwrapped(other)), std::min(end, d.end_unwrapped(other))};
}

std::vector<layout::Box> Halo::expected(Rank rank) const {
    const layout::Box own = layout_.box(rank);
    const auto x = extended(layout::X, layout_.part(rank, layout::X)),
               y = extended(layout::Y, layout_.part(rank, layout::Y));
    std::vector<layout::Box> boxes;
    const auto add = [&](Index x0, Index x1, Index y0, Index y1) {
        const layout::Box box{{x0, y0, own.begin[layout::Z]}, {x1, y1, own.end[layout::Z]}};
        if (!box.empty()) boxes.push_back(box);
    };
    add(x[0], own.begin[layout::X], own.begin[layout::Y], own.end[layout::Y]);
    add(own.end[layout::X], x[1], own.begin[layout::Y], own.end[layout::Y]);
    add(x[0], x[1], y[0], own.begin[layout::Y]);
    add(x[0], x[1], own.end[layout::Y], y[1]);
    return boxes;
}

}  // namespace tradewind::pattern
