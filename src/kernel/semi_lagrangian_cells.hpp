// Cells of departure points, and where the columns of their stencils lie: what the loops of a semi-Lagrangian step
// share. Points are taken `departure_chunk` at a time, so that what is computed of them stays in the first-level cache.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernel/semi_lagrangian.hpp"

namespace tradewind::kernel {

inline constexpr Index departure_chunk = 64;

// The cells of an axis: how they are numbered, and which of them a stencil may begin in.
struct CellAxis {
    double first = 0, period = 0, low = 0;  // `low`: the first cell of a period
    double begin = 0, last = 0;             // cells that may be looked up
};

inline CellAxis cell_axis(const Block& block, int axis) {
    CellAxis made;
    made.first = static_cast<double>(block.first[axis]);
    if (axis == 0 && block.period > 0) {
        made.period = static_cast<double>(block.period);
        made.low = std::floor(static_cast<double>(block.points[0] - block.period) / 2);
    }
    return made;
}

// A stencil needs so many cells before its own, and after it.
inline CellAxis cell_axis(const Block& block, const Window& window, int axis, Index before, Index after) {
    CellAxis made = cell_axis(block, axis);
    made.begin = static_cast<double>(window.first[axis] + before);
    made.last = static_cast<double>(window.first[axis] + window.cells[axis] - 1 - after);
    return made;
}

// The cell of a coordinate that has been rounded down.
template <bool periodic>
[[gnu::always_inline]] inline double cell_of(double low, const CellAxis& axis) {
    const double cell = low - axis.first;
    return periodic ? cell - axis.period * std::floor((cell - axis.low) / axis.period) : cell;
}

template <bool periodic>
[[gnu::always_inline]] inline bool locate_on(const double* coordinate, Index n, const CellAxis& axis,
                                             std::int32_t* cell, double* rest) {
    int outside = 0;
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const double low = std::floor(coordinate[i]);
        const double found = cell_of<periodic>(low, axis);
        const bool inside = (found >= axis.begin) & (found <= axis.last);
        rest[i] = coordinate[i] - low;
        const double counted = found - axis.begin;
        cell[i] = static_cast<std::int32_t>(inside ? counted : 0.0);
        outside |= inside ? 0 : 1;
    }
    return outside == 0;
}

// Cells, counted from the first that may be looked up, and the rest of each coordinate. Returns whether all may be
// looked up; others, also those that are no numbers, become the first one.
[[gnu::always_inline]] inline bool locate(const double* coordinate, Index n, const CellAxis& axis, std::int32_t* cell,
                                          double* rest) {
    return axis.period > 0 ? locate_on<true>(coordinate, n, axis, cell, rest)
                           : locate_on<false>(coordinate, n, axis, cell, rest);
}

// The levels around a height, 0..levels - 1: the lower one, and the rest.
[[gnu::always_inline]] inline bool locate_level(const double* height, Index n, Index levels, std::int32_t* level,
                                                double* rest) {
    int outside = 0;
    const double last = static_cast<double>(levels - 2);
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const bool inside = (height[i] >= 0) & (height[i] <= last + 1);
        const double z = inside ? height[i] : 0.0;
        const double low = std::floor(z) < last ? std::floor(z) : last;
        rest[i] = z - low;
        level[i] = static_cast<std::int32_t>(low);
        outside |= inside ? 0 : 1;
    }
    return outside == 0;
}

// Places of the columns that lie (column, row) after the cells of points. Returns a number below 0 if one is missing.
[[gnu::always_inline]] inline std::int32_t look_up_columns(const Window& window, int column, int row,
                                                           const std::int32_t* x, const std::int32_t* y, Index n,
                                                           std::int32_t* place) {
    const auto pitch = static_cast<std::int32_t>(window.cells[0]);
    const std::int32_t* const from = window.place + static_cast<Index>(row) * pitch + column;
    std::int32_t missing = 0;
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const std::int32_t found = from[y[i] * pitch + x[i]];
        missing |= found;
        place[i] = found < 0 ? 0 : found;
    }
    return missing;
}

// Calls `take(begin, count)` for the points of a row, `departure_chunk` at a time.
template <class Take>
[[gnu::always_inline]] inline void each_chunk(Index points, Take take) {
    for (Index begin = 0; begin < points; begin += departure_chunk)
        take(begin, points - begin < departure_chunk ? points - begin : departure_chunk);
}

}  // namespace tradewind::kernel
