#include "layout/columns.hpp"

namespace tradewind::layout {

Columns::Columns(const Blocks& layout)
    : nx_(layout.grid().points[X]), row_(nx_), x_(places(layout, X)), y_(places(layout, Y)) {
    // Rows lie behind each other where all ranks have whole rows.
    if (layout.division(X).parts() > 1) {
        for (Place& y : y_) y.many = 1;
        return;
    }
    rows_.reserve(y_.size());
    for (const Place& y : y_) {
        const Index row = static_cast<Index>(rows_.size());
        rows_.push_back({(row - y.offset) * nx_, (row + y.many) * nx_, y.rank});
    }
}

std::vector<Columns::Place> Columns::places(const Blocks& layout, int axis) {
    const Division& division = layout.division(axis);
    const int coordinate = layout.coordinate_of(axis);
    std::vector<Place> places;
    places.reserve(static_cast<std::size_t>(division.points()));
    for (Index part = 0; part < division.parts(); ++part) {
        std::array<Index, 2> coordinates{0, 0};
        if (coordinate >= 0) coordinates[static_cast<std::size_t>(coordinate)] = part;
        const Index width = division.width(part);
        for (Index offset = 0; offset < width; ++offset) {
            const Index left = width - offset;
            places.push_back({layout.rank_at(coordinates), static_cast<std::int32_t>(offset),
                              static_cast<std::int32_t>(axis == X ? width : left), static_cast<std::int32_t>(left)});
        }
    }
    return places;
}

// Without a branch at a run: the runs are unpredictable.
bool Columns::find(const Index* ids, const Index* begins, std::size_t runs, Rank* owners, Index* sources) const {
    if (!rows_.empty()) return find_in_rows(ids, begins, runs, owners, sources);
    const LongDivider by_row = row_;  // for registers: what is written below might be this, else
    const Index nx = nx_;
    const Place *const xs = x_.data(), *const ys = y_.data();
    const auto all = static_cast<std::uint64_t>(points());
    bool any = false;
    for (std::size_t k = 0; k < runs; ++k) {
        const Index id = ids[begins[k]];
        const bool none = static_cast<std::uint64_t>(id) >= all;
        const Index row = by_row.quotient(none ? 0 : id);
        const Place &x = xs[(none ? 0 : id) - row * nx], &y = ys[row];  // x is divided: a run ends where its part does
        const bool other = none | (begins[k + 1] - begins[k] > x.left);
        owners[k] = other ? -1 : x.rank + y.rank;
        sources[k] = Index{y.offset} * x.many + x.offset;
        any |= other;
    }
    return !any;
}

bool Columns::find_in_rows(const Index* ids, const Index* begins, std::size_t runs, Rank* owners,
                           Index* sources) const {
    const LongDivider by_row = row_;
    const Row* const rows = rows_.data();
    const auto all = static_cast<std::uint64_t>(points());
    bool any = false;
    for (std::size_t k = 0; k < runs; ++k) {
        const Index id = ids[begins[k]];
        const bool none = static_cast<std::uint64_t>(id) >= all;
        const Row& row = rows[by_row.quotient(none ? 0 : id)];
        const bool other = none | (begins[k + 1] - begins[k] > row.end - (none ? 0 : id));
        owners[k] = other ? -1 : row.rank;
        sources[k] = id - row.begin;
        any |= other;
    }
    return !any;
}

}  // namespace tradewind::layout
