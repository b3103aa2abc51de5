#include "kernel/semi_lagrangian/reduced.hpp"

#include <cmath>
#include <string>

#include "base/error.hpp"
#include "kernel/semi_lagrangian/departure.hpp"

namespace tradewind::kernel {

ReducedRows::ReducedRows(const std::vector<Index>& columns, const std::vector<double>& latitudes)
    : rows(static_cast<Index>(columns.size())) {
    if (rows < 2 || latitudes.size() != columns.size())
        throw InputError("rows of a reduced grid: columns and latitudes of two or more are allowed");
    const Index all = rows + 2 * beyond;
    for (Index row = -beyond; row < rows + beyond; ++row) {
        const Index folded = row < 0 ? -1 - row : row >= rows ? 2 * rows - 1 - row : row;
        const double there = latitudes[static_cast<std::size_t>(folded)];
        const Index count = columns[static_cast<std::size_t>(folded)];
        const double guess = ((pi / 2 - there) * static_cast<double>(4 * rows + 2) / pi - 3) / 4;
        if (count < 4 || count % 2 != 0 || !(std::fabs(guess - static_cast<double>(folded)) < 0.5))
            throw InputError("row " + std::to_string(folded) +
                             " of a reduced grid: an even number of columns, 4 or more, at a Gaussian latitude, from "
                             "the north, is allowed");
        length.push_back(static_cast<double>(count));
        latitude.push_back(row < 0 ? pi - there : row >= rows ? -pi - there : there);
    }
    per_height.resize(static_cast<std::size_t>(all));
    inverse.resize(static_cast<std::size_t>(all));
    for (std::size_t row = 0; row + 1 < latitude.size(); ++row)
        per_height[row] = 1 / (latitude[row] - latitude[row + 1]);
    for (std::size_t row = 1; row + 2 < latitude.size(); ++row)
        for (std::size_t own = 0; own < 4; ++own) {
            double product = 1;
            for (std::size_t other = 0; other < 4; ++other)
                product *= other == own ? 1.0 : latitude[row - 1 + own] - latitude[row - 1 + other];
            inverse[row][own] = 1 / product;
        }
}

RowWindow::RowWindow(const ReducedRows& rows, Index first_row, Index row_count, const std::int32_t* places)
    : grid(&rows), first(first_row), count(row_count), place(places) {
    if (count < 0 || first < -ReducedRows::beyond || first + count > rows.rows + ReducedRows::beyond)
        throw InputError("rows " + std::to_string(first) + ".." + std::to_string(first + count - 1) +
                         ": those of the grid and two beyond each pole are allowed");
    for (Index row = 0; row < count; ++row) {
        begin.push_back(static_cast<std::int32_t>(cells));
        cells += static_cast<Index>(rows.length[static_cast<std::size_t>(first + row + ReducedRows::beyond)]) + again;
        if (cells >= Index{1} << 31) throw InputError("rows of a window: less than 2^31 cells are allowed");
    }
}

}  // namespace tradewind::kernel
