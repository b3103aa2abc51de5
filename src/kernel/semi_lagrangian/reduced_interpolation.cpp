#include <algorithm>

#include "base/error.hpp"
#include "kernel/clones.hpp"
#include "kernel/semi_lagrangian/levels.hpp"
#include "kernel/semi_lagrangian/row_cells.hpp"
#include "kernel/semi_lagrangian/stencils.hpp"

namespace tradewind::kernel {

namespace {

// Cubic weights of Lagrange along the meridian, of the four rows around the rest of the way to the next one.
template <class Real>
[[gnu::always_inline]] inline void weigh_rows(const RowWindow& window, const std::int32_t* row, const double* rest,
                                              Index n, Stencil<Real>& stencils) {
    const Index first = window.first + ReducedRows::beyond;
    const double* const latitude = window.grid->latitude.data() + first;
    const std::array<double, 4>* const inverse = window.grid->inverse.data() + first;
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const std::int32_t in = row[i];
        const double here = latitude[in], height = latitude[in + 1] - here, t = rest[i] * height;
        const double a = t - (latitude[in - 1] - here), b = t, c = t - height, d = t - (latitude[in + 2] - here);
        stencils.y[0][i] = static_cast<Real>(b * c * d * inverse[in][0]);
        stencils.y[1][i] = static_cast<Real>(a * c * d * inverse[in][1]);
        stencils.y[2][i] = static_cast<Real>(a * b * d * inverse[in][2]);
        stencils.y[3][i] = static_cast<Real>(a * b * c * inverse[in][3]);
        stencils.fy[i] = static_cast<Real>(rest[i]);
    }
}

// The stencils of some points of a level. Returns whether the window has them.
template <class Real>
[[gnu::always_inline]] inline bool prepare_rows(const Interpolation& what, const RowWindow& window, Index at, Index n,
                                                Index stride, RowStencils<Real>& stencils) {
    const Index volume = what.block.points[0] * what.block.levels;
    alignas(64) std::int32_t row[departure_chunk], cell[departure_chunk], low[departure_chunk];
    alignas(64) double fx[departure_chunk], fy[departure_chunk], fz[departure_chunk];
    const double* const x = what.departures + at;
    bool there = locate_rows(x + volume, n, window, 1, 2, row, fy);
    if (what.lifted) there = locate_level(x + 2 * volume, n, what.block.levels, low, fz) && there;
    if (!there) return false;
    std::int32_t missing = 0;
    for (std::int32_t k = 0; k < 4; ++k) {
        there = locate_columns(x, n, window, row, k - 1, cell, fx) && there;
        for (std::int32_t column = 0; column < 4; ++column)
            if (what.full || !is_corner(k, column))
                missing |= look_up_cells(window, cell, column, n, stencils.place[4 * k + column]);
        if (what.full || k == 1 || k == 2) weigh(fx, n, stencils.x[k]);
#pragma GCC ivdep
        for (Index i = 0; i < n; ++i) stencils.fx[k][i] = static_cast<Real>(fx[i]);
    }
    if (!there || missing < 0) return false;
    weigh_rows(window, row, fy, n, stencils);
    if (what.lifted) weigh_levels(low, fz, n, what.block.levels, stride, stencils);
    return true;
}

template <class Real>
[[gnu::always_inline]] inline bool interpolate_level(const Interpolation& what, const RowWindow& window,
                                                     Layered<Real> field, Index z, Index first, Index last,
                                                     Real* scratch, Index apart) {
    const Block& block = what.block;
    RowStencils<Real> stencils;
    bool there = true;
    each_chunk_of(block.points[0], [&](Index begin, Index n) __attribute__((always_inline)) {
        if (!prepare_rows(what, window, z * block.points[0] + begin, n, field.stride, stencils)) {
            there = false;
            return;
        }
        for (Index tracer = first; tracer < last; ++tracer) {
            const Real* const values = field.values + tracer * block.levels * field.stride;
            Real* const result = scratch + begin + (tracer - first) * apart;
            by_kind(what, [&](auto full, auto limited) __attribute__((always_inline)) {
                if (what.lifted)
                    lifted<full(), limited()>(values, stencils, n, result);
                else
                    flat<full(), limited()>(values + z * field.stride, Anywhere<Real>{stencils}, stencils, n, result);
            });
        }
    });
    return there;
}

TRADEWIND_CLONES bool run_level(const Interpolation& what, const RowWindow& window, Layered<float> field, Index z,
                                Index first, Index last, float* scratch, Index apart) {
    return interpolate_level(what, window, field, z, first, last, scratch, apart);
}

TRADEWIND_CLONES bool run_level(const Interpolation& what, const RowWindow& window, Layered<double> field, Index z,
                                Index first, Index last, double* scratch, Index apart) {
    return interpolate_level(what, window, field, z, first, last, scratch, apart);
}

// Marks cells first..first + count - 1 after each of some cells. Points that follow one another often have stencils
// that touch or overlap: those are one range.
[[gnu::always_inline]] inline void mark_cells(const std::int32_t* cell, Index n, std::int32_t first, std::int32_t count,
                                              std::uint8_t* marks) {
    int apart = 0;
#pragma GCC ivdep
    for (Index i = 0; i + 1 < n; ++i) {
        const std::int32_t step = cell[i + 1] - cell[i];
        apart |= (step < 0) | (step > count) ? 1 : 0;
    }
    if (apart == 0) {
        std::fill_n(marks + cell[0] + first, cell[n - 1] - cell[0] + count, std::uint8_t{1});
        return;
    }
    for (Index i = 0; i < n; ++i) std::fill_n(marks + cell[i] + first, count, std::uint8_t{1});
}

// Returns whether the window has all stencils.
TRADEWIND_CLONES bool mark_rows(const double* departures, const Block& block, const RowWindow& window, Reach reach,
                                std::uint8_t* marks) {
    const std::int32_t before = reach == Reach::linear ? 0 : 1, deep = reach == Reach::linear ? 2 : 4;
    const Index volume = block.points[0] * block.levels;
    alignas(64) std::int32_t row[departure_chunk], cell[departure_chunk];
    alignas(64) double rest[departure_chunk];
    bool there = true;
    each_chunk_of(volume, [&](Index begin, Index n) __attribute__((always_inline)) {
        const double* const x = departures + begin;
        there = locate_rows(x + volume, n, window, before, deep - 1 - before, row, rest) && there;
        if (!there) return;
        for (std::int32_t k = 0; k < deep; ++k) {
            there = locate_columns(x, n, window, row, k - before, cell, rest) && there;
            if (!there) return;
            const bool two = reach == Reach::linear || (reach == Reach::quasi_cubic && (k == 0 || k == 3));
            mark_cells(cell, n, two ? 1 : 0, two ? 2 : 4, marks);
        }
    });
    return there;
}

}  // namespace

void mark(const double* departures, const Block& block, const RowWindow& window, Reach reach, std::uint8_t* marks) {
    if (!mark_rows(departures, block, window, reach, marks))
        throw InputError("departure points: the window does not have the stencil of one of them");
}

template <class Real>
Index interpolate(const Interpolation& what, const RowWindow& window, Layered<Real> field, Team& team) {
    return interpolate_levels(what, field, team, [&](Index z, Index first, Index last, Real* scratch, Index apart) {
        return run_level(what, window, field, z, first, last, scratch, apart);
    });
}

template Index interpolate(const Interpolation&, const RowWindow&, Layered<float>, Team&);
template Index interpolate(const Interpolation&, const RowWindow&, Layered<double>, Team&);

}  // namespace tradewind::kernel
