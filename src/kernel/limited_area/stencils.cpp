#include "kernel/limited_area/stencils.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "kernel/clones.hpp"

namespace tradewind::kernel {

namespace {

using layout::X, layout::Y, layout::Z;

// One point of each field, and values from row to row.
template <class Real>
struct Place {
    const Real *u, *v, *phi;
    Index pitch;
};

template <class Real>
[[gnu::always_inline]] inline void right_row(const Place<Real>& at, Index points, Real s, Real gain,
                                             Real* __restrict out) {
    const Real *const u = at.u, *const v = at.v, *const phi = at.phi;
    const Real *const v_south = v - at.pitch, *const south = phi - at.pitch, *const north = phi + at.pitch;
    for (Index x = 0; x < points; ++x) {
        const Real winds = (u[x] - u[x - 1]) + (v[x] - v_south[x]);
        const Real around = (phi[x - 1] + phi[x + 1]) + (south[x] + north[x]);
        const Real lap = around - Real{4} * phi[x];
        out[x] = phi[x] - gain * (Real{2} * winds - s * lap);
    }
}

template <class Real>
[[gnu::always_inline]] inline void winds_row(const Place<Real>& at, const Real* after, Index points, Real s,
                                             Real* __restrict u, Real* __restrict v) {
    const Real *const phi = at.phi, *const north = phi + at.pitch, *const after_north = after + at.pitch;
    for (Index x = 0; x < points; ++x) {
        const Real middle = phi[x] + after[x];
        u[x] = at.u[x] - s * ((phi[x + 1] + after[x + 1]) - middle);
        v[x] = at.v[x] - s * ((north[x] + after_north[x]) - middle);
    }
}

TRADEWIND_CLONES void run_right(const Place<float>& at, Index points, float s, float gain, float* out) {
    right_row(at, points, s, gain, out);
}
TRADEWIND_CLONES void run_right(const Place<double>& at, Index points, double s, double gain, double* out) {
    right_row(at, points, s, gain, out);
}
TRADEWIND_CLONES void run_winds(const Place<float>& at, const float* after, Index points, float s, float* u, float* v) {
    winds_row(at, after, points, s, u, v);
}
TRADEWIND_CLONES void run_winds(const Place<double>& at, const double* after, Index points, double s, double* u,
                                double* v) {
    winds_row(at, after, points, s, u, v);
}

// The first of a row's points inside the halo.
template <class Real>
Place<Real> place(const Waves<Real>& waves, Index y, Index z) {
    return {waves.u.at(1, y + 1, z), waves.v.at(1, y + 1, z), waves.phi.at(1, y + 1, z), waves.phi.points[X]};
}

// work(level, row) of all rows of all levels: those of a thread follow each other.
template <class Work>
void each_row(const std::array<Index, 3>& points, Team& team, Work work) {
    const Index rows = points[Y], all = rows * points[Z];
    team.run([&](int thread) {
        for (Index n = all * thread / team.threads(); n < all * (thread + 1) / team.threads(); ++n)
            work(n / rows, n % rows);
    });
}

template <class Real>
void check(const Waves<Real>& waves) {
    if (waves.u.points != waves.phi.points || waves.v.points != waves.phi.points)
        throw InputError("u, v and phi: arrays of one shape are allowed");
}

void check_halo(const std::array<Index, 3>& inside, const std::array<Index, 3>& field) {
    if (field != std::array<Index, 3>{inside[X] + 2, inside[Y] + 2, inside[Z]})
        throw InputError("fields: one point more on all four sides is needed");
}

}  // namespace

template <class Real>
void wave_right_side(const Waves<Real>& waves, Array<const double> speeds, double s, Array<Real> right, Team& team) {
    check(waves);
    check_halo(right.points, waves.phi.points);
    if (speeds.box().volume() != right.points[Z])
        throw InputError("speeds: " + std::to_string(right.points[Z]) + " values, one of each mode, are allowed");
    each_row(right.points, team, [&](Index z, Index y) {
        run_right(place(waves, y, z), right.points[X], static_cast<Real>(s), static_cast<Real>(s * speeds.values[z]),
                  right.at(0, y, z));
    });
}

template <class Real>
void wave_winds(const Waves<Real>& waves, Array<const Real> after, double s, Array<Real> u, Array<Real> v, Team& team) {
    check(waves);
    const auto& all = waves.phi.points;
    if (after.points != all || u.points != all || v.points != all)
        throw InputError("fields of the next step: arrays of the shape of the present ones are allowed");
    const std::array<Index, 3> inside{all[X] - 2, all[Y] - 2, all[Z]};
    each_row(inside, team, [&](Index z, Index y) {
        run_winds(place(waves, y, z), after.at(1, y + 1, z), inside[X], static_cast<Real>(s), u.at(1, y + 1, z),
                  v.at(1, y + 1, z));
    });
}

template <class Real>
void place_levels(Array<const Real> levels, Array<Real> field, Team& team) {
    check_halo(levels.points, field.points);
    each_row(levels.points, team,
             [&](Index z, Index y) { std::copy_n(levels.at(0, y, z), levels.points[X], field.at(1, y + 1, z)); });
}

template void wave_right_side(const Waves<float>&, Array<const double>, double, Array<float>, Team&);
template void wave_right_side(const Waves<double>&, Array<const double>, double, Array<double>, Team&);
template void wave_winds(const Waves<float>&, Array<const float>, double, Array<float>, Array<float>, Team&);
template void wave_winds(const Waves<double>&, Array<const double>, double, Array<double>, Array<double>, Team&);
template void place_levels(Array<const float>, Array<float>, Team&);
template void place_levels(Array<const double>, Array<double>, Team&);

}  // namespace tradewind::kernel
