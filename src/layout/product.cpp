#include "layout/product.hpp"

#include <limits>

#include "base/error.hpp"

namespace tradewind::layout {

namespace {

std::array<Parts, 3> parts_of(const Blocks& blocks) {
    std::array<Parts, 3> parts;
    for (int a = 0; a < 3; ++a)
        parts[static_cast<std::size_t>(a)] = Parts::even(blocks.grid().points[a], blocks.division(a).parts());
    return parts;
}

// Parts that have `times` points in a row for each point.
Parts repeated(const Parts& parts, Index times) {
    std::vector<Index> cuts{0};
    for (Index part = 0; part < parts.parts(); ++part) {
        const std::vector<Run> own = parts.runs(part);
        if (own.size() > 1 || (!own.empty() && own[0].begin * times != cuts.back())) break;
        cuts.push_back(own.empty() ? cuts.back() : own[0].end * times);
    }
    if (static_cast<Index>(cuts.size()) == parts.parts() + 1) return Parts::cut(std::move(cuts));
    std::vector<std::int32_t> owners;
    for (const Parts::Owned& owned : parts.ordered())
        owners.insert(owners.end(), static_cast<std::size_t>(owned.run.length() * times),
                      static_cast<std::int32_t>(owned.part));
    return Parts::dealt(owners, parts.parts());
}

}  // namespace

Product::Product(Grid grid, std::array<Parts, 3> parts, std::array<int, 3> coordinate_of, Rank first, Rank ranks,
                 std::string name)
    : grid_(grid),
      parts_(std::move(parts)),
      coordinate_of_(coordinate_of),
      first_(first),
      ranks_(ranks),
      name_(std::move(name)) {
    for (std::size_t a = 0; a < 3; ++a) {
        const std::string where = name_ + ": " + axis_names[a];
        if (parts_[a].points() != grid_.points[a])
            throw InputError(where + " has " + std::to_string(parts_[a].points()) + " points in the layout and " +
                             std::to_string(grid_.points[a]) + " in the grid");
        const int c = coordinate_of_[a];
        if (c < -1 || c > 1 || (c < 0 && parts_[a].parts() != 1))
            throw InputError(where + " has " + std::to_string(parts_[a].parts()) +
                             " parts and is divided by coordinate " + std::to_string(c) +
                             ": 0 and 1 are allowed, and -1 for one part");
        for (std::size_t b = 0; b < a; ++b)
            if (c >= 0 && coordinate_of_[b] == c)
                throw InputError(where + " and " + axis_names[b] + " are divided by one coordinate: two are allowed");
        if (c >= 0) split_[static_cast<std::size_t>(c)] = parts_[a].parts();
    }
    const auto most = std::numeric_limits<Rank>::max();
    if (ranks_ < 1 || split_[0] > most / split_[1] || first_ < 0 || first_ + split_[0] * split_[1] > ranks_)
        throw InputError(name_ + ": " + std::to_string(split_[0]) + " x " + std::to_string(split_[1]) +
                         " ranks from rank " + std::to_string(first_) + " on are more than the " +
                         std::to_string(ranks_) + " that there are");
    by_row_ = Divider(static_cast<std::uint32_t>(split_[0]));
}

Product::Product(const Blocks& blocks)
    : Product(blocks.grid(), parts_of(blocks),
              {blocks.coordinate_of(X), blocks.coordinate_of(Y), blocks.coordinate_of(Z)}, 0, blocks.ranks(),
              blocks.axes() + " blocks") {}

std::string Product::describe() const {
    std::string text = name_ + " (";
    for (std::size_t a = 0; a < 3; ++a) text += std::string(a ? ", " : "") + axis_names[a] + " " + parts_[a].describe();
    text += ") on ranks " + std::to_string(first_) + ".." + std::to_string(first_ + split_[0] * split_[1] - 1);
    text += " of " + std::to_string(ranks_);
    return rows_ ? text + ", rows end " + std::to_string(rows_->mark() % 1000000007) : text;
}

std::vector<Box> Product::boxes(Rank rank) const {
    std::vector<Box> found;
    append_boxes(patch(rank), found);
    return found;
}

void Product::append_boxes(const Patch& patch, std::vector<Box>& boxes) const {
    std::vector<Box> all = patch.boxes();
    if (rows_)
        for (const Box& box : all) rows_->append(box, boxes);
    else
        boxes.insert(boxes.end(), all.begin(), all.end());
}

Index Product::count(const std::array<std::vector<Run>, 3>& runs) const {
    const auto points = [&](int axis) {
        Index sum = 0;
        for (const Run& run : runs[static_cast<std::size_t>(axis)]) sum += run.length();
        return sum;
    };
    if (!rows_) return points(X) * points(Y) * points(Z);
    const int along = rows_->along(), across = rows_->across();
    return rows_->count(runs[static_cast<std::size_t>(along)], runs[static_cast<std::size_t>(across)]) *
           points(X + Y + Z - along - across);
}

Product Product::placed(Rank first, Rank ranks) const {
    Product made(grid_, parts_, coordinate_of_, first, ranks, name_);
    made.rows_ = rows_;
    return made;
}

Product Product::with(RowEnds rows) const {
    const Index places = grid_.points[static_cast<std::size_t>(rows.across())];
    const Index most = grid_.points[static_cast<std::size_t>(rows.along())];
    if (static_cast<Index>(rows.ends().size()) != places)
        throw InputError(name_ + ": " + std::to_string(rows.ends().size()) + " rows end, and " +
                         std::to_string(places) + " are in the grid");
    for (Index row = 0; row < places; ++row)
        if (rows.end(row) > most)
            throw InputError(name_ + ": row " + std::to_string(row) + " ends at " + std::to_string(rows.end(row)) +
                             ": 0.." + std::to_string(most) + " are allowed");
    Product made = *this;
    made.rows_ = std::make_shared<RowEnds>(std::move(rows));
    return made;
}

Rank Product::owner(const std::array<Index, 3>& point) const {
    std::array<Index, 3> part;
    for (std::size_t a = 0; a < 3; ++a) part[a] = parts_[a].owner(point[a]);
    return rank_of(part);
}

Patch Product::patch(Rank rank) const {
    std::array<std::vector<Run>, 3> runs;
    if (const auto part = part_of(rank))
        for (std::size_t a = 0; a < 3; ++a) runs[a] = parts_[a].runs((*part)[a]);
    return Patch(runs);
}

Product Product::in_one_row() const {
    const auto& [nx, ny, nz] = grid_.points;
    if (rows_) throw InputError(name_ + ": its rows have different lengths, so they are not put one after another");
    if (parts_[X].parts() > 1)
        throw InputError(name_ + ": x is divided among " + std::to_string(parts_[X].parts()) +
                         " parts: rows that are whole can be put one after another");
    std::array<Parts, 3> parts{Parts::cut({0, nx * ny}), Parts::even(1, 1), parts_[Z]};
    if (coordinate_of_[Y] >= 0) parts[X] = repeated(parts_[Y], nx);
    return {Grid(nx * ny, 1, nz), std::move(parts), {coordinate_of_[Y], -1, coordinate_of_[Z]}, first_, ranks_, name_};
}

}  // namespace tradewind::layout
