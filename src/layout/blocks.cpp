#include "layout/blocks.hpp"

#include <limits>

#include "base/checked.hpp"
#include "base/error.hpp"

namespace tradewind::layout {

namespace {

int axis_index(char name, const std::string& axes) {
    for (int a = 0; a < 3; ++a)
        if (axis_names[a] == name) return a;
    throw InputError("axes \"" + axes + "\": two different letters of x, y, z are allowed");
}

}  // namespace

Grid::Grid(Index nx, Index ny, Index nz) : points{nx, ny, nz} {
    for (int a = 0; a < 3; ++a)
        if (points[a] < 1 || points[a] > std::numeric_limits<std::int32_t>::max())
            throw InputError(std::string("grid: n") + axis_names[a] + " = " + std::to_string(points[a]) +
                             " is not a number of points (1..2147483647 are allowed)");
    checked_product({nx, ny, nz}, max_points, "grid", "points");
}

Blocks::Blocks(Grid grid, std::array<Index, 2> split, std::string axes)
    : grid_(grid), split_(split), axes_(std::move(axes)) {
    if (axes_.size() != 2 || axes_[0] == axes_[1])
        throw InputError("axes \"" + axes_ + "\": two different letters of x, y, z are allowed");
    for (int a = 0; a < 3; ++a) division_[a] = Division(grid_.points[a], 1);
    std::string problems;
    for (int c = 0; c < 2; ++c) {
        const int axis = axis_index(axes_[c], axes_);
        const Index points = grid_.points[axis];
        if (split_[c] < 1 || split_[c] > points) {
            if (!problems.empty()) problems += "; ";
            problems += "split " + std::to_string(split_[0]) + "x" + std::to_string(split_[1]) + ": " +
                        std::to_string(split_[c]) + " ranks do not divide the " + std::to_string(points) +
                        " points along " + axis_names[axis] + " among them (1.." + std::to_string(points) +
                        " are allowed)";
            continue;
        }
        division_[axis] = Division(points, split_[c]);
        coordinate_of_[axis] = c;
    }
    if (!problems.empty()) throw InputError(problems);
    if (split_[0] > std::numeric_limits<Rank>::max() / split_[1])
        throw InputError("split " + std::to_string(split_[0]) + "x" + std::to_string(split_[1]) +
                         ": more than 2147483647 ranks");
    by_row_ = Divider(static_cast<std::uint32_t>(split_[0]));
}

std::string Blocks::describe() const {
    const auto& [nx, ny, nz] = grid_.points;
    return std::to_string(nx) + " x " + std::to_string(ny) + " x " + std::to_string(nz) + " points, split " +
           std::to_string(split_[0]) + " x " + std::to_string(split_[1]) + " along " + axes_;
}

Box Blocks::box(Rank rank) const {
    Box box;
    for (int a = 0; a < 3; ++a) {
        const Index p = part(rank, a);
        box.begin[a] = division_[a].begin(p);
        box.end[a] = division_[a].end(p);
    }
    return box;
}

Rank Blocks::owner(const std::array<Index, 3>& point) const {
    std::array<Index, 2> coordinates{0, 0};
    for (int a = 0; a < 3; ++a)
        if (const int c = coordinate_of_[a]; c >= 0) coordinates[c] = division_[a].owner(point[a]);
    return rank_at(coordinates);
}

std::string pencil_axes(char along) {
    switch (along) {
        case 'x': return "zy";
        case 'y': return "zx";
        case 'z': return "xy";
        default: throw InputError(std::string("pencils along '") + along + "': x, y or z are allowed");
    }
}

}  // namespace tradewind::layout
