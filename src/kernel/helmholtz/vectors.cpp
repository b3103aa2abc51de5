#include "kernel/helmholtz/vectors.hpp"

#include <array>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "kernel/clones.hpp"

namespace tradewind::kernel {

namespace {

// Products are added in several sums side by side: full vectors, always of the same operations.
constexpr Index lanes = 8;
constexpr std::size_t most_terms = 8;

using LaneSums = std::array<double, lanes>;

// The product of two floats is a double without rounding.
template <class Real>
double product(Real a, Real b) {
    return static_cast<double>(a) * static_cast<double>(b);
}

template <class Real>
void add_row(const Real* __restrict a, const Real* __restrict b, Index points, LaneSums& sums) {
    LaneSums found = sums;
    Index x = 0;
    for (; x + lanes <= points; x += lanes)
        for (Index i = 0; i < lanes; ++i) found[i] += product(a[x + i], b[x + i]);
    for (Index i = 0; x + i < points; ++i) found[i] += product(a[x + i], b[x + i]);
    sums = found;
}

double total(const LaneSums& sums) {
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// target may be one of the fields.
template <std::size_t count, class Real>
[[gnu::always_inline]] inline void combine_row(Real* target, const Real* const* from, const Real* factors,
                                               Index points) {
#pragma GCC ivdep
    for (Index x = 0; x < points; ++x) {
        Real sum = factors[0] * from[0][x];
        for (std::size_t j = 1; j < count; ++j) sum += factors[j] * from[j][x];
        target[x] = sum;
    }
}

template <class Real>
[[gnu::always_inline]] inline void combine_any(Real* target, const Real* const* from, const Real* factors,
                                               std::size_t count, Index points) {
    switch (count) {
        case 1: return combine_row<1>(target, from, factors, points);
        case 2: return combine_row<2>(target, from, factors, points);
        case 3: return combine_row<3>(target, from, factors, points);
        case 4: return combine_row<4>(target, from, factors, points);
        case 5: return combine_row<5>(target, from, factors, points);
        case 6: return combine_row<6>(target, from, factors, points);
        case 7: return combine_row<7>(target, from, factors, points);
        default: return combine_row<8>(target, from, factors, points);
    }
}

TRADEWIND_CLONES void combine_terms(float* target, const float* const* from, const float* factors, std::size_t count,
                                    Index points) {
    combine_any(target, from, factors, count, points);
}
TRADEWIND_CLONES void combine_terms(double* target, const double* const* from, const double* factors, std::size_t count,
                                    Index points) {
    combine_any(target, from, factors, count, points);
}

template <class Real>
void check(const Pairs<Real>& pairs) {
    for (const auto& [a, b] : pairs)
        if (a.points != b.points || a.points != pairs.front().first.points)
            throw InputError("scalar products: arrays of one shape are allowed");
}

// All rows of a level, and then those of the next: work(level, row), by each thread those of its levels.
template <class Work>
void each_row(const std::array<Index, 3>& points, Team& team, Work work) {
    const Index levels = points[layout::Z];
    team.run([&](int thread) {
        for (Index z = levels * thread / team.threads(); z < levels * (thread + 1) / team.threads(); ++z)
            for (Index y = 0; y < points[layout::Y]; ++y) work(thread, z, y);
    });
}

}  // namespace

template <class Real>
std::vector<double> products(const Pairs<Real>& pairs, Team& team) {
    if (pairs.empty()) return {};
    check(pairs);
    const std::array<Index, 3> points = pairs.front().first.points;
    const std::size_t count = pairs.size();
    std::vector<LaneSums> by_level(static_cast<std::size_t>(points[layout::Z]) * count, LaneSums{});
    each_row(points, team, [&](int, Index z, Index y) {
        LaneSums* const sums = by_level.data() + static_cast<std::size_t>(z) * count;
        for (std::size_t i = 0; i < count; ++i)
            add_row(pairs[i].first.at(y, z), pairs[i].second.at(y, z), points[layout::X], sums[i]);
    });
    std::vector<double> found(count, 0.0);
    for (std::size_t k = 0; k < by_level.size(); ++k) found[k % count] += total(by_level[k]);
    return found;
}

template <class Real>
ExactProducts exact_products(const Pairs<Real>& pairs, Team& team) {
    check(pairs);
    ExactProducts found{std::vector<ExactSum>(pairs.size()), 0};
    if (pairs.empty()) return found;
    const std::array<Index, 3> points = pairs.front().first.points;
    std::vector<ExactProducts> by_thread(static_cast<std::size_t>(team.threads()), found);
    each_row(points, team, [&](int thread, Index z, Index y) {
        ExactProducts& mine = by_thread[static_cast<std::size_t>(thread)];
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const Real *a = pairs[i].first.at(y, z), *b = pairs[i].second.at(y, z);
            for (Index x = 0; x < points[layout::X]; ++x)
                if (const double term = product(a[x], b[x]); std::isfinite(term))
                    mine.sums[i].add(term);
                else
                    ++mine.not_finite;
        }
    });
    for (const ExactProducts& each : by_thread) {
        for (std::size_t i = 0; i < pairs.size(); ++i) found.sums[i].add(each.sums[i]);
        found.not_finite += each.not_finite;
    }
    return found;
}

template <class Real>
void combine(View<Real> target, const Terms<Real>& terms, Team& team) {
    if (terms.empty() || terms.size() > most_terms)
        throw InputError(std::to_string(terms.size()) + " terms: 1.." + std::to_string(most_terms) + " are allowed");
    std::array<Real, most_terms> factors{};
    for (std::size_t j = 0; j < terms.size(); ++j) {
        if (terms[j].second.points != target.points)
            throw InputError("linear combination: arrays of one shape are allowed");
        factors[j] = static_cast<Real>(terms[j].first);
    }
    each_row(target.points, team, [&](int, Index z, Index y) {
        std::array<const Real*, most_terms> from{};
        for (std::size_t j = 0; j < terms.size(); ++j) from[j] = terms[j].second.at(y, z);
        combine_terms(target.at(y, z), from.data(), factors.data(), terms.size(), target.points[layout::X]);
    });
}

template std::vector<double> products(const Pairs<float>&, Team&);
template std::vector<double> products(const Pairs<double>&, Team&);
template ExactProducts exact_products(const Pairs<float>&, Team&);
template ExactProducts exact_products(const Pairs<double>&, Team&);
template void combine(View<float>, const Terms<float>&, Team&);
template void combine(View<double>, const Terms<double>&, Team&);

}  // namespace tradewind::kernel
