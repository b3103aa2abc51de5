#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "base/error.hpp"
#include "kernel/clones.hpp"
#include "kernel/semi_lagrangian_cells.hpp"

namespace tradewind::kernel {

namespace {

constexpr double pi = 3.14159265358979323846;
// A departure point so near to a grid line lies on it, so that no rounding decides which cell it is in.
constexpr double snap = 1e-10;

// The angle of the point (x, y) from the x axis: by vectors, and the same bits on every processor. The ratio of
// the smaller to the larger is brought near 0, tan(pi/8) or 1, which leaves a rest below tan(pi/16) to the series of
// the arc tangent.
[[gnu::always_inline]] inline double angle_of(double y, double x) {
    constexpr double middle = 0.41421356237309504880, below = 0.19891236737965800691, above = 0.66817863791929891999;
    const double ax = std::fabs(x), ay = std::fabs(y);
    const double large = ax > ay ? ax : ay, small = ax > ay ? ay : ax;
    const bool first = small < below * large, second = small < above * large;
    const double near = first ? 0.0 : second ? middle : 1.0;
    const double base = first ? 0.0 : second ? pi / 8 : pi / 4;
    const double t = large > 0 ? (small - near * large) / (large + near * small) : large, q = t * t;  // 0, or no number
    double sum = 1.0 / 23;
#pragma GCC unroll 12
    for (int k = 21; k > 0; k -= 2) sum = 1.0 / k - q * sum;
    double angle = base + t * sum;
    angle = ay > ax ? pi / 2 - angle : angle;
    angle = x < 0 ? pi - angle : angle;
    return y < 0 ? -angle : angle;
}

[[gnu::always_inline]] inline double snapped(double coordinate) {
    const double nearest = std::floor(coordinate + 0.5);
    return std::fabs(coordinate - nearest) < snap ? nearest : coordinate;
}

// Along a great circle the two winds point in two directions, so that half of their sum is shorter than the way. By
// which factor, is tan(x) / x with x half the angle of the way; here as a series of the square p of that half sum.
[[gnu::always_inline]] inline double curvature(double p) {
    return 1 + p * (1.0 / 12 + p * (7.0 / 240 + p * (23.0 / 1680 + p * (5351.0 / 725760 + p * 137387.0 / 31933440))));
}

// The sum [component][point] of which the first guess is made.
template <class Real>
[[gnu::always_inline]] inline void double_winds(const Trajectories<Real>& what, Index row, Index n,
                                                double (*sum)[departure_chunk]) {
    const Index volume = what.block.points[0] * what.block.points[1] * what.block.levels;
    for (Index c = 0; c < what.components(); ++c)
#pragma GCC ivdep
        for (Index i = 0; i < n; ++i) sum[c][i] = 2 * static_cast<double>(what.wind[c * volume + row + i]);
}

// Computes the sum V_A + E_D [component][point] of some points of a row of the block.
template <class Real>
[[gnu::always_inline]] inline bool winds(const Trajectories<Real>& what, const CellAxis* axes, const Rows& rows,
                                         Index row, Index z, Index n, double (*sum)[departure_chunk]) {
    const Block& block = what.block;
    const Index level = block.points[0] * block.points[1], volume = level * block.levels;
    const Index components = what.components();
    alignas(64) std::int32_t x[departure_chunk], y[departure_chunk], low[departure_chunk], place[4][departure_chunk];
    alignas(64) double fx[departure_chunk], fy[departure_chunk], fz[departure_chunk];
    bool there = locate(what.departures + row, n, axes[0], x, fx);
    there = locate(what.departures + volume + row, n, axes[1], y, fy) && there;
    if (what.lifted) there = locate_level(what.departures + 2 * volume + row, n, block.levels, low, fz) && there;
    if (!there) return false;
    const Lie lie = lie_of(rows, 2, 2, x, y, n, place[0]);
    if (lie == Lie::anywhere) {
        for (int corner = 0; corner < 4; ++corner)
            there = look_up_columns(what.window, corner % 2, corner / 2, x, y, n, place[corner]) >= 0 && there;
        if (!there) return false;
    }
    const Index stride = what.extrapolated.stride;
    const auto sum_up = [&](auto at) __attribute__((always_inline)) {
        const auto between = [&](const Real* values, Index i) __attribute__((always_inline)) {
            const double a = at(values, 0, i), b = at(values, 1, i), c = at(values, 2, i), d = at(values, 3, i);
            const double south = a + fx[i] * (b - a), north = c + fx[i] * (d - c);
            return south + fy[i] * (north - south);
        };
        for (Index c = 0; c < components; ++c) {
            const Real* const here = what.wind + c * volume + row;
            const Real* const values = what.extrapolated.values + c * block.levels * stride;
            if (what.lifted) {
#pragma GCC ivdep
                for (Index i = 0; i < n; ++i) {
                    const double below = between(values + low[i] * stride, i);
                    const double above = between(values + (low[i] + 1) * stride, i);
                    sum[c][i] = static_cast<double>(here[i]) + (below + fz[i] * (above - below));
                }
            } else {
                const Real* const same = values + z * stride;
#pragma GCC ivdep
                for (Index i = 0; i < n; ++i) sum[c][i] = static_cast<double>(here[i]) + between(same, i);
            }
        }
    };
    const Index first = place[0][0], pitch = rows.pitch;
    if (lie == Lie::anywhere)
        sum_up([&](const Real* values, int corner, Index i)
                   __attribute__((always_inline)) { return values[place[corner][i]]; });
    else if (lie == Lie::by_rows || what.lifted)
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
    const double *cos_x = what.cos_x + begin, *sin_x = what.sin_x + begin;
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const double px = what.half_step * sum[0][i], py = what.half_step * sum[1][i], pz = what.half_step * sum[2][i];
        const double longer = curvature(px * px + py * py + pz * pz);
        const double dx = cos_y * cos_x[i] - longer * px, dy = cos_y * sin_x[i] - longer * py, dz = sin_y - longer * pz;
        to_x[i] = snapped(per_x * angle_of(dy, dx));
        to_y[i] = snapped(per_y * angle_of(dz, std::sqrt(dx * dx + dy * dy)) + middle);
    }
}

// Heights of departure points, between the lowest and the highest level.
template <class Real>
[[gnu::always_inline]] inline void rise(const Trajectories<Real>& what, Index z, Index row, Index n,
                                        const double* sum) {
    const Block& block = what.block;
    const double at = static_cast<double>(z), top = static_cast<double>(block.levels - 1);
    double* const to = what.departures + 2 * block.points[0] * block.points[1] * block.levels + row;
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const double height = snapped(at - what.half_step * sum[i]);
        to[i] = height < 0 ? 0.0 : height > top ? top : height;
    }
}

