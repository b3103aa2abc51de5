#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "base/error.hpp"
#include "kernel/clones.hpp"
#include "kernel/semi_lagrangian/cells.hpp"
#include "kernel/semi_lagrangian/departure.hpp"

namespace tradewind::kernel {

namespace {

// Computes the sum V_A + E_D [component][point] of some points of a row of the block. Returns whether the winds are
// there; `strided`: among those that lie by rows.
template <class Real>
[[gnu::always_inline]] inline bool winds(const Trajectories<Real>& what, const CellAxis* axes, const Rows& rows,
                                         bool strided, Index row, Index z, Index n, double (*sum)[departure_chunk]) {
    const Block& block = what.block;
    const Index level = block.points[0] * block.points[1], volume = level * block.levels;
    alignas(64) std::int32_t x[departure_chunk], y[departure_chunk], low[departure_chunk], place[4][departure_chunk];
    alignas(64) double fx[departure_chunk], fy[departure_chunk], fz[departure_chunk];
    bool there = locate(what.departures + row, n, axes[0], x, fx);
    there = locate(what.departures + volume + row, n, axes[1], y, fy) && there;
    if (what.lifted) there = locate_level(what.departures + 2 * volume + row, n, block.levels, low, fz) && there;
    if (!there) return false;
    const Placement placement = placement_of(rows, 2, 2, x, y, n, place[0]);
    if (placement == Placement::scattered) {
        if (strided) return false;
        for (int corner = 0; corner < 4; ++corner)
            there = look_up_columns(what.window, corner % 2, corner / 2, x, y, n, place[corner]) >= 0 && there;
        if (!there) return false;
    }
    const auto sum_up = [&](auto at) __attribute__((always_inline)) {
        const auto between = [&](const Real* values, Index i) __attribute__((always_inline)) {
            const double a = at(values, 0, i), b = at(values, 1, i), c = at(values, 2, i), d = at(values, 3, i);
            const double south = a + fx[i] * (b - a), north = c + fx[i] * (d - c);
            return south + fy[i] * (north - south);
        };
        sum_winds(what, row, z, n, low, fz, between, sum);
    };
    const Index first = place[0][0], pitch = rows.pitch;
    if (placement == Placement::scattered)
        sum_up([&](const Real* values, int corner, Index i)
                   __attribute__((always_inline)) { return values[place[corner][i]]; });
    else if (placement == Placement::strided || what.lifted)
        sum_up([&](const Real* values, int corner, Index i)
                   __attribute__((always_inline)) { return values[place[0][i] + (corner / 2 * pitch + corner % 2)]; });
    else
        sum_up([&](const Real* values, int corner, Index i)
                   __attribute__((always_inline)) { return values[first + (corner / 2 * pitch + corner % 2) + i]; });
    return true;
}

// Points of a row, `begin` of the block's first column on: from winds to departure points.
template <class Real>
[[gnu::always_inline]] inline void depart(const Trajectories<Real>& what, Index begin, Index y, Index row, Index n,
                                          const double (*sum)[departure_chunk]) {
    const Block& block = what.block;
    const Index volume = block.points[0] * block.points[1] * block.levels;
    double *to_x = what.departures + row, *to_y = to_x + volume;
    if (what.geometry == Geometry::plane) {
        const double step = what.half_step * what.scale, at_y = static_cast<double>(block.first[1] + y);
        const double at_x = static_cast<double>(block.first[0] + begin);
        const auto count = static_cast<std::int32_t>(n);  // of 64 bits there is no vector of doubles below AVX-512
#pragma GCC ivdep
        for (std::int32_t i = 0; i < count; ++i) {
            to_x[i] = snapped((at_x + static_cast<double>(i)) - step * sum[0][i]);
            to_y[i] = snapped(at_y - step * sum[1][i]);
        }
        return;
    }
    const double per_x = static_cast<double>(what.grid[0]) / (2 * pi), per_y = static_cast<double>(what.grid[1]) / pi;
    const double middle = static_cast<double>(what.grid[1]) / 2 - 0.5;
    const double cos_y = what.cos_y[y], sin_y = what.sin_y[y];
    alignas(64) double longitude[departure_chunk], latitude[departure_chunk];
    displaced(
        what.cos_x + begin, what.sin_x + begin, [=](Index) __attribute__((always_inline)) { return cos_y; },
        [=](Index) __attribute__((always_inline)) { return sin_y; }, what.half_step, sum, n, longitude, latitude);
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        to_x[i] = snapped(per_x * longitude[i]);
        to_y[i] = snapped(per_y * latitude[i] + middle);
    }
}

// The cells of some departure points; `volume`: points of the block.
[[gnu::always_inline]] inline void note(const double* departures, Index volume, const CellAxis* axes, Index row,
                                        Index n, Found& found) {
    for (int axis = 0; axis < 2; ++axis) {
        const double* const at = departures + axis * volume + row;
        if (axes[axis].period > 0)
            widen<true>(at, n, axes[axis], found.low[axis], found.high[axis]);
        else
            widen<false>(at, n, axes[axis], found.low[axis], found.high[axis]);
    }
}

// Brings what the chunk of the next row needs into the cache: chunks that wait are not in line.
template <class Real>
[[gnu::always_inline]] inline void fetch_ahead(const Trajectories<Real>& what, const Rows& own, Index begin, Index y,
                                               Index z, Index n) {
    constexpr Index line = 64 / sizeof(Real);
    const Block& block = what.block;
    const Index volume = block.points[0] * block.points[1] * block.levels;
    const Index row = (z * block.points[1] + y) * block.points[0] + begin;
    const Index place = own.place + (y - what.window.first[1]) * own.pitch + begin - what.window.first[0];
    for (Index i = 0; i < n; i += line) {
        for (Index c = 0; c < (what.lifted ? 3 : 2); ++c) __builtin_prefetch(what.departures + c * volume + row + i, 1);
        for (Index c = 0; c < what.components(); ++c) {
            __builtin_prefetch(what.wind + c * volume + row + i);
            __builtin_prefetch(what.extrapolated.values + (c * block.levels + z) * what.extrapolated.stride + place +
                               i);
        }
    }
}

template <class Real>
[[gnu::always_inline]] inline void level_of(const Trajectories<Real>& what, const Rows& rows, Index z, Found& found) {
    const Block& block = what.block;
    const Index volume = block.points[0] * block.points[1] * block.levels;
    std::size_t number = static_cast<std::size_t>(z * block.points[1] * Chunks::per_row(block.points[0]));
    const CellAxis numbered[2] = {cell_axis(block, 0), cell_axis(block, 1)};
    const CellAxis axes[2] = {cell_axis(block, what.window, 0, 0, 1), cell_axis(block, what.window, 1, 0, 1)};
    const Rows own = within_block(rows, what.window, block);
    alignas(64) double sum[4][departure_chunk];
    for (Index y = 0; y < block.points[1]; ++y)
        each_chunk(block.points[0], [&](Index begin, Index n) __attribute__((always_inline)) {
            const Index line = z * block.points[1] + y, row = line * block.points[0] + begin;
            Chunk whole;
            Chunk& chunk = what.chunks != nullptr ? what.chunks->all[number++] : whole;
            if (what.chunks != nullptr && !what.guess && chunk.done != what.done) return;
            if (what.chunks != nullptr && !what.guess && y + 1 < block.points[1])
                fetch_ahead(what, own, begin, y + 1, z, n);
            // All iterations of a chunk at once: what they read and write is in the first-level cache then.
            int done = what.guess ? -1 : what.done;
            for (; done < what.iterations; ++done) {
                const bool fetched = !what.guess && done == what.done;
                const bool near = what.chunks != nullptr && !what.guess && !fetched;
                if (done < 0) {
                    double_winds(what, row, n, sum);
                } else if (!winds(what, axes, near ? own : rows, near, row, z, n, sum)) {
                    if (what.chunks != nullptr && !fetched) break;
                    found.outside = true;
                    return;
                }
                depart(what, begin, y, row, n, sum);
                if (what.lifted) rise(what, z, row, n, sum[what.components() - 1]);
            }
            check_finite(what, row, n, found);
            Found here;
            note(what.departures, volume, numbered, row, n, here);
            for (std::size_t axis = 0; axis < 2; ++axis) {
                found.low[axis] = std::min(found.low[axis], here.low[axis]);
                found.high[axis] = std::max(found.high[axis], here.high[axis]);
                chunk.low[axis] = here.low[axis];
                chunk.high[axis] = here.high[axis];
            }
            chunk.done = done;
        });
}

TRADEWIND_WIDE_CLONES void run_level(const Trajectories<float>& what, const Rows& rows, Index z, Found& found) {
    level_of(what, rows, z, found);
}

TRADEWIND_WIDE_CLONES void run_level(const Trajectories<double>& what, const Rows& rows, Index z, Found& found) {
    level_of(what, rows, z, found);
}

}  // namespace

