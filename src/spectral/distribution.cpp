#include "spectral/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "spectral/balance.hpp"

namespace tradewind::spectral {

namespace {

constexpr Index least_level_sets = 4;  // that ecTrans takes where they fit

using layout::Parts;
using layout::Product;

// A transposition, or the way back.
std::shared_ptr<const pattern::Redistribution> between(Product from, Product to, bool back) {
    auto first = std::make_shared<const Product>(std::move(from)),
         second = std::make_shared<const Product>(std::move(to));
    if (back) std::swap(first, second);
    return std::make_shared<const pattern::Redistribution>(std::move(first), std::move(second));
}

std::vector<double> legendre_flops(const Truncation& t) {
    std::vector<double> out;
    for (Index m = 0; m < t.wavenumbers(); ++m)
        out.push_back(static_cast<double>(4 * t.degrees(m) * (t.half() - t.row_begin(m))));
    return out;
}

std::vector<double> row_flops(const GaussianGrid& grid) {
    std::vector<double> out;
    for (const Index row : grid.rows()) {
        const auto points = static_cast<double>(row);
        out.push_back(2.5 * points * std::log2(points));
    }
    return out;
}

}  // namespace

Index default_level_sets(Index ranks, Index levels, Index most) {
    std::vector<Index> divisors, few, fitting;
    for (Index v = 1; v <= std::min(ranks, levels); ++v)
        if (ranks % v == 0) divisors.push_back(v);
    std::copy_if(divisors.begin(), divisors.end(), std::back_inserter(few), [&](Index v) { return ranks / v <= most; });
    std::copy_if(few.begin(), few.end(), std::back_inserter(fitting), [&](Index v) { return v <= ranks / v; });
    if (fitting.empty()) return few.empty() ? divisors.back() : few.front();
    const auto found = std::find_if(fitting.begin(), fitting.end(), [](Index v) { return v >= least_level_sets; });
    return found == fitting.end() ? fitting.back() : *found;
}

Distribution::Distribution(std::shared_ptr<const Truncation> truncation, Rank ranks, Index level_sets,
                           const std::string& dealt)
    : truncation_(std::move(truncation)), ranks_(ranks), level_sets_(level_sets) {
    const Truncation& t = *truncation_;
    const Index most = std::min(2 * t.half(), t.wavenumbers());
    if (level_sets_ == 0) level_sets_ = default_level_sets(ranks, ranks, most);
    if (level_sets_ < 1 || ranks_ % level_sets_)
        throw InputError(std::to_string(level_sets_) + " level sets on " + std::to_string(ranks_) +
                         " ranks: a divisor of the ranks is allowed");
    if (sets() > most)
        throw InputError(std::to_string(ranks_) + " ranks are " + std::to_string(sets()) + " sets of wavenumbers x " +
                         std::to_string(level_sets_) + " of levels: there are " + std::to_string(t.wavenumbers()) +
                         " wavenumbers and " + std::to_string(2 * t.half()) + " rows, so up to " +
                         std::to_string(most) + " sets are allowed");
    if (ranks_ > t.grid->points())
        throw InputError(std::to_string(ranks_) + " ranks, " + std::to_string(t.grid->points()) +
                         " grid points: each rank has one or more");
    if (dealt != "packed" && dealt != "snake")
        throw InputError("unknown way to deal wavenumbers \"" + dealt + "\": packed and snake are allowed");
    lists_ = dealt == "packed" ? packed(legendre_flops(t), sets()) : dealt_to_and_fro(t.wavenumbers(), sets());
    owners_.resize(static_cast<std::size_t>(t.wavenumbers()));
    for (std::size_t w = 0; w < lists_.size(); ++w)
        for (const Index m : lists_[w]) owners_[static_cast<std::size_t>(m)] = static_cast<std::int32_t>(w);
    row_cuts_ = even_cuts(row_flops(*t.grid), sets());
}

layout::Run Distribution::points_of(Rank rank) const {
    return Parts::even(truncation_->grid->points(), ranks_).runs(rank).front();
}

Index Distribution::first_level(Index level_set, Index levels) const {
    return (levels * level_set + level_sets_ - 1) / level_sets_;
}

layout::Run Distribution::levels_of(Rank rank, Index levels) const {
    const Index v = rank % level_sets_;
    return {first_level(v, levels), first_level(v + 1, levels)};
}

Parts Distribution::field_parts(Fields fields) const {
    std::vector<Index> cuts;
    for (Index v = 0; v <= level_sets_; ++v) cuts.push_back(fields.variables * first_level(v, fields.levels));
    return Parts::cut(std::move(cuts));
}

Product Distribution::in_lines(Fields fields, std::array<Parts, 2> parts, std::array<int, 3> coordinates,
                               const std::string& name) const {
    const Truncation& t = *truncation_;
    std::vector<Index> begins, ends;
    for (Index m = 0; m < t.wavenumbers(); ++m) {
        begins.push_back(t.row_begin(m));
        ends.push_back(t.row_end(m));
    }
    const layout::Grid grid{fields.count(), parts[0].points(), t.wavenumbers()};
    return Product(grid, {field_parts(fields), parts[0], parts[1]}, coordinates, 0, ranks_, name)
        .in_lines(layout::Lines(std::move(begins), std::move(ends)));
}

// Coordinate 0 of a rank p is p % split[0], which divides the fields.
std::shared_ptr<const pattern::Redistribution> Distribution::to_rows(Fields fields, bool back) const {
    const GaussianGrid& grid = *truncation_->grid;
    const layout::Grid all{grid.points(), 1, fields.count()};
    const Parts one = Parts::even(1, 1);
    std::vector<Index> cuts;
    for (const Index row : row_cuts_) cuts.push_back(grid.first()[static_cast<std::size_t>(row)]);
    Product points(all, {Parts::even(grid.points(), ranks_), one, Parts::even(fields.count(), 1)}, {1, -1, -1}, 0,
                   ranks_, "points");
    Product rows(all, {Parts::cut(std::move(cuts)), one, field_parts(fields)}, {1, -1, 0}, 0, ranks_, "rows");
    return between(std::move(points), std::move(rows), back);
}

std::shared_ptr<const pattern::Redistribution> Distribution::to_wavenumbers(Fields fields, bool back) const {
    const Truncation& t = *truncation_;
    return between(
        in_lines(fields, {Parts::cut(row_cuts_), Parts::even(t.wavenumbers(), 1)}, {0, 1, -1}, "rows"),
        in_lines(fields, {Parts::even(2 * t.half(), 1), Parts::dealt(owners_, sets())}, {0, -1, 1}, "wavenumbers"),
        back);
}

}  // namespace tradewind::spectral
