#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "../indices.hpp"
#include "base/error.hpp"
#include "bind.hpp"
#include "pattern/gather_scatter_brick.hpp"
#include "places.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

namespace {

using pattern::BrickGatherScatter;
using pattern::GatherScatter;
using pattern::ListedGatherScatter;

// The values of one rank, of the type that `loops` are for.
template <class T>
using Values = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The copies of one rank alone: of ids that no other rank has.
class LocalCopies {
  public:
    LocalCopies(const Indices& ids, bool sweeps)
        : count_(ids.shape(0)), copies_(pattern::OwnIds(viewed(ids)).split({}, sweeps).inner) {}
    template <class T>
    void combine(const Values<T>& values, const std::string& operation, const char* element) const {
        if (values.shape(0) != count_)
            throw InputError(std::to_string(values.shape(0)) + " values of " + std::to_string(count_) +
                             " ids: as many are allowed");
        const pattern::CopyLoops& loops = pattern::copy_loops(element, operation);
        const nb::gil_scoped_release release;
        loops.combine(copies_, {reinterpret_cast<std::byte*>(values.data()), sizeof(T)});
    }

  private:
    std::size_t count_;
    pattern::Copies copies_;
};

template <class Get>
IndexArray by_cell(const GatherScatter& g, Index rank, Get get) {
    const Rank r = checked_rank(g, rank);
    std::vector<Index> all;
    for (Index cell = 0; cell < g.cells(r); ++cell) all.push_back(get(r, cell));
    return as_array(std::move(all));
}

}  // namespace

void bind_gather_scatter(nb::module_& module) {
    nb::class_<GatherScatter, pattern::Pattern>(
        module, "GatherScatter", "Each value becomes the combination of all values of its id, wherever they are.")
        .def_prop_ro("operation", &GatherScatter::operation, "add, mul, min or max.")
        .def_prop_ro("levels", &GatherScatter::levels, "Along y and z.")
        .def_prop_ro("partial", &GatherScatter::partial, "Whether it describes one rank alone.")
        .def_prop_ro("shared", &GatherScatter::shared, "Ids that several ranks have, all together.")
        .def(
            "values", [](const GatherScatter& g, Index rank) { return g.values(checked_rank(g, rank)); }, "rank"_a,
            "Values of a rank.")
        .def(
            "shared_ids",
            [](const GatherScatter& g, Index rank) {
                return by_cell(g, rank, [&](Rank r, Index cell) { return g.id(r, cell); });
            },
            "rank"_a, "The ids that a rank shares with others, in the order of its cells.");
    nb::class_<ListedGatherScatter, GatherScatter>(module, "ListedGatherScatter")
        .def(nb::init<const ListedGatherScatter&>(), "other"_a, "The same; what it describes is shared.");
    nb::class_<BrickGatherScatter, GatherScatter>(module, "BrickGatherScatter")
        .def(
            "__init__",
            [](BrickGatherScatter* self, std::array<Index, 3> elements, Index points, std::array<Index, 3> split,
               std::array<bool, 3> periodic, const std::string& operation) {
                new (self) BrickGatherScatter(pattern::Brick(elements, points, split, periodic), operation);
            },
            "elements"_a, "points"_a, "split"_a, "periodic"_a, "operation"_a,
            "Elements of each rank, points of an element along each direction, ranks; x, y, z.")
        .def_prop_ro("elements", [](const BrickGatherScatter& g) { return g.brick().elements(); })
        .def_prop_ro("points", [](const BrickGatherScatter& g) { return g.brick().points_per_element(); })
        .def_prop_ro("split", [](const BrickGatherScatter& g) { return g.brick().split(); })
        .def_prop_ro("periodic", [](const BrickGatherScatter& g) { return g.brick().periodic(); })
        .def(
            "ids", [](const BrickGatherScatter& g, Index rank) { return as_array(g.ids(checked_rank(g, rank))); },
            "rank"_a, "The ids of a rank's values, in the order of its array.");
    nb::class_<LocalCopies>(module, "LocalCopies",
                            "The gather-scatter within one rank: groups of values with one id. Groups at constant "
                            "distances from each other are\n"
                            "combined by strides, the others by lists; without `sweeps` all are, by lists.")
        .def(
            "__init__", [](LocalCopies* self, const Indices& ids, bool sweeps) { new (self) LocalCopies(ids, sweeps); },
            "ids"_a, "sweeps"_a = true)
        .def(
            "combine",
            [](const LocalCopies& c, const Values<double>& values, const std::string& operation) {
                c.combine(values, operation, "f8");
            },
            "values"_a, "operation"_a = "add", "Each value becomes the combination of all values of its id, in place.")
        .def(
            "combine",
            [](const LocalCopies& c, const Values<float>& values, const std::string& operation) {
                c.combine(values, operation, "f4");
            },
            "values"_a, "operation"_a = "add");
    module.def(
        "gather_scatter_of_ids",
        [](const std::vector<Indices>& ids, const std::string& operation) {
            std::vector<std::vector<Index>> all;
            for (const Indices& each : ids) all.push_back(listed<Index>(each));
            return std::make_shared<ListedGatherScatter>(all, operation);
        },
        "ids"_a, "operation"_a, "By rank the ids of its values; those below 1 take no part.");
}

}  // namespace tradewind::python
