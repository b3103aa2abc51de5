#include "pattern/gather_scatter_brick.hpp"

#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "base/error.hpp"

namespace tradewind::pattern {

namespace {

std::string times(const std::array<Index, 3>& n) {
    return std::to_string(n[0]) + "x" + std::to_string(n[1]) + "x" + std::to_string(n[2]);
}

}  // namespace

Brick::Brick(std::array<Index, 3> elements, Index points, std::array<Index, 3> split, std::array<bool, 3> periodic)
    : elements_(elements), split_(split), points_(points), periodic_(periodic) {
    if (points < 2)
        throw InputError(std::to_string(points) + " points per direction of an element: 2 or more are allowed");
    for (int a = 0; a < 3; ++a)
        if (elements[a] < 1 || split[a] < 1)
            throw InputError("a brick of " + times(elements) + " elements on each of " + times(split) +
                             " ranks: 1 or more along each direction are allowed");
    checked_product({split[0], split[1], split[2]}, std::numeric_limits<Rank>::max(), "a brick of ranks", "ranks");
    checked_product({elements[0], elements[1], elements[2], points, points, points, split[0], split[1], split[2]},
                    max_points, "a brick of elements", "values");
}

Index Brick::values() const {
    return elements_[0] * elements_[1] * elements_[2] * points_ * points_ * points_;
}

Index Brick::width(int axis) const {
    return elements_[axis] * (points_ - 1) + (periodic_[axis] && split_[axis] == 1 ? 0 : 1);
}

Index Brick::extent(int axis) const {
    return split_[axis] * elements_[axis] * (points_ - 1) + (periodic_[axis] ? 0 : 1);
}

// All points but those that lie on no plane between ranks.
Index Brick::shared() const {
    Index all = 1, inner = 1;
    for (int a = 0; a < 3; ++a) {
        all *= extent(a);
        const Index planes = split_[a] == 1 ? 0 : split_[a] - (periodic_[a] ? 0 : 1);
        inner *= extent(a) - planes;
    }
    return all - inner;
}

std::array<Index, 3> Brick::place_of(Rank rank) const {
    return {rank % split_[0], rank / split_[0] % split_[1], rank / split_[0] / split_[1]};
}

bool Brick::has_neighbor(Rank rank, int axis, int side) const {
    if (split_[axis] == 1) return false;
    if (periodic_[axis]) return true;
    const Index place = place_of(rank)[axis] + side;
    return place >= 0 && place < split_[axis];
}

Rank Brick::neighbor(Rank rank, const Side& side) const {
    std::array<Index, 3> place = place_of(rank);
    for (int a = 0; a < 3; ++a) {
        if (side[a] == 0) continue;
        if (!has_neighbor(rank, a, side[a])) return -1;
        place[a] = (place[a] + side[a] + split_[a]) % split_[a];
    }
    return static_cast<Rank>(place[0] + split_[0] * (place[1] + split_[1] * place[2]));
}

std::array<Rank, Brick::sides> Brick::neighbors(Rank rank) const {
    const std::array<Index, 3> place = place_of(rank);
    std::array<std::array<Index, 3>, 3> along{};  // [axis][side + 1], -1: none
    for (int a = 0; a < 3; ++a) {
        along[a][1] = place[a];
        for (const int side : {-1, 1}) {
            Index& at = along[a][side + 1];
            at = place[a] + side;
            if (split_[a] == 1 || (!periodic_[a] && (at < 0 || at >= split_[a])))
                at = -1;
            else
                at = (at + split_[a]) % split_[a];
        }
    }
    std::array<Rank, sides> found{};
    for (int j = 0; j < sides; ++j) {
        const Side to = side(j);
        const Index x = along[0][to[0] + 1], y = along[1][to[1] + 1], z = along[2][to[2] + 1];
        found[j] = x < 0 || y < 0 || z < 0 ? -1 : static_cast<Rank>(x + split_[0] * (y + split_[1] * z));
    }
    return found;
}

unsigned Brick::planes(Rank rank) const {
    const std::array<Index, 3> place = place_of(rank);
    unsigned planes = 0;
    for (int a = 0; a < 3; ++a) {
        if (split_[a] == 1) continue;
        planes |= (periodic_[a] || place[a] > 0 ? 1u : 0u) << (2 * a);
        planes |= (periodic_[a] || place[a] + 1 < split_[a] ? 1u : 0u) << (2 * a + 1);
    }
    return planes;
}

Index Brick::interior(Rank rank, int axis) const {
    return width(axis) - has_neighbor(rank, axis, -1) - has_neighbor(rank, axis, 1);
}

Index Brick::cells_on(Rank rank, const Side& side) const {
    Index cells = 1;
    for (int a = 0; a < 3; ++a)
        cells *= side[a] == 0 ? interior(rank, a) : static_cast<Index>(has_neighbor(rank, a, side[a]));
    return cells;
}

Index Brick::cell_of(Rank rank, const Side& side) const {
    Index before = 0;
    bool reached = false;
    for_sides([&](const Side& of) {
        reached = reached || of == side;
        if (!reached) before += cells_on(rank, of);
    });
    return before;
}

Index Brick::cells(Rank rank) const {
    return width(0) * width(1) * width(2) - interior(rank, 0) * interior(rank, 1) * interior(rank, 2);
}

Index Brick::facing(Rank rank, const Side& side) const {
    Index points = 1;
    for (int a = 0; a < 3; ++a) points *= side[a] == 0 ? width(a) : static_cast<Index>(has_neighbor(rank, a, side[a]));
    return points;
}

std::array<Index, 3> Brick::point_of(Rank rank, Index cell) const {
    std::array<Index, 3> point{};
    Index before = 0;
    bool found = false;
    for_sides([&](const Side& of) {
        const Index cells = cells_on(rank, of);
        if (found || cell >= before + cells) {
            before += cells;
            return;
        }
        found = true;
        Index rest = cell - before;
        for (int a = 0; a < 3; ++a) {
            if (of[a] != 0) {
                point[a] = of[a] < 0 ? 0 : width(a) - 1;
                continue;
            }
            point[a] = rest % interior(rank, a) + has_neighbor(rank, a, -1);
            rest /= interior(rank, a);
        }
    });
    return point;
}

Index Brick::id_of(Rank rank, const std::array<Index, 3>& point) const {
    const std::array<Index, 3> place = place_of(rank);
    Index id = 0;
    for (int a = 2; a >= 0; --a) id = id * extent(a) + (place[a] * elements_[a] * (points_ - 1) + point[a]) % extent(a);
    return id + 1;
}

BrickGatherScatter::BrickGatherScatter(const Brick& brick, const std::string& operation)
    : GatherScatter(operation), brick_(brick) {}

Index BrickGatherScatter::received(Rank rank) const {
    Index points = 0;
    Brick::for_sides([&](const Side& side) { points += brick_.facing(rank, side); });
    return points;
}

Index BrickGatherScatter::target_of(Rank rank, const Side& side) const {
    Index before = 0;
    bool reached = false;
    Brick::for_sides([&](const Side& of) {
        reached = reached || of == side;
        if (!reached) before += brick_.facing(rank, of);
    });
    return before;
}

// Points on planes between ranks, in the order of their ids: all points of an x-y plane, or of a line along x, or those
// of a line where it crosses such planes.
Index BrickGatherScatter::number(Rank rank, Index cell) const {
    const auto planes_before = [&](int axis, Index coordinate) -> Index {
        if (brick_.split()[axis] == 1) return 0;
        const Index apart = brick_.elements()[axis] * (brick_.points_per_element() - 1);
        const Index begun = (coordinate + apart - 1) / apart;  // at 0, apart, 2 apart... below the coordinate
        return begun - (brick_.periodic()[axis] || begun == 0 ? 0 : 1);
    };
    const Index id = this->id(rank, cell) - 1;
    std::array<Index, 3> at{id % brick_.extent(0), id / brick_.extent(0) % brick_.extent(1),
                            id / brick_.extent(0) / brick_.extent(1)};
    const auto planes = [&](int axis) {
        return brick_.split()[axis] == 1 ? 0 : brick_.split()[axis] - (brick_.periodic()[axis] ? 0 : 1);
    };
    const auto on_plane = [&](int axis) {
        if (brick_.split()[axis] == 1) return false;
        const Index apart = brick_.elements()[axis] * (brick_.points_per_element() - 1);
        const bool edge = at[axis] == 0 || at[axis] == brick_.extent(axis) - 1;
        return at[axis] % apart == 0 && (brick_.periodic()[axis] || !edge);
    };
    const Index line = planes(0), nx = brick_.extent(0), ny = brick_.extent(1);
    const Index layer = planes(1) * nx + (ny - planes(1)) * line;
    const Index full_layers = planes_before(2, at[2]);
    Index before = full_layers * nx * ny + (at[2] - full_layers) * layer;
    if (on_plane(2)) return before + at[1] * nx + at[0];
    const Index full_lines = planes_before(1, at[1]);
    before += full_lines * nx + (at[1] - full_lines) * line;
    return on_plane(1) ? before + at[0] : before + planes_before(0, at[0]);
}

std::vector<Index> BrickGatherScatter::ids(Rank rank) const {
    const auto& e = brick_.elements();
    const Index n = brick_.points_per_element();
    std::vector<Index> all;
    all.reserve(static_cast<std::size_t>(brick_.values()));
    std::array<Index, 3> at, p;
    for (at[2] = 0; at[2] < e[2]; ++at[2])
        for (at[1] = 0; at[1] < e[1]; ++at[1])
            for (at[0] = 0; at[0] < e[0]; ++at[0])
                for (p[2] = 0; p[2] < n; ++p[2])
                    for (p[1] = 0; p[1] < n; ++p[1])
                        for (p[0] = 0; p[0] < n; ++p[0])
                            all.push_back(brick_.id_of(
                                rank, {at[0] * (n - 1) + p[0], at[1] * (n - 1) + p[1], at[2] * (n - 1) + p[2]}));
    return all;
}

OwnCopies BrickGatherScatter::copies(Rank rank) const {
    const OwnIds own(ids(rank));
    const Index cells = brick_.cells(rank);
    std::vector<std::pair<Index, Index>> cell_ids;  // (id, cell)
    for (Index cell = 0; cell < cells; ++cell) cell_ids.emplace_back(id(rank, cell), cell);
    std::sort(cell_ids.begin(), cell_ids.end());
    return own.split(cell_ids);
}

std::vector<Fold> BrickGatherScatter::folds(Rank rank) const {
    std::vector<Fold> folds;
    Brick::for_sides([&](const Side& of) {
        Fold fold{brick_.cell_of(rank, of), brick_.cells_on(rank, of), {}, 0};
        if (fold.length == 0) return;
        std::vector<std::pair<Rank, Index>> parts;  // (rank, where its cells are)
        Brick::for_sides([&](const Side& side) {
            for (int a = 0; a < 3; ++a)
                if (side[a] != 0 && side[a] != of[a]) return;
            Index at = target_of(rank, side);
            bool reached = false;
            brick_.each_facing(side, [&](const Side& cells) {
                reached = reached || cells == of;
                if (!reached) at += brick_.cells_on(rank, cells);
            });
            parts.emplace_back(brick_.neighbor(rank, side), at);
        });
        std::sort(parts.begin(), parts.end());
        for (const auto& [peer, at] : parts) {
            fold.own += peer < rank;
            fold.parts.push_back(at);
        }
        folds.push_back(std::move(fold));
    });
    return folds;
}

std::string BrickGatherScatter::identity() const {
    std::string text = times(brick_.elements()) + " elements of " + std::to_string(brick_.points_per_element()) +
                       " points per direction on each of " + times(brick_.split()) + " ranks";
    for (int a = 0; a < 3; ++a)
        if (brick_.periodic()[a]) text += std::string(", periodic along ") + "xyz"[a];
    return text;
}

std::shared_ptr<const ListedGatherScatter> listed(const BrickGatherScatter& brick) {
    std::vector<std::vector<Index>> ids;
    for (Rank rank = 0; rank < brick.ranks(); ++rank) ids.push_back(brick.ids(rank));
    const auto made = std::make_shared<ListedGatherScatter>(ids, brick.operation());
    return std::dynamic_pointer_cast<const ListedGatherScatter>(made->with_levels(brick.levels()));
}

}  // namespace tradewind::pattern
