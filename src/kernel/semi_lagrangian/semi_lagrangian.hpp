// The loops of a semi-Lagrangian step: where the air of each grid point was a time step before, and what tracers were
// there. A time loop puts them together; a `Window` has the columns of a rank, and their places.
//
// SETTLS (Hortal 2002, doi:10.1002/qj.200212858314): x_D = x_A - dt/2 (V_A + E_D), where E = 2 V(t) - V(t - dt) is
// interpolated at the departure point of the iteration before, linearly. Departure points are kept as coordinates of
// the whole grid, in points, so that no bit depends on the division among ranks or threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/units.hpp"
#include "kernel/team.hpp"

namespace tradewind::kernel {

// The block of columns of a rank. Cells around it count from its first column; with a `period` along x each longitude
// has one cell, from about half a period west of the block's middle to half a period east of it.
struct Block {
    std::array<Index, 2> first{0, 0}, points{0, 0};  // [x, y], in the grid
    Index levels = 0;
    Index period = 0;  // 0: none
};

// Where columns of the cells around a block lie within a level of the rank's arrays.
struct Window {
    std::array<Index, 2> first{0, 0}, cells{0, 0};  // [x, y]
    const std::int32_t* place = nullptr;            // [y][x]; below 0: a column that the rank does not have
};

// A field of a rank: `stride` values from a level to the next one; a window has the places of columns in each.
template <class Real>
struct Layered {
    Real* values = nullptr;
    Index stride = 0;
};

// First and last cells [x, y] that departure points lie in.
struct CellRange {
    std::array<Index, 2> low{0, 0}, high{0, 0};
};

// Some points that follow one another in a row of the block: the cells [x, y] that their departure points lie in, and
// how many iterations these have had.
struct Chunk {
    std::array<double, 2> low, high;
    int done = -1;
};

// The state of trajectories whose winds are fetched on demand. Most departure points lie within the block: theirs go
// through all iterations while they are in the cache. Those of the other chunks wait for the winds of their next one.
struct Chunks {
    // Those at the ends of a row are short: most points that wait for winds are there.
    static constexpr Index points = 64, at_ends = 16;

    // Points of the chunk of a row that begins here.
    static Index length(Index begin, Index row) {
        const bool short_ends = row > 2 * at_ends;
        if (short_ends && begin == 0) return at_ends;
        const Index rest = short_ends && begin < row - at_ends ? row - at_ends - begin : row - begin;
        return rest < points ? rest : points;
    }

    static Index per_row(Index row) {
        const bool short_ends = row > 2 * at_ends;
        return (short_ends ? 2 : 0) + ((short_ends ? row - 2 * at_ends : row) + points - 1) / points;
    }

    explicit Chunks(const Block& block)
        : all(static_cast<std::size_t>(per_row(block.points[0]) * block.points[1] * block.levels)) {}

    // The cells that the departure points lie in of which this is the number of iterations.
    CellRange cells(int done) const;

    std::vector<Chunk> all;  // [z][y][chunk of a row]
};

enum class Geometry : std::uint8_t { plane, sphere };

// Trajectories of a block. Winds: on a plane u, v in m/s; on the sphere the three Cartesian components over its radius,
// in 1/s; then, where `lifted`, the vertical one in levels per second.
template <class Real>
struct Trajectories {
    Geometry geometry = Geometry::plane;
    bool lifted = false;
    double half_step = 0;             // s
    double scale = 1;                 // points per m (plane)
    std::array<Index, 2> grid{0, 0};  // points of the whole grid (sphere)
    // Cosine and sine of the longitudes of the block's columns and the latitudes of its rows (sphere).
    const double *cos_x = nullptr, *sin_x = nullptr, *cos_y = nullptr, *sin_y = nullptr;
    Block block;
    const Real* wind = nullptr;        // V_A [component][z][y][x] of the block
    Layered<const Real> extrapolated;  // E [component * z], and its window
    Window window;
    bool guess = false;            // begins with the first guess, by V_A in the place of E
    int iterations = 0;            // after that, by E
    Chunks* chunks = nullptr;      // winds are fetched on demand
    int done = 0;                  // only the chunks are taken that have had this number of iterations, of all
    double* departures = nullptr;  // [x, y(, z)][z][y][x], in points of the grid

    Index components() const { return (geometry == Geometry::sphere ? 3 : 2) + (lifted ? 1 : 0); }
};

// The cells that departure points [x, y, ...][z][y][x] lie in; those that are no numbers have none.
CellRange cells_of(const double* departures, const Block& block);

// The first guess and iterations of all points of the block: replaces the departure points. Returns the cells that they
// lie in. With chunks the first guess and all iterations are made of those for which the window has the winds; then,
// from the iterations `done` on, one of the others, and more as long as the block itself has the winds. The first point
// of which one is no number is `not_finite` (its place in [z][y][x]; else -1), and has no cell. Throws
// InputError for a point whose wind the window does not have.
template <class Real>
CellRange trace(const Trajectories<Real>& trajectories, Index& not_finite, Team& team);

// Marks the columns [y][x] of a window that the stencils of departure points need and that do not lie in the block.
enum class Reach : std::uint8_t { linear, quasi_cubic, cubic };  // 4, 12 and 16 columns
// With chunks only those that have had `done` iterations.
void mark(const double* departures, const Block& block, const Window& window, Reach reach, std::uint8_t* marks,
          const Chunks* chunks = nullptr, int done = 0);

struct Interpolation {
    Block block;
    Window window;
    const double* departures = nullptr;  // [x, y(, z)][z][y][x]
    bool full = false;     // all cubic: 16 points, 64; else linear on the outer rows and levels: 12 points, 32
    bool limiter = false;  // between the nearest 4 (8) values
    bool lifted = false;   // in three dimensions
    Index tracers = 0;
    Index own_first = 0, own_pitch = 0;  // where the block lies in a level
};

// Replaces the values of the block, for each tracer, by those at the departure points. The threads of the team share
// out the levels. Returns the place [tracer][z][y][x] of the first value that is no number, or -1.
// Throws InputError for a point whose stencil the window does not have.
template <class Real>
Index interpolate(const Interpolation& what, Layered<Real> field, Team& team);

extern template CellRange trace(const Trajectories<float>&, Index&, Team&);
extern template CellRange trace(const Trajectories<double>&, Index&, Team&);
extern template Index interpolate(const Interpolation&, Layered<float>, Team&);
extern template Index interpolate(const Interpolation&, Layered<double>, Team&);

}  // namespace tradewind::kernel
