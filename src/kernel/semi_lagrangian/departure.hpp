// Where the air of points was before: from winds to angles and heights, on whatever grid.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernel/semi_lagrangian/cells.hpp"

namespace tradewind::kernel {

inline constexpr double pi = 3.14159265358979323846;
// A departure point so near to a grid line lies on it, so that no rounding decides which cell it is in.
inline constexpr double snap = 1e-10;

// A ratio of two lengths brought near 0, tan(pi/8) or 1, and the angle there.
struct Nearest {
    double ratio, angle;
};

[[gnu::always_inline]] inline Nearest nearest_angle(double small, double large) {
    constexpr double middle = 0.41421356237309504880, below = 0.19891236737965800691, above = 0.66817863791929891999;
    const bool first = small < below * large, second = small < above * large;
    return {first ? 0.0 : second ? middle : 1.0, first ? 0.0 : second ? pi / 8 : pi / 4};
}

// The angles of points (x, y) from the x axis: by vectors, and the same bits on every processor. The rest of the ratio
// of the smaller to the larger is below tan(pi/16), for the series of the arc tangent. Three short loops, as in one of
// them all the next points would wait for the long chain of operations of those before.
[[gnu::always_inline]] inline void angles_of(const double* y, const double* x, Index n, double* angle) {
    alignas(64) double rest[departure_chunk];
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const double ax = std::fabs(x[i]), ay = std::fabs(y[i]);
        const double large = ax > ay ? ax : ay, small = ax > ay ? ay : ax, near = nearest_angle(small, large).ratio;
        rest[i] = large > 0 ? (small - near * large) / (large + near * small) : large;  // 0, or no number
    }
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const double t = rest[i], q = t * t;
        double sum = 1.0 / 23;
#pragma GCC unroll 12
        for (int k = 21; k > 0; k -= 2) sum = 1.0 / k - q * sum;
        rest[i] = t * sum;
    }
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const double ax = std::fabs(x[i]), ay = std::fabs(y[i]);
        const double large = ax > ay ? ax : ay, small = ax > ay ? ay : ax;
        double found = nearest_angle(small, large).angle + rest[i];
        found = ay > ax ? pi / 2 - found : found;
        found = x[i] < 0 ? pi - found : found;
        angle[i] = y[i] < 0 ? -found : found;
    }
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

// The angles of where the air of some points comes from, of a sum of winds [component][point]. Cosines and sines of the
// points' longitudes, and those of their latitudes as functions of a point's number.
template <class Cosine, class Sine>
[[gnu::always_inline]] inline void displaced(const double* cos_x, const double* sin_x, Cosine cos_y, Sine sin_y,
                                             double half_step, const double (*sum)[departure_chunk], Index n,
                                             double* longitude, double* latitude) {
    alignas(64) double dx[departure_chunk], dy[departure_chunk], dz[departure_chunk], flat[departure_chunk];
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const double px = half_step * sum[0][i], py = half_step * sum[1][i], pz = half_step * sum[2][i];
        const double longer = curvature(px * px + py * py + pz * pz);
        dx[i] = cos_y(i) * cos_x[i] - longer * px;
        dy[i] = cos_y(i) * sin_x[i] - longer * py;
        dz[i] = sin_y(i) - longer * pz;
        flat[i] = std::sqrt(dx[i] * dx[i] + dy[i] * dy[i]);
    }
    angles_of(dy, dx, n, longitude);
    angles_of(dz, flat, n, latitude);
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

// The sum V_A + E_D [component][point] of some points of level `z`, the first at `row` of the block: winds there, and
// extrapolated ones where they come from. `between(values, i)` interpolates those of a level; `low` and `fz`: the level
// below a departure point, and how far it is above that.
template <class Real, class Between>
[[gnu::always_inline]] inline void sum_winds(const Trajectories<Real>& what, Index row, Index z, Index n,
                                             const std::int32_t* low, const double* fz, const Between& between,
                                             double (*sum)[departure_chunk]) {
    const Block& block = what.block;
    const Index volume = block.points[0] * block.points[1] * block.levels, stride = what.extrapolated.stride;
    for (Index c = 0; c < what.components(); ++c) {
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

// Findings of a loop over trajectories: the cells [x, y] of departure points, whether winds were missing, and the
// first point that is no number.
struct Found {
    double low[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    double high[2] = {-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    bool outside = false;
    Index not_finite = -1;

    void take(const Found& other) {
        for (int axis = 0; axis < 2; ++axis) {
            low[axis] = std::min(low[axis], other.low[axis]);
            high[axis] = std::max(high[axis], other.high[axis]);
        }
        outside = outside || other.outside;
        if (other.not_finite >= 0 && (not_finite < 0 || other.not_finite < not_finite)) not_finite = other.not_finite;
    }
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
    for (Index half = lanes / 2; half > 0; half /= 2)
        for (Index lane = 0; lane < half; ++lane) {
            low[lane] = low[lane + half] < low[lane] ? low[lane + half] : low[lane];
            high[lane] = high[lane + half] > high[lane] ? high[lane + half] : high[lane];
        }
    const double from = periodic ? low[0] : cell_of<periodic>(std::floor(low[0]), axis);
    const double to = periodic ? high[0] : cell_of<periodic>(std::floor(high[0]), axis);
    lowest = from < lowest ? from : lowest;
    highest = to > highest ? to : highest;
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

inline CellRange range_of(const Found& all) {
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

}  // namespace tradewind::kernel
