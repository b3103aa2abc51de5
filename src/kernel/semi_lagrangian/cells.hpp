// Cells of departure points, and where the columns of their stencils lie: what the loops of a semi-Lagrangian step
// share. Points are taken `departure_chunk` at a time, so that what is computed of them stays in the first-level cache.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernel/semi_lagrangian/semi_lagrangian.hpp"

namespace tradewind::kernel {

inline constexpr Index departure_chunk = Chunks::points;

// The cells of an axis: how they are numbered, and which of them a stencil may begin in.
struct CellAxis {
    double first = 0, period = 0, low = 0;  // `low`: the first cell of a period
    double per_period = 0;                  // 1 / period
    double begin = 0, last = 0;             // cells that may be looked up
};

inline CellAxis cell_axis(const Block& block, int axis) {
    CellAxis made;
    made.first = static_cast<double>(block.first[axis]);
    if (axis == 0 && block.period > 0) {
        made.period = static_cast<double>(block.period);
        made.per_period = 1 / made.period;
        made.low = std::floor(static_cast<double>(block.points[0] - block.period) / 2);
    }
    return made;
}

// A stencil needs `before` cells before its own, and `after` behind it.
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
    // By half a cell more, no rounding of the factor decides between two periods; a division would take eight times as
    // long.
    return periodic ? cell - axis.period * std::floor((cell - axis.low + 0.5) * axis.per_period) : cell;
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

// Cells of a window whose columns lie row by row in the array: the own block, or all. Their places need no look-up,
// which would take as long as to fetch the values.
struct Rows {
    std::array<std::int32_t, 2> begin{0, 0}, end{0, 0};  // [x, y] in the window
    std::int32_t place = 0, pitch = 0;                   // of the window's first cell, as if it were one of them
};

inline bool is_strided(const Window& window, const Rows& rows) {
    for (std::int32_t y = rows.begin[1]; y < rows.end[1]; ++y) {
        const std::int32_t* const place = window.place + y * window.cells[0];
        for (std::int32_t x = rows.begin[0]; x < rows.end[0]; ++x)
            if (place[x] != rows.place + y * rows.pitch + x) return false;
    }
    return true;
}

inline Rows rows_of(const Window& window, const Block& block) {
    const std::int32_t* const place = window.place;
    for (const bool all : {true, false}) {
        Rows rows;
        for (std::size_t axis = 0; axis < 2; ++axis) {
            const Index begin = all ? 0 : -window.first[axis],
                        end = all ? window.cells[axis] : begin + block.points[axis];
            rows.begin[axis] = static_cast<std::int32_t>(begin > 0 ? begin : 0);
            rows.end[axis] = static_cast<std::int32_t>(end < window.cells[axis] ? end : window.cells[axis]);
        }
        if (rows.begin[0] >= rows.end[0] || rows.begin[1] >= rows.end[1]) continue;
        const Index first = rows.begin[1] * window.cells[0] + rows.begin[0];
        if (rows.end[1] > rows.begin[1] + 1) rows.pitch = place[first + window.cells[0]] - place[first];
        rows.place = place[first] - rows.begin[1] * rows.pitch - rows.begin[0];
        if (is_strided(window, rows)) return rows;
    }
    return {};
}

// Those of them that are the block's.
inline Rows within_block(Rows rows, const Window& window, const Block& block) {
    for (std::size_t axis = 0; axis < 2; ++axis) {
        const Index begin = -window.first[axis], end = begin + block.points[axis];
        if (rows.begin[axis] < begin) rows.begin[axis] = static_cast<std::int32_t>(begin);
        if (rows.end[axis] > end) rows.end[axis] = static_cast<std::int32_t>(end);
    }
    return rows;
}

// How the columns of stencils lie in the array.
enum class Placement : std::uint8_t {
    scattered,   // and places have to be looked up
    strided,     // a column and a row further on are as many places for all points
    contiguous,  // and points that follow one another have stencils that do: one load has the values of many
};

// The placement of stencils of `columns` columns and `deep` rows that begin in these cells; `place`: that of their
// first columns, unless they are scattered.
[[gnu::always_inline]] inline Placement placement_of(const Rows& rows, std::int32_t columns, std::int32_t deep,
                                                     const std::int32_t* x, const std::int32_t* y, Index n,
                                                     std::int32_t* place) {
    const std::int32_t west = rows.begin[0], east = rows.end[0] - columns;
    const std::int32_t south = rows.begin[1], north = rows.end[1] - deep;
    const std::int32_t count = static_cast<std::int32_t>(n);
    std::int32_t outside = 0, bent = 0;
#pragma GCC ivdep
    for (std::int32_t i = 0; i < count; ++i) {
        outside |= (x[i] < west) | (x[i] > east) | (y[i] < south) | (y[i] > north) ? 1 : 0;
        place[i] = rows.place + y[i] * rows.pitch + x[i];
    }
    const std::int32_t first = place[0];
#pragma GCC ivdep
    for (std::int32_t i = 0; i < count; ++i) bent |= (place[i] - i) ^ first;
    return outside != 0 ? Placement::scattered : bent != 0 ? Placement::strided : Placement::contiguous;
}

// Whether all of some values are numbers. A sum of them would be taken one by one, as its order counts.
template <class Real>
[[gnu::always_inline]] inline bool all_finite(const Real* values, Index n) {
    std::conditional_t<sizeof(Real) == 8, std::int64_t, std::int32_t> bad = 0;
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) bad |= std::fabs(values[i]) <= std::numeric_limits<Real>::max() ? 0 : 1;
    return bad == 0;
}

// Calls `take(begin, count)` for the chunks of a row.
template <class Take>
[[gnu::always_inline]] inline void each_chunk(Index points, Take take) {
    for (Index begin = 0, count = 0; begin < points; begin += count) {
        count = Chunks::length(begin, points);
        take(begin, count);
    }
}

}  // namespace tradewind::kernel
