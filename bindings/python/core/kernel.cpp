#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "base/error.hpp"
#include "bind.hpp"
#include "fields.hpp"
#include "kernel/diagnosis.hpp"
#include "kernel/diffusion/diffusion.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

namespace {

using kernel::Diagnosis;
using kernel::Team;

using Slices = std::tuple<nb::slice, nb::slice, nb::slice>;

template <class Real>
layout::Box box_of(const Slices& region, const kernel::Array<Real>& array) {
    layout::Box box;
    const auto take = [&](int axis, const nb::slice& slice) {
        const auto extent = slice.compute(static_cast<std::size_t>(array.points[axis]));
        if (extent.template get<2>() != 1) throw InputError("region: slices with step 1 are allowed");
        box.begin[axis] = extent.template get<0>();
        box.end[axis] = box.begin[axis] + static_cast<Index>(extent.template get<3>());
    };
    take(layout::Z, std::get<0>(region));
    take(layout::Y, std::get<1>(region));
    take(layout::X, std::get<2>(region));
    return box;
}

template <class Real>
void diffuse(const Field<const Real>& source, const Field<Real>& target, const Slices& region, double alpha,
             kernel::Team& team) {
    const kernel::Array<const Real> from = array_of(source);
    const kernel::Array<Real> to = array_of(target);
    const layout::Box box = box_of(region, from);
    const nb::gil_scoped_release release;
    kernel::diffuse(from, to, box, alpha, team);
}

template <class Real>
kernel::Diagnosis diagnose(const Field<const Real>& field, const Slices& region, kernel::Team& team) {
    const kernel::Array<const Real> from = array_of(field);
    const layout::Box box = box_of(region, from);
    const nb::gil_scoped_release release;
    return kernel::diagnose(from, box, team);
}

// Nothing is converted: a copy would be worked on in the place of the array.
template <class Real>
void bind_loops(nb::module_& module) {
    module.def("diffuse", &diffuse<Real>, "source"_a.noconvert(), "target"_a.noconvert(), "region"_a, "alpha"_a,
               "team"_a,
               "target = source - alpha lap(lap(source)) for the points of a region, slices (z, y, x) of the arrays\n"
               "[z][y][x]. Reads two points more on all four sides. The threads of the team share out the levels.");
    module.def("diagnose", &diagnose<Real>, "field"_a.noconvert(), "region"_a, "team"_a,
               "Return the diagnosis of a region, slices (z, y, x), of a field [z][y][x].");
}

}  // namespace

void bind_kernel(nb::module_& module) {
    nb::class_<kernel::Team>(module, "Team",
                             "Threads for the compiled loops: the caller's and others, which sleep between the calls.\n"
                             "They are not bound to cores. Raises InputError for a number that cannot be.")
        .def(nb::init<int>(), "threads"_a = 1)
        .def_prop_ro("threads", &kernel::Team::threads);
    nb::class_<kernel::Diagnosis>(
        module, "Diagnosis", "Diagnosis of a part of a field. Sums are exact: the sum of digit[i] * 2^(32 i - 1074).")
        .def_prop_ro(
            "sum", [](kernel::Diagnosis& d) { return d.sum.normal(); }, "Digits of the exact sum.")
        .def_prop_ro(
            "squares", [](kernel::Diagnosis& d) { return d.squares.normal(); }, "Digits of the exact sum of squares.")
        .def_ro("minimum", &kernel::Diagnosis::minimum)
        .def_ro("maximum", &kernel::Diagnosis::maximum)
        .def_prop_ro(
            "not_finite",
            [](const kernel::Diagnosis& d) -> std::optional<std::array<Index, 3>> {
                if (!d.not_finite) return {};
                const auto [x, y, z] = *d.not_finite;
                return std::array<Index, 3>{z, y, x};
            },
            "(z, y, x) in the array of the first value that is not finite, or whose square is not; None.");
    bind_loops<double>(module);
    bind_loops<float>(module);
}

}  // namespace tradewind::python
