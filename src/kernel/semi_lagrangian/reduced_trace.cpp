#include <mutex>

#include "base/error.hpp"
#include "kernel/clones.hpp"
#include "kernel/semi_lagrangian/row_cells.hpp"

namespace tradewind::kernel {

namespace {

// Computes the sum V_A + E_D [component][point] of some points of a level. Returns whether the winds are there.
template <class Real>
[[gnu::always_inline]] inline bool row_winds(const Trajectories<Real>& what, const RowWindow& window, Index at, Index z,
                                             Index n, double (*sum)[departure_chunk]) {
    const Block& block = what.block;
    const Index volume = block.points[0] * block.levels;
    alignas(64) std::int32_t row[departure_chunk], cell[departure_chunk], low[departure_chunk];
    alignas(64) std::int32_t place[4][departure_chunk];
    alignas(64) double fx[2][departure_chunk], fy[departure_chunk], fz[departure_chunk];
    const double* const x = what.departures + at;
    bool there = locate_rows(x + volume, n, window, 0, 1, row, fy);
    if (what.lifted) there = locate_level(x + 2 * volume, n, block.levels, low, fz) && there;
    if (!there) return false;
    for (std::int32_t k = 0; k < 2; ++k) {
        there = locate_columns(x, n, window, row, k, cell, fx[k]) && there;
        for (std::int32_t column = 0; column < 2; ++column)
            there = look_up_cells(window, cell, column + 1, n, place[2 * k + column]) >= 0 && there;
    }
    if (!there) return false;
    const auto between = [&](const Real* values, Index i) __attribute__((always_inline)) {
        const double a = values[place[0][i]], b = values[place[1][i]], c = values[place[2][i]], d = values[place[3][i]];
        const double before = a + fx[0][i] * (b - a), behind = c + fx[1][i] * (d - c);
        return before + fy[i] * (behind - before);
    };
    sum_winds(what, at, z, n, low, fz, between, sum);
    return true;
}

// Some columns of a level, `begin` of the block on: from winds to departure points.
template <class Real>
[[gnu::always_inline]] inline void row_depart(const Trajectories<Real>& what, const ReducedRows& grid, Index begin,
                                              Index at, Index n, const double (*sum)[departure_chunk]) {
    alignas(64) double longitude[departure_chunk], latitude[departure_chunk];
    const double *const cos_y = what.cos_y + begin, *const sin_y = what.sin_y + begin;
    displaced(
        what.cos_x + begin, what.sin_x + begin, [=](Index i) __attribute__((always_inline)) { return cos_y[i]; },
        [=](Index i) __attribute__((always_inline)) { return sin_y[i]; }, what.half_step, sum, n, longitude, latitude);
    double* const to_x = what.departures + at;
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) to_x[i] = longitude[i] * (1 / (2 * pi));
    count_rows(grid, latitude, n, to_x + what.block.points[0] * what.block.levels);
}

// The rows that some departure points lie behind.
[[gnu::always_inline]] inline void note_rows(const double* y, Index n, Found& found) {
    widen<false>(y, n, CellAxis{}, found.low[1], found.high[1]);
}

template <class Real>
[[gnu::always_inline]] inline void trace_level(const Trajectories<Real>& what, const RowWindow& window, Index z,
                                               Found& found) {
    const Block& block = what.block;
    alignas(64) double sum[4][departure_chunk];
    each_chunk_of(block.points[0], [&](Index begin, Index n) __attribute__((always_inline)) {
        const Index at = z * block.points[0] + begin;
        for (int done = what.guess ? -1 : 0; done < what.iterations; ++done) {
            if (done < 0) {
                double_winds(what, at, n, sum);
            } else if (!row_winds(what, window, at, z, n, sum)) {
                found.outside = true;
                return;
            }
            row_depart(what, *window.grid, begin, at, n, sum);
            if (what.lifted) rise(what, z, at, n, sum[what.components() - 1]);
        }
        check_finite(what, at, n, found);
        note_rows(what.departures + block.points[0] * block.levels + at, n, found);
    });
}

TRADEWIND_WIDE_CLONES void run_level(const Trajectories<float>& what, const RowWindow& window, Index z, Found& found) {
    trace_level(what, window, z, found);
}

TRADEWIND_WIDE_CLONES void run_level(const Trajectories<double>& what, const RowWindow& window, Index z, Found& found) {
    trace_level(what, window, z, found);
}

CellRange range_of_rows(Found found) {
    found.low[0] = found.high[0] = 0;
    return range_of(found);
}

}  // namespace

CellRange rows_reached(const double* departures, const Block& block) {
    Found found;
    const Index volume = block.points[0] * block.levels;
    note_rows(departures + volume, volume, found);
    return range_of_rows(found);
}

template <class Real>
CellRange trace(const Trajectories<Real>& what, const RowWindow& window, Index& not_finite, Team& team) {
    Found all;
    std::mutex one;
    team.run([&](int thread) {
        Found mine;
        const Index first = what.block.levels * thread / team.threads();
        const Index last = what.block.levels * (thread + 1) / team.threads();
        for (Index z = first; z < last; ++z) run_level(what, window, z, mine);
        const std::lock_guard lock(one);
        all.take(mine);
    });
    if (all.outside) throw InputError("departure points: the window does not have the winds around one of them");
    not_finite = all.not_finite;
    return range_of_rows(all);
}

template CellRange trace(const Trajectories<float>&, const RowWindow&, Index&, Team&);
template CellRange trace(const Trajectories<double>&, const RowWindow&, Index&, Team&);

}  // namespace tradewind::kernel
