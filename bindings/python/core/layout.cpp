#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bind.hpp"
#include "layout/blocks.hpp"
#include "places.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

void bind_layout(nb::module_& module) {
    nb::class_<layout::Grid>(module, "Grid", "nx x ny x nz grid points; arrays are [z][y][x], x fastest.")
        .def(nb::init<Index, Index, Index>(), "nx"_a, "ny"_a, "nz"_a = 1)
        .def_ro("points", &layout::Grid::points, "(nx, ny, nz)")
        .def("__repr__", [](const layout::Grid& g) {
            return "Grid(nx=" + std::to_string(g.points[layout::X]) + ", ny=" + std::to_string(g.points[layout::Y]) +
                   ", nz=" + std::to_string(g.points[layout::Z]) + ")";
        });
    nb::class_<layout::Blocks>(
        module, "Blocks",
        "A grid divided along two of its directions: rank i + j * split[0] owns part i of the first of\n"
        "`axes` and part j of the second. Raises InputError where a part would be empty.")
        .def(nb::init<layout::Grid, std::array<Index, 2>, std::string>(), "grid"_a, "split"_a, "axes"_a = "xy")
        .def_prop_ro("grid", &layout::Blocks::grid)
        .def_prop_ro("split", &layout::Blocks::split)
        .def_prop_ro("axes", &layout::Blocks::axes)
        .def_prop_ro("ranks", &layout::Blocks::ranks)
        .def(
            "box",
            [](const layout::Blocks& b, Index rank) {
                const layout::Box box = b.box(checked_rank(b, rank));
                return std::make_tuple(box.begin, box.end);
            },
            "rank"_a, "((x0, y0, z0), (x1, y1, z1)) of the points that a rank owns, the upper bound excluded.")
        .def(
            "shape",
            [](const layout::Blocks& b, Index rank) {
                const layout::Box box = b.box(checked_rank(b, rank));
                return std::make_tuple(box.width(layout::Z), box.width(layout::Y), box.width(layout::X));
            },
            "rank"_a, "(nz, ny, nx) of a rank's array.");
    module.def(
        "pencil_axes", [](const std::string& along) { return layout::pencil_axes(along.empty() ? '?' : along[0]); },
        "along"_a);
}

}  // namespace tradewind::python
