#include "kernel/helmholtz.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "kernel/clones.hpp"

namespace tradewind::kernel {

namespace {

// Columns that are solved together: their factors of all levels fit into the second-level cache.
constexpr Index most_columns = 256;

// The values of a row and of those below and above it, and of its neighbours along y.
struct Rows {
    const double *here, *below, *above;
};

[[gnu::always_inline]] inline double column(const Rows& rows, const double* factors, Index points, Index from,
                                            Index x) {
    return (factors[x] * rows.here[from + x] + factors[points + x] * rows.below[from + x]) +
           factors[2 * points + x] * rows.above[from + x];
}

TRADEWIND_CLONES void apply_row(const Rows& rows, Index pitch, const double* __restrict factors, Index points,
                                double* __restrict out) {
    const Index next = 3 * points;
    const Rows in = rows;
    for (Index x = 0; x < points; ++x) {
        const double own = column(in, factors, points, 0, x);
        const double west = column(in, factors + next, points, -1, x);
        const double east = column(in, factors + 2 * next, points, 1, x);
        const double south = column(in, factors + 3 * next, points, -pitch, x);
        const double north = column(in, factors + 4 * next, points, pitch, x);
        out[x] = own + ((west + east) + (south + north));
    }
}

// The first row of the system has no row below it: `before` is then null.
TRADEWIND_CLONES void eliminate(const double* __restrict right, const double* __restrict minus,
                                const double* __restrict factors, Index points, Index columns, const double* before,
                                double* __restrict to) {
    const double *below = factors, *pivot = factors + points;
    if (!before)
        for (Index x = 0; x < columns; ++x) to[x] = (minus ? right[x] - minus[x] : right[x]) * pivot[x];
    else if (minus)
        for (Index x = 0; x < columns; ++x) to[x] = ((right[x] - minus[x]) - below[x] * before[x]) * pivot[x];
    else
        for (Index x = 0; x < columns; ++x) to[x] = (right[x] - below[x] * before[x]) * pivot[x];
}

// `values` hold the solution of the level above, and then that of this one.
TRADEWIND_CLONES void substitute(const double* __restrict eliminated, const double* __restrict above,
                                 const double* __restrict plus, Index columns, double* __restrict values,
                                 double* __restrict out) {
    for (Index x = 0; x < columns; ++x) values[x] = eliminated[x] - above[x] * values[x];
    if (plus)
        for (Index x = 0; x < columns; ++x) out[x] = values[x] + plus[x];
    else
        for (Index x = 0; x < columns; ++x) out[x] = values[x];
}

bool alike(const View<const double>& a, const View<double>& b) {
    return a.points == b.points;
}

}  // namespace

void helmholtz(View<const double> field, PointNumbers factors, View<double> out, Team& team) {
    const Index nx = out.points[layout::X], ny = out.points[layout::Y], nz = out.points[layout::Z];
    if (field.points != std::array<Index, 3>{nx + 2, ny + 2, nz})
        throw InputError("field: one point more than the target on all four sides is needed");
    if (nz < 3) throw InputError(std::to_string(nz) + " levels: 3 or more are needed");
    team.run([&](int thread) {
        for (Index z = nz * thread / team.threads(); z < nz * (thread + 1) / team.threads(); ++z) {
            const Index below = z > 0 ? z - 1 : 2, above = z + 1 < nz ? z + 1 : nz - 3;
            for (Index y = 0; y < ny; ++y)
                apply_row({field.at(y + 1, z) + 1, field.at(y + 1, below) + 1, field.at(y + 1, above) + 1}, field.row,
                          factors.at(y, z), nx, out.at(y, z));
        }
    });
}

void solve_columns(View<const double> right, const View<const double>* minus, const View<const double>* plus,
                   PointNumbers factors, View<double> solution, Team& team) {
    if (!alike(right, solution) || (minus && !alike(*minus, solution)) || (plus && !alike(*plus, solution)))
        throw InputError("right-hand side and solution: arrays of one shape are allowed");
    const Index nx = solution.points[layout::X], ny = solution.points[layout::Y], nz = solution.points[layout::Z];
    const Index room = std::min(most_columns, nx);
    std::vector<double> kept(static_cast<std::size_t>((nz + 1) * room * team.threads()));
    team.run([&](int thread) {
        double* const eliminated = kept.data() + (nz + 1) * room * thread;
        double* const values = eliminated + nz * room;
        for (Index y = ny * thread / team.threads(); y < ny * (thread + 1) / team.threads(); ++y)
            for (Index x = 0; x < nx; x += room) {
                const Index columns = std::min(room, nx - x);
                for (Index z = 0; z < nz; ++z)
                    eliminate(right.at(y, z) + x, minus ? minus->at(y, z) + x : nullptr, factors.at(y, z) + x, nx,
                              columns, z > 0 ? eliminated + (z - 1) * room : nullptr, eliminated + z * room);
                std::fill(values, values + columns, 0.0);
                for (Index z = nz; z-- > 0;)
                    substitute(eliminated + z * room, factors.at(y, z) + 2 * nx + x,
                               plus ? plus->at(y, z) + x : nullptr, columns, values, solution.at(y, z) + x);
            }
    });
}

}  // namespace tradewind::kernel
