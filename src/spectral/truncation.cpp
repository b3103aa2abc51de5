#include "spectral/truncation.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace tradewind::spectral {

namespace {

// The largest degree on a grid with `half` latitudes in a hemisphere: of products of two (quadratic) or three (cubic)
// fields no harmonic is aliased, of fields themselves none is lost (linear).
Index largest(const std::string& rule, Index half) {
    if (rule == "linear") return 2 * half - 1;
    if (rule == "quadratic") return std::max<Index>(4 * half / 3 - 1, 0);
    if (rule == "cubic") return half - 1;
    throw InputError("unknown rule \"" + rule + "\" of a truncation: linear, quadratic and cubic are allowed");
}

Index degree_of(const GaussianGrid& grid, Index degree, const std::string& rule) {
    const Index most = largest(rule.empty() ? "linear" : rule, grid.half());
    if (degree == -1) return rule.empty() && grid.is_octahedral() ? largest("cubic", grid.half()) : most;
    if (degree < 0 || degree > most)
        throw InputError("truncation T" + std::to_string(degree) + " on grid " + grid.name() + ": T0..T" +
                         std::to_string(most) + " are allowed (its " + std::to_string(2 * grid.half()) +
                         " latitudes hold no more" + (rule.empty() ? "" : " by the " + rule + " rule") + ")");
    return degree;
}

// The strictest rule that the degree allows, as ecTrans chooses it.
std::string rule_of(const GaussianGrid& grid, Index degree) {
    if (degree >= largest("linear", grid.half()) || grid.is_full()) return "linear";
    return degree >= largest("quadratic", grid.half()) ? "quadratic" : "cubic";
}

Index largest_wavenumber(const Truncation& t, Index row) {
    const GaussianGrid& grid = *t.grid;
    const Index half = grid.half(), points = grid.rows()[static_cast<std::size_t>(row)];
    if (t.rule == "linear" || grid.is_full()) return (points - 1) / 2;
    const double cosine = grid.cosine(row), square = cosine * cosine, most = static_cast<double>(points - 1);
    if (t.rule == "cubic") return static_cast<Index>(std::floor(most / (2 + square))) - 1;
    const Index few = 3 * (2 * half - 1 - t.degree) / (2 * half);
    return static_cast<Index>(std::floor(most / (2 + static_cast<double>(few) * square)));
}

}  // namespace

Truncation::Truncation(std::shared_ptr<const GaussianGrid> grid_, Index degree_, const std::string& rule_)
    : grid(std::move(grid_)),
      degree(degree_of(*grid, degree_, rule_)),
      rule(rule_.empty() ? rule_of(*grid, degree) : rule_) {
    Index most = 0;
    for (Index row = 0; row < half(); ++row) {
        most = std::max(most, std::min(largest_wavenumber(*this, row), degree));
        kept.push_back(most + 1);
    }
    if (most < degree)
        throw InputError("truncation T" + std::to_string(degree) + " on grid " + grid->name() +
                         ": its longest rows hold wavenumbers up to " + std::to_string(most) + " by the " + rule +
                         " rule, T0..T" + std::to_string(most) + " are allowed");
    for (Index m = 0; m <= degree; ++m) begin.push_back(std::upper_bound(kept.begin(), kept.end(), m) - kept.begin());
    const std::vector<Index> south(kept.rbegin(), kept.rend());
    kept.insert(kept.end(), south.begin(), south.end());
}

std::string Truncation::text() const {
    return "T" + std::to_string(degree) + " on " + grid->name();
}

}  // namespace tradewind::spectral