struct Found {
    double low[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    double high[2] = {-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    bool outside = false;
    Index not_finite = -1;
};

// Widens a range by the cells of some coordinates. Each of several lanes keeps its own range: one alone would wait for
// the comparison before. Without a period the cell of the lowest coordinate is the lowest cell.
template <bool periodic>
[[gnu::always_inline]] inline void widen(const double* at, Index n, const CellAxis& axis, double& lowest,
                                         double& highest) {
    constexpr Index lanes = 16;
    double low[lanes], high[lanes];
    for (Index lane = 0; lane < lanes; ++lane) {
        low[lane] = std::numeric_limits<double>::infinity();
        high[lane] = -std::numeric_limits<double>::infinity();
    }
    const auto take = [&](Index i, Index lane) __attribute__((always_inline)) {
        const double value = periodic ? cell_of<periodic>(std::floor(at[i]), axis) : at[i];
        low[lane] = value < low[lane] ? value : low[lane];
        high[lane] = value > high[lane] ? value : high[lane];
    };
    const Index whole = n - n % lanes;
    for (Index i = 0; i < whole; i += lanes)
#pragma GCC ivdep
        for (Index lane = 0; lane < lanes; ++lane) take(i + lane, lane);
    for (Index i = whole; i < n; ++i) take(i, i - whole);
    for (Index lane = 0; lane < lanes; ++lane) {
        const double from = periodic ? low[lane] : cell_of<periodic>(std::floor(low[lane]), axis);
        const double to = periodic ? high[lane] : cell_of<periodic>(std::floor(high[lane]), axis);
        lowest = from < lowest ? from : lowest;
        highest = to > highest ? to : highest;
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

template <class Real>
[[gnu::always_inline]] inline void check_finite(const Trajectories<Real>& what, Index row, Index n, Found& found) {
    const Index volume = what.block.points[0] * what.block.points[1] * what.block.levels;
    const Index coordinates = what.lifted ? 3 : 2;
    bool finite = true;
    for (Index c = 0; c < coordinates; ++c) finite = all_finite(what.departures + c * volume + row, n) && finite;
    if (finite || found.not_finite >= 0) return;
    for (Index i = 0; i < n && found.not_finite < 0; ++i)
        for (Index c = 0; c < coordinates; ++c)
            if (!std::isfinite(what.departures[c * volume + row + i])) found.not_finite = row + i;
}

template <class Real>
[[gnu::always_inline]] inline void level_of(const Trajectories<Real>& what, const Rows& rows, Index z, Found& found) {
    const Block& block = what.block;
    const Index volume = block.points[0] * block.points[1] * block.levels;
    const CellAxis numbered[2] = {cell_axis(block, 0), cell_axis(block, 1)};
    const CellAxis axes[2] = {cell_axis(block, what.window, 0, 0, 1), cell_axis(block, what.window, 1, 0, 1)};
    alignas(64) double sum[4][departure_chunk];
    for (Index y = 0; y < block.points[1]; ++y)
        each_chunk(block.points[0], [&](Index begin, Index n) __attribute__((always_inline)) {
            const Index row = (z * block.points[1] + y) * block.points[0] + begin;
            // All iterations of a chunk at once: what they read and write is in the first-level cache then.
            for (int done = what.guess ? -1 : 0; done < what.iterations; ++done) {
                if (done < 0) {
                    double_winds(what, row, n, sum);
                } else if (!winds(what, axes, rows, row, z, n, sum)) {
                    found.outside = true;
                    return;
                }
                depart(what, begin, y, row, n, sum);
                if (what.lifted) rise(what, z, row, n, sum[what.components() - 1]);
            }
            check_finite(what, row, n, found);
            note(what.departures, volume, numbered, row, n, found);
        });
}

TRADEWIND_WIDE_CLONES void run_level(const Trajectories<float>& what, const Rows& rows, Index z, Found& found) {
    level_of(what, rows, z, found);
}

TRADEWIND_WIDE_CLONES void run_level(const Trajectories<double>& what, const Rows& rows, Index z, Found& found) {
    level_of(what, rows, z, found);
}

CellRange range_of(const Found& all) {
    CellRange range;
    for (int axis = 0; axis < 2; ++axis) {
        if (!std::isfinite(all.low[axis]) || !std::isfinite(all.high[axis]) || std::fabs(all.low[axis]) > 1e15 ||
            std::fabs(all.high[axis]) > 1e15)
            continue;  // no points, or none that is a number
        range.low[axis] = static_cast<Index>(all.low[axis]);
        range.high[axis] = static_cast<Index>(all.high[axis]);
    }
    return range;
}

}  // namespace

CellRange cells_of(const double* departures, const Block& block) {
    const CellAxis axes[2] = {cell_axis(block, 0), cell_axis(block, 1)};
    const Index volume = block.points[0] * block.points[1] * block.levels;
    Found found;
    note(departures, volume, axes, 0, volume, found);
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
        for (int axis = 0; axis < 2; ++axis) {
            all.low[axis] = std::min(all.low[axis], mine.low[axis]);
            all.high[axis] = std::max(all.high[axis], mine.high[axis]);
        }
        all.outside = all.outside || mine.outside;
        if (mine.not_finite >= 0 && (all.not_finite < 0 || mine.not_finite < all.not_finite))
            all.not_finite = mine.not_finite;
    });
    if (all.outside) throw InputError("departure points: the window does not have the winds around one of them");
    not_finite = all.not_finite;
    return range_of(all);
}

template CellRange trace(const Trajectories<float>&, Index&, Team&);
template CellRange trace(const Trajectories<double>&, Index&, Team&);

}  // namespace tradewind::kernel
