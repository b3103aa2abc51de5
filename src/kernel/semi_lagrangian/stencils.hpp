// The stencils of departure points, and the formulas of interpolation, on rows that are alike or of different lengths.
#pragma once

#include <type_traits>

#include "kernel/semi_lagrangian/cells.hpp"

namespace tradewind::kernel {

// Columns of the full stencil, of which the quasi-cubic one has all but its corners.
inline constexpr int all_columns = 16;

[[gnu::always_inline]] inline bool is_corner(int row, int column) {
    return (row == 0 || row == 3) && (column == 0 || column == 3);
}

// Where the values of some points are, and their weights in latitude and in the vertical.
template <class Real>
struct Stencil {
    alignas(64) std::int32_t place[all_columns][departure_chunk];
    alignas(64) Real y[4][departure_chunk], z[4][departure_chunk], fy[departure_chunk];
    alignas(64) Index level[4][departure_chunk];  // in values: the two around the point, then the two beyond
};

// On a grid whose rows are alike: the weights along them are those of all.
template <class Real>
struct Stencils : Stencil<Real> {
    alignas(64) Real x[4][departure_chunk], fx[departure_chunk];
    Index first = -1, pitch = 0;  // where the stencils lie in line, their first column; else -1
    [[gnu::always_inline]] Real weight(int, int column, Index i) const { return x[column][i]; }
    [[gnu::always_inline]] Real rest(int, Index i) const { return fx[i]; }
};

// On rows of different lengths.
template <class Real>
struct RowStencils : Stencil<Real> {
    alignas(64) Real x[4][4][departure_chunk], fx[4][departure_chunk];  // [row]
    [[gnu::always_inline]] Real weight(int row, int column, Index i) const { return x[row][column][i]; }
    [[gnu::always_inline]] Real rest(int row, Index i) const { return fx[row][i]; }
};

// Values of the columns of a stencil wherever they lie.
template <class Real>
struct Anywhere {
    const Stencil<Real>& s;
    [[gnu::always_inline]] Real operator()(const Real* values, int column, Index i) const {
        return values[s.place[column][i]];
    }
};

template <class Real>
struct InLine {
    Index first, pitch;
    [[gnu::always_inline]] Real operator()(const Real* values, int column, Index i) const {
        return values[first + (column / 4 * pitch + column % 4) + i];
    }
};

// Cubic weights of Lagrange at t, of points at -1, 0, 1 and 2.
template <class Real>
[[gnu::always_inline]] inline void weigh(const double* t, Index n, Real (*weight)[departure_chunk]) {
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const double a = t[i] + 1, b = t[i], c = t[i] - 1, d = t[i] - 2;
        weight[0][i] = static_cast<Real>(b * c * d * (-1.0 / 6));
        weight[1][i] = static_cast<Real>(a * c * d * 0.5);
        weight[2][i] = static_cast<Real>(a * b * d * -0.5);
        weight[3][i] = static_cast<Real>(a * b * c * (1.0 / 6));
    }
}

// Cubic weights in the vertical, of the two levels around a point and two more: those beyond them, or, at the bottom
// and the top, the next two.
template <class Real>
[[gnu::always_inline]] inline void weigh_levels(const std::int32_t* low, const double* t, Index n, Index levels,
                                                Index stride, Stencil<Real>& stencils) {
    const auto top = static_cast<std::int32_t>(levels - 2);
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const std::int32_t a = low[i];
        const std::int32_t c = a == 0 ? 2 : a == top ? top - 2 : a - 1;
        const std::int32_t d = a == 0 ? 3 : a == top ? top - 1 : a + 2;
        const double at[4] = {0.0, 1.0, static_cast<double>(c - a), static_cast<double>(d - a)};
        const std::int32_t level[4] = {a, a + 1, c, d};
        for (int k = 0; k < 4; ++k) {
            double weight = 1;
            for (int other = 0; other < 4; ++other)
                weight *= other == k ? 1.0 : (t[i] - at[other]) / (at[k] - at[other]);
            stencils.z[k][i] = static_cast<Real>(weight);
            stencils.level[k][i] = level[k] * stride;
        }
    }
}

