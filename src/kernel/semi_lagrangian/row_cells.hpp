// Rows and columns around departure points of a reduced grid: what its loops share.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernel/semi_lagrangian/departure.hpp"
#include "kernel/semi_lagrangian/reduced.hpp"

namespace tradewind::kernel {

// The row before each departure point, counted from the window's first, and the rest. A stencil needs `before` rows
// before that one and `after` behind it. Returns whether the window has them all; others, also those that are no
// numbers, get a row that it has.
[[gnu::always_inline]] inline bool locate_rows(const double* y, Index n, const RowWindow& window, Index before,
                                               Index after, std::int32_t* row, double* rest) {
    const double first = static_cast<double>(window.first);
    const double begin = static_cast<double>(before), last = static_cast<double>(window.count - 1 - after);
    int outside = 0;
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const double low = std::floor(y[i]), found = low - first;
        const bool inside = (found >= begin) & (found <= last);
        rest[i] = y[i] - low;
        row[i] = static_cast<std::int32_t>(inside ? found : begin);
        outside |= inside ? 0 : 1;
    }
    return outside == 0;
}

// The cell in the window that comes before that of the departure point, in the row that lies `further` behind each, and
// the rest. Returns whether all are numbers.
[[gnu::always_inline]] inline bool locate_columns(const double* x, Index n, const RowWindow& window,
                                                  const std::int32_t* row, std::int32_t further, std::int32_t* cell,
                                                  double* rest) {
    const double* const length = window.grid->length.data() + window.first + ReducedRows::beyond;
    const std::int32_t* const begin = window.begin.data();
    int outside = 0;
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const std::int32_t in = row[i] + further;
        const double columns = length[in], column = snapped(x[i] * columns), low = std::floor(column);
        const double east = low < 0 ? low + columns : low;
        const bool inside = (east >= 0) & (east < columns);
        rest[i] = column - low;
        cell[i] = begin[in] + static_cast<std::int32_t>(inside ? east : 0.0);
        outside |= inside ? 0 : 1;
    }
    return outside == 0;
}

// Places of columns some cells further on. Returns a number below 0 if one is missing.
[[gnu::always_inline]] inline std::int32_t look_up_cells(const RowWindow& window, const std::int32_t* cell,
                                                         std::int32_t further, Index n, std::int32_t* place) {
    const std::int32_t* const from = window.place + further;
    std::int32_t missing = 0;
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const std::int32_t found = from[cell[i]];
        missing |= found;
        place[i] = found < 0 ? 0 : found;
    }
    return missing;
}

// Rows, and parts of the way to the next ones, of latitudes. Gaussian latitudes lie so evenly that the row is found or
// the one beside it.
[[gnu::always_inline]] inline void count_rows(const ReducedRows& grid, const double* latitude, Index n, double* y) {
    const double rows = static_cast<double>(grid.rows), per_row = (4 * rows + 2) / pi;
    const double* const at = grid.latitude.data() + ReducedRows::beyond;
    const double* const per_height = grid.per_height.data() + ReducedRows::beyond;
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) {
        const double guess = std::floor(((pi / 2 - latitude[i]) * per_row - 3) / 4);
        const double near = guess < -1 ? -1.0 : guess > rows - 1 ? rows - 1 : guess;
        const bool finite = std::fabs(latitude[i]) <= pi;
        const auto first = static_cast<std::int32_t>(finite ? near : 0.0);
        const std::int32_t row = latitude[i] > at[first] && first > -1                   ? first - 1
                                 : latitude[i] <= at[first + 1] && first < grid.rows - 1 ? first + 1
                                                                                         : first;
        y[i] = snapped(static_cast<double>(row) + (at[row] - latitude[i]) * per_height[row]);
    }
}

// Calls `take(begin, count)` for the chunks of the columns of a block.
template <class Take>
[[gnu::always_inline]] inline void each_chunk_of(Index columns, Take take) {
    for (Index begin = 0; begin < columns; begin += departure_chunk)
        take(begin, columns - begin < departure_chunk ? columns - begin : departure_chunk);
}

}  // namespace tradewind::kernel
