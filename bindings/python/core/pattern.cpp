#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "pattern/allreduce.hpp"
#include "pattern/halo.hpp"
#include "pattern/region.hpp"
#include "pattern/transpose.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind {

namespace {

std::tuple<Index, Index, Index> shape(const Box& box) {
    return {box.width(Z), box.width(Y), box.width(X)};
}

// Of the rank's array, which begins at the first point of its halo.
using Slices = std::tuple<nb::slice, nb::slice, nb::slice>;

Slices slices(const Halo& halo, Rank rank, const Box& box) {
    const Box array = halo.source_box(rank);
    const auto slice = [&](int axis) {
        return nb::slice(box.begin[axis] - array.begin[axis], box.end[axis] - array.begin[axis]);
    };
    return {slice(Z), slice(Y), slice(X)};
}

}  // namespace

void bind_pattern(nb::module_& module) {
    nb::class_<Pattern>(module, "Pattern", "What must move between ranks.")
        .def_prop_ro("name", &Pattern::name)
        .def_prop_ro("ranks", &Pattern::ranks)
        .def_prop_ro("in_place", &Pattern::in_place)
        .def("describe", &Pattern::describe)
        .def(
            "source_shape", [](const Pattern& p, Rank r) { return shape(p.source_box(r)); }, "rank"_a,
            "(nz, ny, nx) of the array that a rank sends from.")
        .def(
            "target_shape", [](const Pattern& p, Rank r) { return shape(p.target_box(r)); }, "rank"_a,
            "(nz, ny, nx) of the array that a rank receives into.")
        .def(
            "answer",
            [](const Pattern& p, Rank rank) {
                std::vector<std::tuple<std::array<Index, 3>, std::array<Index, 3>>> boxes;
                for (const Box& box : p.answer(rank)) boxes.emplace_back(box.begin, box.end);
                return boxes;
            },
            "rank"_a, "[((x0, y0, z0), (x1, y1, z1))] of the points that a rank must end with, upper bounds excluded.");
    nb::class_<Halo, Pattern>(module, "Halo")
        .def(nb::init<Blocks, Index, std::array<bool, 2>>(), "layout"_a, "width"_a, "periodic"_a)
        .def_prop_ro("layout", &Halo::layout)
        .def_prop_ro("width", &Halo::width)
        .def(
            "widened", [](const Halo& h, Rank rank, Index by) { return slices(h, rank, widened(h, rank, by)); },
            "rank"_a, "by"_a = 0,
            "Slices (z, y, x) of a rank's array: its own points, and `by` more on every side that the exchange fills.")
        .def(
            "interior", [](const Halo& h, Rank rank, Index reach) { return slices(h, rank, interior(h, rank, reach)); },
            "rank"_a, "reach"_a,
            "Slices (z, y, x) of a rank's array: its own points whose stencil of this reach needs no point of the\n"
            "halo. May be empty.")
        .def(
            "rim",
            [](const Halo& h, Rank rank, Index reach) {
                std::vector<Slices> boxes;
                for (const Box& box : rim(h, rank, reach)) boxes.push_back(slices(h, rank, box));
                return boxes;
            },
            "rank"_a, "reach"_a,
            "The own points that are not in the interior: boxes that do not overlap, each as slices (z, y, x).");
    nb::class_<Transpose, Pattern>(module, "Transpose")
        .def(nb::init<Blocks, Blocks>(), "from_layout"_a, "to_layout"_a)
        .def_prop_ro("from_layout", &Transpose::from)
        .def_prop_ro("to_layout", &Transpose::to)
        .def_prop_ro("largest_group", &Transpose::largest_group)
        .def_prop_ro("closed", &Transpose::closed)
        .def_prop_ro("complete", &Transpose::complete)
        .def(
            "receivers",
            [](const Transpose& t, Rank sender) {
                std::vector<Rank> ranks;
                for (Index p = 0; p < t.sending(sender).receivers; ++p) ranks.push_back(t.receiver_at(sender, p));
                return ranks;
            },
            "sender"_a, "The ranks that receive in the group that a rank sends in, in the order of their positions.")
        .def(
            "senders",
            [](const Transpose& t, Rank receiver) {
                std::vector<Rank> ranks;
                for (Index p = 0; p < t.receiving(receiver).senders; ++p) ranks.push_back(t.sender_at(receiver, p));
                return ranks;
            },
            "receiver"_a, "The ranks that send in the group that a rank receives in, in the order of their positions.")
        .def(
            "position", [](const Transpose& t, Rank rank) { return t.sending(rank).position; }, "sender"_a)
        .def("block_volume", &Transpose::block_volume, "sender"_a, "receiver"_a);
    nb::class_<AllReduce, Pattern>(module, "AllReduce")
        .def(nb::init<Rank, Index>(), "ranks"_a, "count"_a)
        .def_prop_ro("count", &AllReduce::count);
}

}  // namespace tradewind
