#include <nanobind/nanobind.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <complex>
#include <type_traits>
#include <vector>

#include "bind.hpp"
#include "fields.hpp"
#include "kernel/limited_area/cyclic.hpp"
#include "kernel/limited_area/layers.hpp"
#include "kernel/limited_area/stencils.hpp"
#include "kernel/spectral/area_transform.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

namespace {

using kernel::Team;

template <class Real>
void solve_cyclic(const Field<const std::complex<Real>>& field, const Field<std::complex<Real>>& solution,
                  const Plane<const double>& ratio, const Plane<const double>& gain, Team& team) {
    const kernel::Array<const std::complex<Real>> lines = array_of(field);
    const kernel::Array<std::complex<Real>> solved = array_of(solution);
    const kernel::Array<const double> ratios = array_of(ratio), gains = array_of(gain);
    const nb::gil_scoped_release release;
    kernel::solve_cyclic(lines, solved, ratios, gains, team);
}

template <class Real>
std::vector<kernel::Array<Real>> arrays_of(const std::vector<Field<Real>>& fields) {
    std::vector<kernel::Array<Real>> found;
    for (const auto& each : fields) found.push_back(array_of(each));
    return found;
}

template <class Real>
void step_layers(const std::vector<Field<const std::complex<Real>>>& columns,
                 const std::vector<Field<std::complex<Real>>>& stepped, const Plane<const double>& modes,
                 const Line& speeds, const Plane<const std::complex<double>>& slopes, double s, Team& team) {
    const auto before = arrays_of(columns);
    const auto after = arrays_of(stepped);
    const kernel::Layers layers{array_of(modes), array_of(speeds), array_of(slopes), s};
    const nb::gil_scoped_release release;
    kernel::step_layers<Real>(layers, before, after, team);
}

template <class Real>
void wave_right_side(const Field<const Real>& u, const Field<const Real>& v, const Field<const Real>& phi,
                     const Line& speeds, double s, const Field<Real>& right, Team& team) {
    const kernel::Waves<Real> waves{array_of(u), array_of(v), array_of(phi)};
    const kernel::Array<const double> by_mode = array_of(speeds);
    const kernel::Array<Real> out = array_of(right);
    const nb::gil_scoped_release release;
    kernel::wave_right_side(waves, by_mode, s, out, team);
}

template <class Real>
void wave_winds(const Field<const Real>& u, const Field<const Real>& v, const Field<const Real>& phi,
                const Field<const Real>& after, double s, const Field<Real>& u_after, const Field<Real>& v_after,
                Team& team) {
    const kernel::Waves<Real> waves{array_of(u), array_of(v), array_of(phi)};
    const kernel::Array<const Real> phi_after = array_of(after);
    const kernel::Array<Real> u_out = array_of(u_after), v_out = array_of(v_after);
    const nb::gil_scoped_release release;
    kernel::wave_winds(waves, phi_after, s, u_out, v_out, team);
}

template <class Real>
void place_levels(const Field<const Real>& levels, const Field<Real>& field, Team& team) {
    const kernel::Array<const Real> from = array_of(levels);
    const kernel::Array<Real> to = array_of(field);
    const nb::gil_scoped_release release;
    kernel::place_levels(from, to, team);
}

// The transform in both precisions: calls find that of their arrays.
class AreaTransform {
  public:
    AreaTransform(Index nx, Index ny) : single_(nx, ny), double_(nx, ny) {}

    template <class Real>
    const kernel::AreaTransform<Real>& of() const {
        if constexpr (std::is_same_v<Real, float>)
            return single_;
        else
            return double_;
    }

