#include "kernel/helmholtz/helmholtz.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "kernel/clones.hpp"
#include "kernel/lanes.hpp"

namespace tradewind::kernel {

namespace {

// Values of a rank's columns that are solved together: what is kept of all levels fits into the second-level cache.
constexpr Index kept_values = 16384;

// The values of a row and of those below and above it.
template <class Real>
struct Rows {
    const Real *here, *below, *above;
};

// Rows of other levels lie far apart, where hardware does not prefetch: they are prefetched this many levels before
// they are needed, to be read or to be written.
constexpr Index ahead = 4;

template <int to_be_written, class Real>
[[gnu::always_inline]] inline void fetch(const Real* values, Index count) {
    for (Index x = 0; x < count; x += 64 / static_cast<Index>(sizeof(Real)))
        __builtin_prefetch(values + x, to_be_written, 3);
}

// A whole block of a row, from the factors of its points, in vectors of B bytes, or of a block where it is shorter.
template <int B, class Real>
[[gnu::always_inline]] inline void apply_block(const Rows<Real>& in, Index pitch, const Real* factors, Index x,
                                               Real* out) {
    constexpr int bytes = std::min(B, static_cast<int>(block * sizeof(Real)));
    const auto lanes = [](const Real* values)
                           __attribute__((always_inline)) { return load<Lanes<Real, bytes>>(values); };
#pragma GCC unroll 4
    for (Index i = 0; i < block; i += bytes / static_cast<Index>(sizeof(Real))) {
        const auto column = [&](int number, Index at) __attribute__((always_inline)) {
            const Real* const of = factors + number * 3 * block + i;
            return (lanes(of) * lanes(in.here + at + i) + lanes(of + block) * lanes(in.below + at + i)) +
                   lanes(of + 2 * block) * lanes(in.above + at + i);
        };
        store(out + x + i,
              column(0, x) + ((column(1, x - 1) + column(2, x + 1)) + (column(3, x - pitch) + column(4, x + pitch))));
    }
}

// The same for a single point of a block, in the same order.
template <class Real>
inline void apply_point(const Rows<Real>& in, Index pitch, const Real* factors, Index x, Real* out) {
    const auto column = [&](int number, Index at) {
        const Real* const of = factors + number * 3 * block;
        return (of[0] * in.here[at] + of[block] * in.below[at]) + of[2 * block] * in.above[at];
    };
    out[x] = column(0, x) + ((column(1, x - 1) + column(2, x + 1)) + (column(3, x - pitch) + column(4, x + pitch)));
}

template <int B, class Real>
[[gnu::always_inline]] inline void apply_row_by(const Rows<Real>& rows, Index pitch, const Real* factors, Index points,
                                                Real* out) {
    const Rows<Real> in = rows;
    constexpr Index numbers = stencil_points * block;
    Index x = 0;
    for (; x + block <= points; x += block, factors += numbers) {
        fetch<0>(factors + 2 * numbers, numbers);
        apply_block<B>(in, pitch, factors, x, out);
    }
    for (Index i = 0; x + i < points; ++i) apply_point(in, pitch, factors + i, x + i, out);
}

TRADEWIND_BY_WIDTH(void, apply_row,
                   (const Rows<float>& rows, Index pitch, const float* factors, Index points, float* out),
                   (rows, pitch, factors, points, out))
TRADEWIND_BY_WIDTH(void, apply_row,
                   (const Rows<double>& rows, Index pitch, const double* factors, Index points, double* out),
                   (rows, pitch, factors, points, out))

// A row's values to be solved for, once those of the row before it are. The first row has none.
template <class Real>
struct Elimination {
    const Real *right, *minus, *factors, *before;
    Real *values, *above;  // what is kept for the way back
};

template <bool first, bool subtracting, class Real>
[[gnu::always_inline]] inline void eliminate_row(const Elimination<Real>& row, Index columns) {
    const Real* __restrict const right = row.right;
    const Real* __restrict const minus = row.minus;
    const Real* __restrict const before = row.before;
    Real* __restrict const values = row.values;
    Real* __restrict const kept = row.above;
    const Real* __restrict factors = row.factors;
    const auto points = [&](Index x, Index count) __attribute__((always_inline)) {
        const Real *below = factors, *pivot = factors + block, *above = factors + 2 * block;
#pragma GCC ivdep
        for (Index i = 0; i < count; ++i) {
            Real value = right[x + i];
            if constexpr (subtracting) value -= minus[x + i];
            if constexpr (!first) value -= below[i] * before[x + i];
            values[x + i] = value * pivot[i];
            kept[x + i] = above[i];
        }
    };
    Index x = 0;
    for (; x + block <= columns; x += block, factors += column_factors * block) points(x, block);
    if (x < columns) points(x, columns - x);
}

template <class Real>
[[gnu::always_inline]] inline void eliminate_any(const Elimination<Real>& row, Index columns) {
    if (!row.before)
        return row.minus ? eliminate_row<true, true>(row, columns) : eliminate_row<true, false>(row, columns);
    return row.minus ? eliminate_row<false, true>(row, columns) : eliminate_row<false, false>(row, columns);
}

TRADEWIND_CLONES void eliminate(const Elimination<float>& row, Index columns) {
    eliminate_any(row, columns);
}
TRADEWIND_CLONES void eliminate(const Elimination<double>& row, Index columns) {
    eliminate_any(row, columns);
}

// `values` hold the solution of the level above, and then that of this one.
template <class Real>
struct Substitution {
    const Real *eliminated, *above, *plus;
    Real *values, *out;
};

template <class Real>
[[gnu::always_inline]] inline void substitute_any(const Substitution<Real>& row, Index columns) {
    const Real* __restrict const eliminated = row.eliminated;
    const Real* __restrict const above = row.above;
    const Real* __restrict const plus = row.plus;
    Real* __restrict const values = row.values;
    Real* __restrict const out = row.out;
    if (plus)
        for (Index x = 0; x < columns; ++x) {
            values[x] = eliminated[x] - above[x] * values[x];
            out[x] = values[x] + plus[x];
        }
    else
        for (Index x = 0; x < columns; ++x) out[x] = values[x] = eliminated[x] - above[x] * values[x];
}

TRADEWIND_CLONES void substitute(const Substitution<float>& row, Index columns) {
    substitute_any(row, columns);
}
TRADEWIND_CLONES void substitute(const Substitution<double>& row, Index columns) {
    substitute_any(row, columns);
}

template <class Real>
bool alike(const View<const Real>& a, const View<Real>& b) {
    return a.points == b.points;
}

}  // namespace

template <class Real>
void helmholtz(View<const Real> field, PointNumbers<Real> factors, View<Real> out, Team& team) {
    const Index nx = out.points[layout::X], ny = out.points[layout::Y], nz = out.points[layout::Z];
    if (field.points != std::array<Index, 3>{nx + 2, ny + 2, nz})
        throw InputError("field: one point more than the target on all four sides is needed");
    if (nz < 3) throw InputError(std::to_string(nz) + " levels: 3 or more are needed");
    team.run([&](int thread) {
        for (Index z = nz * thread / team.threads(); z < nz * (thread + 1) / team.threads(); ++z) {
            const Index below = z > 0 ? z - 1 : 2, above = z + 1 < nz ? z + 1 : nz - 3;
            for (Index y = 0; y < ny; ++y)
                apply_row(Rows<Real>{field.at(y + 1, z) + 1, field.at(y + 1, below) + 1, field.at(y + 1, above) + 1},
                          field.row, factors.at(y, z), nx, out.at(y, z));
        }
    });
}

template <class Real>
void solve_columns(View<const Real> right, const View<const Real>* minus, const View<const Real>* plus,
                   PointNumbers<Real> factors, View<Real> solution, Team& team) {
    if (!alike(right, solution) || (minus && !alike(*minus, solution)) || (plus && !alike(*plus, solution)))
        throw InputError("right-hand side and solution: arrays of one shape are allowed");
    const Index nx = solution.points[layout::X], ny = solution.points[layout::Y], nz = solution.points[layout::Z];
    const Index room = std::max(kept_values / nz / block, Index{8}) * block;
    std::vector<Real> kept(static_cast<std::size_t>((2 * nz + 1) * room * team.threads()));
    team.run([&](int thread) {
        Real* const eliminated = kept.data() + (2 * nz + 1) * room * thread;
        Real* const upper = eliminated + nz * room;
        Real* const values = upper + nz * room;
        for (Index y = ny * thread / team.threads(); y < ny * (thread + 1) / team.threads(); ++y)
            for (Index x = 0; x < nx; x += room) {
                const Index columns = std::min(room, nx - x);
                for (Index z = 0; z < nz; ++z) {
                    fetch<0>(right.at(y, std::min(z + ahead, nz - 1)) + x, columns);
                    eliminate(Elimination<Real>{right.at(y, z) + x, minus ? minus->at(y, z) + x : nullptr,
                                                factors.at(y, z) + column_factors * x,
                                                z > 0 ? eliminated + (z - 1) * room : nullptr, eliminated + z * room,
                                                upper + z * room},
                              columns);
                }
                std::fill(values, values + columns, Real{0});
                for (Index z = nz; z-- > 0;) {
                    fetch<1>(solution.at(y, std::max(z - ahead, Index{0})) + x, columns);
                    substitute(Substitution<Real>{eliminated + z * room, upper + z * room,
                                                  plus ? plus->at(y, z) + x : nullptr, values, solution.at(y, z) + x},
                               columns);
                }
            }
    });
}

template void helmholtz(View<const float>, PointNumbers<float>, View<float>, Team&);
template void helmholtz(View<const double>, PointNumbers<double>, View<double>, Team&);
template void solve_columns(View<const float>, const View<const float>*, const View<const float>*, PointNumbers<float>,
                            View<float>, Team&);
template void solve_columns(View<const double>, const View<const double>*, const View<const double>*,
                            PointNumbers<double>, View<double>, Team&);

}  // namespace tradewind::kernel