CellRange cells_of(const double* departures, const Block& block) {
    const CellAxis axes[2] = {cell_axis(block, 0), cell_axis(block, 1)};
    const Index volume = block.points[0] * block.points[1] * block.levels;
    Found found;
    note(departures, volume, axes, 0, volume, found);
    return range_of(found);
}

CellRange Chunks::cells(int done) const {
    Found found;
    for (const Chunk& chunk : all) {
        if (chunk.done != done) continue;
        for (std::size_t axis = 0; axis < 2; ++axis) {
            found.low[axis] = std::min(found.low[axis], chunk.low[axis]);
            found.high[axis] = std::max(found.high[axis], chunk.high[axis]);
        }
    }
    return range_of(found);
}

template <class Real>
CellRange trace(const Trajectories<Real>& what, Index& not_finite, Team& team) {
    const Rows rows = what.iterations > 0 ? rows_of(what.window, what.block) : Rows{};
    Found all;
    std::mutex one;
    team.run([&](int thread) {
        Found mine;
        const Index first = what.block.levels * thread / team.threads();
        const Index last = what.block.levels * (thread + 1) / team.threads();
        for (Index z = first; z < last; ++z) run_level(what, rows, z, mine);
        const std::lock_guard lock(one);
        all.take(mine);
    });
    if (all.outside) throw InputError("departure points: the window does not have the winds around one of them");
    not_finite = all.not_finite;
    return range_of(all);
}

template CellRange trace(const Trajectories<float>&, Index&, Team&);
template CellRange trace(const Trajectories<double>&, Index&, Team&);

}  // namespace tradewind::kernel
