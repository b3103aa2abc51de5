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
    check_ranks();
    by_row_ = Divider(static_cast<std::uint32_t>(split_[0]));
}

void Product::check_ranks() const {
    const auto maximum = std::numeric_limits<Rank>::max();
    if (ranks_ < 1 || split_[0] > maximum / split_[1] || first_ < 0 || first_ + split_[0] * split_[1] > ranks_)
        throw InputError(name_ + ": " + std::to_string(split_[0]) + " x " + std::to_string(split_[1]) +
                         " ranks from rank " + std::to_string(first_) + " on are more than the " +
                         std::to_string(ranks_) + " that there are");
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
    return lines_ ? text + ", in lines " + std::to_string(lines_->mark() % 1000000007) : text;
}

Product Product::placed(Rank first, Rank ranks) const {
    Product made = *this;
    made.first_ = first;
    made.ranks_ = ranks;
    made.check_ranks();
    return made;
}

Product Product::in_lines(Lines lines) const {
    const auto& [nx, ny, nz] = grid_.points;
    if (lines_) throw InputError(name_ + ": its points lie in lines already");
    if (lines.lines() != nz)
        throw InputError(name_ + ": " + std::to_string(lines.lines()) + " lines, and z has " + std::to_string(nz) +
                         " points");
    if (lines.last_end() > ny)
        throw InputError(name_ + ": a line ends at " + std::to_string(lines.last_end()) + ", and y has " +
                         std::to_string(ny) + " points");
    Product made = *this;
    made.grid_ = Grid(nx, 1, lines.points());
    made.lines_ = std::make_shared<Lines>(std::move(lines));
    return made;
}

Index Product::count(const std::array<std::vector<Run>, 3>& runs) const {
    const auto points = [](const std::vector<Run>& along) {
        Index sum = 0;
        for (const Run& run : along) sum += run.length();
        return sum;
    };
    return (lines_ ? lines_->count(runs[Z], runs[Y]) : points(runs[Z]) * points(runs[Y])) * points(runs[X]);
}

Patch Product::patch_of(const std::array<std::vector<Run>, 3>& runs) const {
    if (!lines_) return Patch(runs);
    return Patch({runs[X], std::vector<Run>{{0, 1}}, lines_->runs(runs[Z], runs[Y])});
}

Rank Product::owner(const std::array<Index, 3>& point) const {
    std::array<Index, 3> part, at = point;
    if (lines_) {
        const auto [line, place] = lines_->at(point[Z]);
        at = {point[X], place, line};
    }
    for (std::size_t a = 0; a < 3; ++a) part[a] = parts_[a].owner(at[a]);
    return rank_of(part);
}

Patch Product::patch(Rank rank) const {
    std::array<std::vector<Run>, 3> runs;
    if (const auto part = part_of(rank))
        for (std::size_t a = 0; a < 3; ++a) runs[a] = parts_[a].runs((*part)[a]);
    return patch_of(runs);
}

Product Product::in_one_row() const {
    if (lines_) return *this;
    const auto& [nx, ny, nz] = grid_.points;
    if (parts_[X].parts() > 1)
        throw InputError(name_ + ": x is divided among " + std::to_string(parts_[X].parts()) +
                         " parts: rows that are whole can be put one after another");
    std::array<Parts, 3> parts{Parts::cut({0, nx * ny}), Parts::even(1, 1), parts_[Z]};
    if (coordinate_of_[Y] >= 0) parts[X] = repeated(parts_[Y], nx);
    return {Grid(nx * ny, 1, nz), std::move(parts), {coordinate_of_[Y], -1, coordinate_of_[Z]}, first_, ranks_, name_};
}

}  // namespace tradewind::layout