template <class Real, class At, class Weights>
[[gnu::always_inline]] inline Real linear(const Real* values, At at, const Weights& s, int row, Index i) {
    const Real a = at(values, 4 * row + 1, i), b = at(values, 4 * row + 2, i);
    return a + s.rest(row, i) * (b - a);
}

template <class Real, class At, class Weights>
[[gnu::always_inline]] inline Real cubic(const Real* values, At at, const Weights& s, int row, Index i) {
    const int first = 4 * row;
    return (s.weight(row, 0, i) * at(values, first, i) + s.weight(row, 1, i) * at(values, first + 1, i)) +
           (s.weight(row, 2, i) * at(values, first + 2, i) + s.weight(row, 3, i) * at(values, first + 3, i));
}

// The value of a level at point i, by 12 or 16 of its columns.
template <bool full, class Real, class At, class Weights>
[[gnu::always_inline]] inline Real in_level(const Real* values, At at, const Weights& s, Index i) {
    const Real south = full ? cubic(values, at, s, 0, i) : linear(values, at, s, 0, i);
    const Real north = full ? cubic(values, at, s, 3, i) : linear(values, at, s, 3, i);
    return (s.y[0][i] * south + s.y[1][i] * cubic(values, at, s, 1, i)) +
           (s.y[2][i] * cubic(values, at, s, 2, i) + s.y[3][i] * north);
}

// The value of a level by the four columns around point i.
template <class Real, class At, class Weights>
[[gnu::always_inline]] inline Real bilinear(const Real* values, At at, const Weights& s, Index i) {
    const Real south = linear(values, at, s, 1, i), north = linear(values, at, s, 2, i);
    return south + s.fy[i] * (north - south);
}

template <class Real>
struct Extremes {
    Real low, high;
};

template <class Real, class At>
[[gnu::always_inline]] inline Extremes<Real> nearest(const Real* values, At at, Index i) {
    const Real a = at(values, 5, i), b = at(values, 6, i), c = at(values, 9, i), d = at(values, 10, i);
    const Real low = a < b ? a : b, high = a < b ? b : a, low2 = c < d ? c : d, high2 = c < d ? d : c;
    return {low < low2 ? low : low2, high > high2 ? high : high2};
}

template <bool full, bool limited, class Real, class At, class Weights>
[[gnu::always_inline]] inline void flat(const Real* values, At at, const Weights& s, Index n, Real* to) {
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        Real value = in_level<full>(values, at, s, i);
        if constexpr (limited) {
            const Extremes<Real> range = nearest(values, at, i);
            value = value < range.low ? range.low : value > range.high ? range.high : value;
        }
        to[i] = value;
    }
}

template <bool full, bool limited, class Real, class Weights>
[[gnu::always_inline]] inline void lifted(const Real* values, const Weights& s, Index n, Real* to) {
    const Anywhere<Real> at{s};
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const Real *below = values + s.level[0][i], *above = values + s.level[1][i];
        const Real *third = values + s.level[2][i], *fourth = values + s.level[3][i];
        const Real beyond = full ? in_level<full>(third, at, s, i) : bilinear(third, at, s, i);
        const Real further = full ? in_level<full>(fourth, at, s, i) : bilinear(fourth, at, s, i);
        Real value = (s.z[0][i] * in_level<full>(below, at, s, i) + s.z[1][i] * in_level<full>(above, at, s, i)) +
                     (s.z[2][i] * beyond + s.z[3][i] * further);
        if constexpr (limited) {
            const Extremes<Real> a = nearest(below, at, i), b = nearest(above, at, i);
            const Real low = a.low < b.low ? a.low : b.low, high = a.high > b.high ? a.high : b.high;
            value = value < low ? low : value > high ? high : value;
        }
        to[i] = value;
    }
}

// Calls run(full, limited) with constants. What comes before does not depend on them, and is compiled once.
template <class Run>
[[gnu::always_inline]] inline void by_kind(const Interpolation& what, Run run) {
    using Yes = std::true_type;
    using No = std::false_type;
    if (what.full)
        what.limiter ? run(Yes{}, Yes{}) : run(Yes{}, No{});
    else
        what.limiter ? run(No{}, Yes{}) : run(No{}, No{});
}

}  // namespace tradewind::kernel