  private:
    kernel::AreaTransform<float> single_;
    kernel::AreaTransform<double> double_;
};

template <class Real>
void bind_area_transform(nb::class_<AreaTransform>& transform) {
    using Complex = std::complex<Real>;
    transform.def(
        "to_waves",
        [](const AreaTransform& self, const Field<const Real>& lines, const Field<Complex>& waves, double factor,
           Team& team) {
            const auto from = array_of(lines);
            const auto to = array_of(waves);
            const nb::gil_scoped_release release;
            self.of<Real>().to_waves(from, to, static_cast<Real>(factor), team);
        },
        "lines"_a.noconvert(), "waves"_a.noconvert(), "factor"_a, "team"_a,
        "Sums over x of lines [z][y][x] times exp(-2 pi i m x / nx) and a factor, for m = 0 on as far as the waves\n"
        "[z][y][m] have room. Raises InputError.");
    transform.def(
        "to_lines",
        [](const AreaTransform& self, const Field<const Complex>& waves, const Field<Real>& lines, double factor,
           Team& team) {
            const auto from = array_of(waves);
            const auto to = array_of(lines);
            const nb::gil_scoped_release release;
            self.of<Real>().to_lines(from, to, static_cast<Real>(factor), team);
        },
        "waves"_a.noconvert(), "lines"_a.noconvert(), "factor"_a, "team"_a,
        "The lines [z][y][x] of wavenumbers, times a factor; those that are not there are 0. Raises InputError.");
    transform.def(
        "to_ellipse",
        [](const AreaTransform& self, const Field<const Complex>& waves, const std::vector<Index>& limits,
           const Field<Complex>& ellipse, double factor, Team& team) {
            const auto from = array_of(waves);
            const auto to = array_of(ellipse);
            const nb::gil_scoped_release release;
            self.of<Real>().to_ellipse(from, limits, to, static_cast<Real>(factor), team);
        },
        "waves"_a.noconvert(), "limits"_a, "ellipse"_a.noconvert(), "factor"_a, "team"_a,
        "Sums over y of waves [z][y][m] times exp(-2 pi i n y / ny) and a factor, for |n| <= limits[m]: coefficients\n"
        "[m, n][1][z]. Raises InputError.");
    transform.def(
        "from_ellipse",
        [](const AreaTransform& self, const Field<const Complex>& ellipse, const std::vector<Index>& limits,
           const Field<Complex>& waves, Team& team) {
            const auto from = array_of(ellipse);
            const auto to = array_of(waves);
            const nb::gil_scoped_release release;
            self.of<Real>().from_ellipse(from, limits, to, team);
        },
        "ellipse"_a.noconvert(), "limits"_a, "waves"_a.noconvert(), "team"_a,
        "The waves [z][y][m] of coefficients [m, n][1][z]; those that are not there are 0. Raises InputError.");
}

// Nothing is converted: a copy would be worked on in the place of the array.
template <class Real>
void bind_wave_loops(nb::module_& module) {
    module.def(
        "wave_right_side", &wave_right_side<Real>, "u"_a.noconvert(), "v"_a.noconvert(), "phi"_a.noconvert(),
        "speeds"_a.noconvert(), "s"_a, "right"_a.noconvert(), "team"_a,
        "right = phi - s speed (2 div w - s lap phi) of modes [mode][y][x] on a C grid, with a squared speed for\n"
        "each mode. Winds and phi have one point more on all four sides. The threads of the team share out the "
        "rows.\n"
        "Raises InputError.");
    module.def("wave_winds", &wave_winds<Real>, "u"_a.noconvert(), "v"_a.noconvert(), "phi"_a.noconvert(),
               "after"_a.noconvert(), "s"_a, "u_after"_a.noconvert(), "v_after"_a.noconvert(), "team"_a,
               "The winds w - s grad(phi + after) of modes [mode][y][x] on a C grid; all arrays have one point more on "
               "all\n"
               "four sides, which is not written. The threads of the team share out the rows. Raises InputError.");
    module.def(
        "place_levels", &place_levels<Real>, "levels"_a.noconvert(), "field"_a.noconvert(), "team"_a,
        "Write levels [z][y][x] to the points inside a halo of one point. The threads of the team share out the\n"
        "rows. Raises InputError.");
    module.def("solve_cyclic", &solve_cyclic<Real>, "field"_a.noconvert(), "solution"_a.noconvert(),
               "ratio"_a.noconvert(), "gain"_a.noconvert(), "team"_a,
               "Solve b X[y] - a (X[y - 1] + X[y + 1]) = field[y], periodic along y, for each z and x of fields\n"
               "complex [z][y][x], which may be one array: r + 1/r = b / a with |r| < 1 is the ratio [z][x], r / a "
               "the gain [z][x].\n"
               "The threads of the team share out the levels. Raises InputError.");
    module.def(
        "step_layers", &step_layers<Real>, "columns"_a.noconvert(), "stepped"_a.noconvert(), "modes"_a.noconvert(),
        "speeds"_a.noconvert(), "slopes"_a.noconvert(), "s"_a, "team"_a,
        "Write the coefficients of u, v and phi by layers, a step of gravity waves later. Their fields, [variable,\n"
        "level], are shared out evenly among arrays [m, n][1][field]. `modes` [level][mode] and the squared `speeds` "
        "are\n"
        "those of the layers, `slopes` [m, n][direction] what derivatives multiply by. The threads of the team share\n"
        "out the coefficients. Raises InputError.");
}

}  // namespace

void bind_limited_area(nb::module_& module) {
    nb::class_<AreaTransform> transform(
        module, "AreaTransform",
        "The stages of the bi-Fourier transform of a limited area of nx x ny points: lines along x, and lines along y "
        "of an\nellipse. The threads of a team share out the lines. Raises InputError for too few points.");
    transform.def(nb::init<Index, Index>(), "nx"_a, "ny"_a);
    bind_area_transform<double>(transform);
    bind_area_transform<float>(transform);
    bind_wave_loops<double>(module);
    bind_wave_loops<float>(module);
}

}  // namespace tradewind::python
