// Semi-Lagrangian steps on a reduced Gaussian grid: rows of different lengths, each with its own columns in a stencil.
//
// The columns of a rank are any points of the grid, one after another: a `Block` of one row. Departure points are kept
// as (x, y): x the longitude as a share of a circle, from -1/2 to 1/2; y counts rows from the north, from a row to the
// next one by the difference of latitudes. Beyond a pole rows come again in reverse, half a circle away.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernel/semi_lagrangian/semi_lagrangian.hpp"

namespace tradewind::kernel {

// The rows of a reduced grid from the north, and two more beyond each pole, which the stencils around it have.
struct ReducedRows {
    static constexpr Index beyond = 2;
    // Columns [row]: even numbers, which meet across the poles; and latitudes [row] in radians, descending.
    // Throws InputError for others, and for fewer than two rows.
    ReducedRows(const std::vector<Index>& columns, const std::vector<double>& latitudes);

    Index rows = 0;
    // By row, the first that is beyond the north pole, at 0.
    std::vector<double> length, latitude;
    std::vector<double> per_height;  // 1 / difference of latitudes to the next row
    // Factors of Lagrange's formula for the four rows around the interval that begins here: 1 / products of
    // differences.
    std::vector<std::array<double, 4>> inverse;
};

// The columns that a rank has of some rows in line: of each row all columns, from the last of the circle, which stands
// before the first one, to the first two again, behind it.
struct RowWindow {
    static constexpr Index again = 3;
    // `place`: [row][-1..columns + 1], below 0 for a column that the rank does not have; or null, to mark columns.
    // Throws InputError for rows that are not there.
    RowWindow(const ReducedRows& rows, Index first, Index count, const std::int32_t* place = nullptr);

    const ReducedRows* grid;
    Index first, count;  // rows; below 0 and from `rows` on beyond the poles
    const std::int32_t* place;
    Index cells = 0;                  // of all rows
    std::vector<std::int32_t> begin;  // [row] where it begins in `place`
};

// As on other grids. The winds are Cartesian; cosines and sines are those of each column of the block. `chunks` are not
// used: all points take an iteration at a time. Of the cells that are returned y counts rows, and x is 0.
template <class Real>
CellRange trace(const Trajectories<Real>& trajectories, const RowWindow& window, Index& not_finite, Team& team);

// Marks the cells of a window that the stencils of departure points need.
void mark(const double* departures, const Block& block, const RowWindow& window, Reach reach, std::uint8_t* marks);

// The first and the last row that departure points lie behind.
CellRange rows_reached(const double* departures, const Block& block);

// As on other grids; along the meridian by the rows' own latitudes.
template <class Real>
Index interpolate(const Interpolation& what, const RowWindow& window, Layered<Real> field, Team& team);

extern template CellRange trace(const Trajectories<float>&, const RowWindow&, Index&, Team&);
extern template CellRange trace(const Trajectories<double>&, const RowWindow&, Index&, Team&);
extern template Index interpolate(const Interpolation&, const RowWindow&, Layered<float>, Team&);
extern template Index interpolate(const Interpolation&, const RowWindow&, Layered<double>, Team&);

}  // namespace tradewind::kernel
