#include "points.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "../indices.hpp"
#include "mpi/points.hpp"
#include "mpi/sharing.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

// Other threads run while ranks wait for each other.
using Released = nb::call_guard<nb::gil_scoped_release>;

void bind_points(nb::module_& module) {
    nb::class_<mpi::Points>(module, "Points", "The points that each rank owns; see tradewind.points.")
        .def_static(
            "of_ids",
            [](MPI_Fint comm, const Indices& ids) {
                return std::make_unique<mpi::Points>(MPI_Comm_f2c(comm), viewed(ids));
            },
            "comm"_a, "ids"_a, Released())
        .def_static(
            "of_count",
            [](MPI_Fint comm, Index count) { return std::make_unique<mpi::Points>(MPI_Comm_f2c(comm), count); },
            "comm"_a, "count"_a, Released())
        .def_static(
            "of_layout",
            [](MPI_Fint comm, const layout::Blocks& layout) {
                return std::make_unique<mpi::Points>(MPI_Comm_f2c(comm), layout);
            },
            "comm"_a, "layout"_a, Released())
        .def_prop_ro("rank", &mpi::Points::rank)
        .def_prop_ro("ranks", &mpi::Points::ranks)
        .def_prop_ro("count", &mpi::Points::count, "Points that this rank owns.")
        .def("refuse", &mpi::Points::refuse, "problem"_a, Released(),
             "Tells the other ranks, which make or ask something together, that this one cannot: they raise. "
             "Collective.")
        .def(
            "locate",
            [](const mpi::Points& points, const Indices& ids) {
                pattern::FetchList list;
                {
                    const nb::gil_scoped_release release;
                    list = points.locate(viewed(ids));
                }
                return std::tuple(as_array({list.owner.begin(), list.owner.end()}), as_array(list.index));
            },
            "ids"_a, "Owners of ids, and the places in their arrays. Collective.")
        .def(
            "fetch_ids",
            [](const mpi::Points& points, const Indices& ids, Index behind, bool one_array, bool known,
               const std::vector<Rank>& peers) {
                return points.fetch_ids(viewed(ids), behind, one_array, known, peers);
            },
            "ids"_a, "behind"_a, "one_array"_a, "known"_a, "peers"_a, Released())
        .def(
            "fetch",
            [](const mpi::Points& points, const Indices& owner, const Indices& index, const Indices& place,
               Index target, bool one_array, bool known, const std::vector<Rank>& peers) {
                return points.fetch({listed<Rank>(owner), listed<Index>(index), listed<Index>(place), target},
                                    one_array, known, peers);
            },
            "owner"_a, "index"_a, "place"_a, "target"_a, "one_array"_a, "known"_a, "peers"_a, Released());
    module.def(
        "share_ids",
        [](MPI_Fint comm, const Indices& ids, const std::string& operation) {
            return std::const_pointer_cast<pattern::ListedGatherScatter>(
                mpi::share_ids(MPI_Comm_f2c(comm), viewed(ids), operation));
        },
        "comm"_a, "ids"_a, "operation"_a, Released(),
        "The gather-scatter of the ids of this rank's values, each rank's of its own. Collective.");
}

}  // namespace tradewind::python
