#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "layout/lists.hpp"
#include "layout/product.hpp"
#include "places.hpp"
#include "shown.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

namespace {

template <class Number>
std::vector<Number> listed(const nb::ndarray<const Number, nb::ndim<1>, nb::c_contig, nb::device::cpu>& array) {
    return {array.data(), array.data() + array.shape(0)};
}

std::vector<std::pair<std::array<Index, 3>, std::array<Index, 3>>> boxes_of(const layout::Layout& layout, Rank rank) {
    std::vector<std::pair<std::array<Index, 3>, std::array<Index, 3>>> boxes;
    for (const layout::Box& box : layout.boxes(rank)) boxes.emplace_back(box.begin, box.end);
    return boxes;
}

}  // namespace

void bind_layout(nb::module_& module) {
    nb::class_<layout::Grid>(module, "Grid", "nx x ny x nz grid points; arrays are [z][y][x], x fastest.")
        .def(nb::init<Index, Index, Index>(), "nx"_a, "ny"_a, "nz"_a = 1)
        .def_ro("points", &layout::Grid::points, "(nx, ny, nz)")
        .def("__repr__", [](const layout::Grid& g) {
            return "Grid(nx=" + std::to_string(g.points[layout::X]) + ", ny=" + std::to_string(g.points[layout::Y]) +
                   ", nz=" + std::to_string(g.points[layout::Z]) + ")";
        });
    nb::class_<layout::Layout>(module, "Layout", "The points of a grid divided among ranks; each point has one owner.")
        .def_prop_ro("grid", &layout::Layout::grid)
        .def_prop_ro("ranks", &layout::Layout::ranks)
        .def("describe", &layout::Layout::describe)
        .def("__repr__",
             [](nb::handle_t<layout::Layout> self) {
                 const auto& l = nb::cast<const layout::Layout&>(self);
                 return shown(self, l.describe() + ", " + std::to_string(l.ranks()) + " ranks");
             })
        .def(
            "boxes", [](const layout::Layout& l, Index rank) { return boxes_of(l, checked_rank(l, rank)); }, "rank"_a,
            "[((x0, y0, z0), (x1, y1, z1))] of the points that a rank owns, upper bounds excluded; they do not "
            "overlap.")
        .def(
            "owner",
            [](const layout::Layout& l, const std::array<Index, 3>& point) {
                for (std::size_t a = 0; a < 3; ++a) checked_place("point", point[a], l.grid().points[a]);
                return l.owner(point);
            },
            "point"_a, "The rank that owns the point (x, y, z).");
    nb::class_<layout::Parts>(module, "Parts", "One direction of a grid divided among parts; a part may hold nothing.")
        .def_static("even", &layout::Parts::even, "points"_a, "parts"_a,
                    "As evenly as it goes, the first parts one point more.")
        .def_static(
            "cut",
            [](const nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>& cuts) {
                return layout::Parts::cut(listed<Index>(cuts));
            },
            "cuts"_a, "Part p holds the points from cuts[p] up to cuts[p + 1].")
        .def_static(
            "dealt",
            [](const nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& owners, Index parts) {
                return layout::Parts::dealt(listed<std::int32_t>(owners), parts);
            },
            "owners"_a, "parts"_a, "`owners`: the part of each point.")
        .def_prop_ro("points", &layout::Parts::points)
        .def_prop_ro("parts", &layout::Parts::parts)
        .def(
            "width", [](const layout::Parts& p, Index part) { return p.width(checked_place("part", part, p.parts())); },
            "part"_a, "Points of a part.")
        .def(
            "runs",
            [](const layout::Parts& p, Index part) {
                std::vector<std::pair<Index, Index>> runs;
                for (const layout::Run& run : p.runs(checked_place("part", part, p.parts())))
                    if (run.length() > 0) runs.emplace_back(run.begin, run.end);
                return runs;
            },
            "part"_a, "[(begin, end)] of the points of a part, ascending.");
    nb::class_<layout::Lists, layout::Layout>(
        module, "Lists",
        "Points that are known by their numbers alone: those of each rank, in the order of its array. Point i of n "
        "lies\n"
        "at x = i of a grid of n x 1 x 1 points. Raises InputError for a number that is missing or owned twice.")
        .def(
            "__init__",
            [](layout::Lists* self,
               const std::vector<nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>>& ids) {
                std::vector<std::vector<Index>> lists;
                for (const auto& each : ids) lists.push_back(listed<Index>(each));
                new (self) layout::Lists(std::move(lists));
            },
            "ids"_a)
        .def(
            "ids",
            [](const layout::Lists& l, Index rank) {
                const auto& ids = l.ids(checked_rank(l, rank));
                return nb::ndarray<nb::numpy, const Index, nb::ndim<1>>(ids.data(), {ids.size()}, nb::find(&l));
            },
            "rank"_a, "The numbers of a rank's points, in the order of its array.");
    nb::class_<layout::Blocks, layout::Layout>(
        module, "Blocks",
        "A grid divided along two of its directions: rank i + j * split[0] owns part i of the first of\n"
        "`axes` and part j of the second. Raises InputError where a part would be empty.")
        .def(nb::init<layout::Grid, std::array<Index, 2>, std::string>(), "grid"_a, "split"_a, "axes"_a = "xy")
        .def_prop_ro("split", &layout::Blocks::split)
        .def_prop_ro("axes", &layout::Blocks::axes)
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
    nb::class_<layout::Product, layout::Layout>(
        module, "Product",
        "Each direction of a grid divided by itself, among the ranks from `first` on; the others own nothing.\n"
        "`coordinates`: for x, y and z the coordinate of a rank, 0 or 1, that divides it; -1: none. Raises InputError\n"
        "where parts and grid do not go together.")
        .def(nb::init<layout::Grid, std::array<layout::Parts, 3>, std::array<int, 3>, Rank, Rank, std::string>(),
             "grid"_a, "parts"_a, "coordinates"_a, "first"_a, "ranks"_a, "name"_a)
        .def(nb::init<const layout::Blocks&>(), "blocks"_a)
        .def(nb::init<const layout::Product&>(), "other"_a)
        .def_prop_ro("name", &layout::Product::name)
        .def_prop_ro("first", &layout::Product::first)
        .def_prop_ro("split", &layout::Product::split)
        .def(
            "parts", [](const layout::Product& p, Index axis) { return p.parts(checked_place("axis", axis, 3)); },
            "axis"_a, "How direction 0, 1 or 2 (x, y, z) is divided.")
        .def(
            "part_of", [](const layout::Product& p, Index rank) { return p.part_of(checked_rank(p, rank)); }, "rank"_a,
            "The parts (x, y, z) that a rank has; None where it owns nothing.")
        .def(
            "shape",
            [](const layout::Product& p, Index rank) {
                const layout::Patch patch = p.patch(checked_rank(p, rank));
                return std::make_tuple(patch.width(layout::Z), patch.width(layout::Y), patch.width(layout::X));
            },
            "rank"_a, "(nz, ny, nx) of a rank's array.")
        .def("in_one_row", &layout::Product::in_one_row,
             "The same points where the rows of a grid lie one after another along x: (nx ny, 1, nz) points. Raises\n"
             "InputError where x is divided.")
        .def(
            "in_lines",
            [](const layout::Product& p,
               const nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>& begins,
               const nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>& ends) {
                return p.in_lines({listed<Index>(begins), listed<Index>(ends)});
            },
            "begins"_a, "ends"_a,
            "The same where z are lines of different lengths and y their places: line l has the places\n"
            "begins[l]..ends[l] - 1. The points of all lines follow each other along z. Raises InputError for other\n"
            "numbers of lines and places than the grid has.")
        .def_prop_ro(
            "lines",
            [](const layout::Product& p) -> std::optional<std::tuple<std::vector<Index>, std::vector<Index>>> {
                const layout::Lines* lines = p.lines();
                if (!lines) return {};
                return std::make_tuple(lines->begins(), lines->ends());
            },
            "(begins, ends) of lines of different lengths; None where there are none.")
        .def("placed", &layout::Product::placed, "from_rank"_a, "ranks"_a,
             "The same on `ranks` ranks, of which those from `from_rank` on own something.");
    module.def(
        "pencil_axes", [](const std::string& along) { return layout::pencil_axes(along.empty() ? '?' : along[0]); },
        "along"_a);
}

}  // namespace tradewind::python
