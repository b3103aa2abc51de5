#include "layout/patch.hpp"

#include <algorithm>

namespace tradewind::layout {

namespace {

std::array<std::vector<Run>, 3> runs_of(const Box& box) {
    std::array<std::vector<Run>, 3> runs;
    for (std::size_t a = 0; a < 3; ++a) runs[a] = {{box.begin[a], box.end[a]}};
    return runs;
}

}  // namespace

Patch::Patch(const Box& box) : Patch(runs_of(box)) {}

Patch::Patch(const std::array<std::vector<Run>, 3>& runs) {
    for (std::size_t a = 0; a < 3; ++a)
        for (const Run& run : runs[a])
            if (run.length() > 0) {
                runs_[a].push_back({run, widths_[a]});
                widths_[a] += run.length();
            }
}

std::vector<Box> Patch::boxes() const {
    std::vector<Box> boxes;
    for (const Placed& z : runs_[Z])
        for (const Placed& y : runs_[Y])
            for (const Placed& x : runs_[X])
                boxes.push_back({{x.run.begin, y.run.begin, z.run.begin}, {x.run.end, y.run.end, z.run.end}});
    return boxes;
}

const Patch::Placed* Patch::find(int axis, Index point) const {
    const auto& runs = runs_[static_cast<std::size_t>(axis)];
    auto at = std::upper_bound(runs.begin(), runs.end(), point,
                               [](Index wanted, const Placed& placed) { return wanted < placed.run.begin; });
    if (at == runs.begin() || point >= (--at)->run.end) return nullptr;
    return &*at;
}

bool Patch::contains(const Box& box) const {
    for (int a = 0; a < 3; ++a)
        if (const Placed* found = find(a, box.begin[a]); !found || box.end[a] > found->run.end) return false;
    return true;
}

Index Patch::place(int axis, Index point) const {
    const Placed* found = find(axis, point);
    return found->before + point - found->run.begin;
}

}  // namespace tradewind::layout
