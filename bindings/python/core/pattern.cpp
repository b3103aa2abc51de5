#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "base/checked.hpp"
#include "bind.hpp"
#include "pattern/allreduce.hpp"
#include "pattern/halo.hpp"
#include "pattern/redistribution.hpp"
#include "pattern/region.hpp"
#include "pattern/transpose.hpp"
#include "places.hpp"
#include "shown.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

namespace {

std::tuple<Index, Index, Index> shape(const layout::Box& box) {
    return {box.width(layout::Z), box.width(layout::Y), box.width(layout::X)};
}

// Slices of the rank's array, which begins at the first point of its halo.
using Slices = std::tuple<nb::slice, nb::slice, nb::slice>;

Slices slices(const pattern::Halo& halo, Rank rank, const layout::Box& box) {
    const layout::Box array = halo.source_box(rank);
    const auto slice = [&](int axis) {
        return nb::slice(box.begin[axis] - array.begin[axis], box.end[axis] - array.begin[axis]);
    };
    return {slice(layout::Z), slice(layout::Y), slice(layout::X)};
}

}  // namespace

void bind_pattern(nb::module_& module) {
    nb::class_<pattern::Pattern>(module, "Pattern", "Data that must move between ranks.")
        .def_prop_ro("name", &pattern::Pattern::name)
        .def_prop_ro("ranks", &pattern::Pattern::ranks)
        .def_prop_ro("in_place", &pattern::Pattern::in_place)
        .def_prop_ro("reduces", &pattern::Pattern::reduces)
        .def_prop_ro(
            "collective",
            [](const pattern::Pattern& p) {
                constexpr std::array<const char*, 3> names{"", "all-to-all", "reduction"};
                return names[static_cast<std::size_t>(p.collective())];
            },
            "The collective that an MPI library has for it: \"all-to-all\" within each group, \"reduction\", or \"\" "
            "for "
            "none.")
        .def_prop_ro("has_levels", &pattern::Pattern::has_levels,
                     "Whether its arrays hold points along x, and any levels along y and z.")
        .def(
            "for_levels",
            [](const pattern::Pattern& p, std::array<Index, 2> levels) {
                return std::const_pointer_cast<pattern::Pattern>(p.for_levels(levels));
            },
            "levels"_a, "The same pattern with other levels along y and z. Raises InputError where it has none.")
        .def_prop_ro("one_array", &pattern::Pattern::one_array,
                     "Whether source and target may be one array, though they are described as two.")
        .def("describe", &pattern::Pattern::describe)
        .def("__repr__",
             [](nb::handle_t<pattern::Pattern> self) {
                 const auto& p = nb::cast<const pattern::Pattern&>(self);
                 return shown(self, p.describe() + ", " + std::to_string(p.ranks()) + " ranks");
             })
        .def(
            "source_shape",
            [](const pattern::Pattern& p, Index rank) { return shape(p.source_box(checked_rank(p, rank))); }, "rank"_a,
            "(nz, ny, nx) of the array that a rank sends from.")
        .def(
            "target_shape",
            [](const pattern::Pattern& p, Index rank) { return shape(p.target_box(checked_rank(p, rank))); }, "rank"_a,
            "(nz, ny, nx) of the array that a rank receives into.")
        .def(
            "expected",
            [](const pattern::Pattern& p, Index rank) {
                std::vector<std::tuple<std::array<Index, 3>, std::array<Index, 3>>> boxes;
                for (const layout::Box& box : p.expected(checked_rank(p, rank))) boxes.emplace_back(box.begin, box.end);
                return boxes;
            },
            "rank"_a, "[((x0, y0, z0), (x1, y1, z1))] of the points that a rank must end with, upper bounds excluded.");
    module.attr("max_points") = max_points;  // of all arrays together
    module.attr("max_bytes") = max_counted;
    module.def("check_bytes", &pattern::check_bytes, "pattern"_a, "bytes_per_point"_a,
               "Raises InputError where the arrays of all ranks have more bytes than can be counted.");
    nb::class_<pattern::Halo, pattern::Pattern>(module, "Halo")
        .def(nb::init<layout::Blocks, Index, std::array<bool, 2>>(), "layout"_a, "width"_a, "periodic"_a)
        .def_prop_ro("layout", &pattern::Halo::layout)
        .def_prop_ro("width", &pattern::Halo::width)
        .def_prop_ro(
            "periodic", [](const pattern::Halo& h) { return std::pair(h.periodic(layout::X), h.periodic(layout::Y)); },
            "Whether x and y are periodic.")
        .def(
            "widened",
            [](const pattern::Halo& h, Index rank, Index by) {
                const Rank r = checked_rank(h, rank);
                return slices(h, r, pattern::widened(h, r, by));
            },
            "rank"_a, "by"_a = 0,
            "Slices (z, y, x) of a rank's array: its own points, and `by` more on every side that the exchange fills.")
        .def(
            "interior",
            [](const pattern::Halo& h, Index rank, Index reach) {
                const Rank r = checked_rank(h, rank);
                return slices(h, r, pattern::interior(h, r, reach));
            },
            "rank"_a, "reach"_a,
            "Slices (z, y, x) of a rank's array: its own points whose stencil of this reach needs no point of the\n"
            "halo. May be empty.")
        .def(
            "rim",
            [](const pattern::Halo& h, Index rank, Index reach) {
                const Rank r = checked_rank(h, rank);
                std::vector<Slices> boxes;
                for (const layout::Box& box : pattern::rim(h, r, reach)) boxes.push_back(slices(h, r, box));
                return boxes;
            },
            "rank"_a, "reach"_a,
            "The own points that are not in the interior: boxes that do not overlap, each as slices (z, y, x).");
    nb::class_<pattern::Transpose, pattern::Pattern>(module, "Transpose")
        .def(nb::init<layout::Blocks, layout::Blocks>(), "from_layout"_a, "to_layout"_a)
        .def_prop_ro("from_layout", &pattern::Transpose::from)
        .def_prop_ro("to_layout", &pattern::Transpose::to)
        .def_prop_ro("complete", &pattern::Transpose::complete);
    nb::class_<pattern::Redistribution, pattern::Pattern>(
        module, "Redistribution",
        "The transposition between any two layouts that have a closed form: a rank may own nothing in one of them.")
        .def(
            "__init__",
            [](pattern::Redistribution* self, const layout::Product& from, const layout::Product& to) {
                new (self) pattern::Redistribution(std::make_shared<layout::Product>(from),
                                                   std::make_shared<layout::Product>(to));
            },
            "from_layout"_a, "to_layout"_a)
        .def_prop_ro("from_layout", &pattern::Redistribution::from)
        .def_prop_ro("to_layout", &pattern::Redistribution::to)
        .def_prop_ro("complete", &pattern::Redistribution::closed,
                     "Whether the senders of each group are its receivers, so that blocks can be passed on.");
    nb::class_<pattern::AllReduce, pattern::Pattern>(module, "AllReduce")
        .def(nb::init<Rank, Index>(), "ranks"_a, "count"_a)
        .def_prop_ro("count", &pattern::AllReduce::count);
}

}  // namespace tradewind::python
