#include "pattern/fetch.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "../indices.hpp"
#include "base/checked.hpp"
#include "base/error.hpp"
#include "bind.hpp"
#include "layout/row_rings.hpp"
#include "pattern/fetch_adjoint.hpp"
#include "places.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

namespace {

std::vector<std::vector<Index>> all_listed(const std::vector<Indices>& arrays) {
    std::vector<std::vector<Index>> lists;
    for (const Indices& array : arrays) lists.push_back(listed<Index>(array));
    return lists;
}

// (owners, indices, places, points of the target array) of a rank
using ListTuple = std::tuple<Indices, Indices, Indices, Index>;

std::vector<pattern::FetchList> lists_of(const std::vector<ListTuple>& tuples) {
    std::vector<pattern::FetchList> lists;
    for (const auto& [owner, index, place, target] : tuples)
        lists.push_back({listed<Rank>(owner), listed<Index>(index), listed<Index>(place), target});
    return lists;
}

std::shared_ptr<pattern::Fetch> of_ids(const std::vector<Indices>& owned, const std::vector<Indices>& wanted) {
    std::vector<Index> sources;
    for (const Indices& ids : owned) sources.push_back(static_cast<Index>(ids.shape(0)));
    return std::make_shared<pattern::Fetch>(std::move(sources),
                                            pattern::lists_of_ids(all_listed(owned), all_listed(wanted)));
}

// The points that a rank wants, in the order in which it receives them.
std::tuple<IndexArray, IndexArray, IndexArray, Index> list_of(const pattern::Fetch& fetch, Index rank) {
    std::vector<Index> owner, index, place;
    const auto add = [&](Rank peer, const pattern::Runs& runs) {
        for (const pattern::FetchRun& run : runs)
            for (Index i = 0; i < run.length; ++i) {
                owner.push_back(peer);
                index.push_back(run.source + i);
                place.push_back(run.target + i);
            }
    };
    const pattern::FetchPart& part = fetch.part(checked_rank(fetch, rank));
    add(static_cast<Rank>(rank), part.kept);
    for (const pattern::FetchBundle& bundle : part.receives) add(bundle.peer, bundle.runs);
    return {as_array(std::move(owner)), as_array(std::move(index)), as_array(std::move(place)), part.target};
}

// [(rank, indices)] of the points that a rank sends to others.
std::vector<std::tuple<Rank, IndexArray>> sent_by(const pattern::Fetch& fetch, Index rank) {
    std::vector<std::tuple<Rank, IndexArray>> all;
    for (const pattern::FetchBundle& bundle : fetch.part(checked_rank(fetch, rank)).sends) {
        std::vector<Index> indices;
        for (const pattern::FetchRun& run : bundle.runs)
            for (Index i = 0; i < run.length; ++i) indices.push_back(run.source + i);
        all.emplace_back(bundle.peer, as_array(std::move(indices)));
    }
    return all;
}

// [(owner, bytes)] of the lists that a rank sends the owners of the points that it wants, see mpi/points.
std::vector<std::tuple<Rank, Index>> requests(const pattern::Fetch& fetch, Index rank) {
    std::vector<std::tuple<Rank, Index>> all;
    for (const pattern::FetchBundle& bundle : fetch.part(checked_rank(fetch, rank)).receives)
        all.emplace_back(bundle.peer, static_cast<Index>(sizeof(Index)) * pattern::request_words(bundle.runs));
    return all;
}

// (source, destination, points) of messages; each is what its source has first.
std::shared_ptr<pattern::Fetch> of_messages(std::vector<Index> counts,
                                            const std::vector<std::tuple<Index, Index, Index>>& messages) {
    std::vector<Index> targets(counts.size(), 0);
    std::vector<std::vector<pattern::FetchBundle>> bundles(counts.size());
    for (const auto& [source, destination, points] : messages) {
        const auto to = checked_place("destination", destination, counts.size());
        const auto from = checked_place("source", source, counts.size());
        if (points < 0 || points > counts[from])
            throw InputError("a message of " + std::to_string(points) + " points of rank " + std::to_string(from) +
                             ": 0.." + std::to_string(counts[from]) + " are allowed, which it has");
        bundles[to].push_back({static_cast<Rank>(from), points, pattern::Runs({0, targets[to], points})});
        add_checked(targets[to], points, "target array of a fetch", "points");
    }
    return std::make_shared<pattern::Fetch>(counts, targets, std::move(bundles));
}

template <typename T>
std::shared_ptr<T> bound(std::shared_ptr<const T> pattern) {
    return std::const_pointer_cast<T>(std::move(pattern));
}

}  // namespace

void bind_fetch(nb::module_& module) {
    nb::class_<pattern::Fetch, pattern::Pattern>(module, "Fetch")
        .def(
            "__init__",
            [](pattern::Fetch* self, std::vector<Index> sources, const std::vector<ListTuple>& lists, bool one_array) {
                new (self) pattern::Fetch(std::move(sources), lists_of(lists), one_array);
            },
            "sources"_a, "lists"_a, "one_array"_a = false,
            "By rank the points of its source array, and (owners, indices, places, points of its target array).")
        .def(nb::init<const pattern::Fetch&>(), "other"_a, "The same; what it describes is shared.")
        .def_prop_ro("partial", &pattern::Fetch::partial, "Whether it describes one rank alone.")
        .def("list_of", &list_of, "rank"_a,
             "(owners, indices, places, points of the target array) of what a rank wants.")
        .def("sent_by", &sent_by, "rank"_a, "[(rank, indices)] of the points that a rank sends to others.")
        .def("requests", &requests, "rank"_a,
             "[(owner, bytes)] of the lists that a rank sends on MPI to the owners of the points that it wants.")
        .def_prop_ro("points", &pattern::Fetch::points, "Points that all ranks together fetch.")
        .def_prop_ro("levels", &pattern::Fetch::levels, "Along y and z.")
        .def(
            "with_levels",
            [](const pattern::Fetch& f, std::array<Index, 2> levels) { return bound(f.with_levels(levels)); },
            "levels"_a, "The same with other levels along y and z.");
    module.def("fetch_of_ids", &of_ids, "owned"_a, "wanted"_a,
               "By rank the global ids of its own points, and those that it wants.");
    nb::class_<layout::RowRings>(module, "RowRings", "Points around parts of a reduced grid, counted row by row.")
        .def(
            "__init__",
            [](layout::RowRings* self, const Indices& lengths) { new (self) layout::RowRings(listed<Index>(lengths)); },
            "lengths"_a, "The points of each row.")
        .def(
            "around",
            [](layout::RowRings& rings, const Indices& own, Index width) {
                return as_array(rings.around(viewed(own), width));
            },
            "own"_a, "width"_a, "The points within `width` steps of some, without these, ascending.");
    module.def("fetch_of_messages", &of_messages, "counts"_a, "messages"_a,
               "Make a fetch of [(source, destination, points)], no two between the same ranks; `counts`: points of "
               "each rank.");
    nb::class_<pattern::FetchAdjoint, pattern::Pattern>(module, "FetchAdjoint")
        .def(
            "__init__",
            [](pattern::FetchAdjoint* self, std::shared_ptr<pattern::Fetch> fetch) {
                new (self) pattern::FetchAdjoint(std::move(fetch));
            },
            "fetch"_a)
        .def_prop_ro("fetch", &pattern::FetchAdjoint::fetch, nb::rv_policy::reference_internal)
        .def_prop_ro("partial", &pattern::FetchAdjoint::partial)
        .def_prop_ro("levels", [](const pattern::FetchAdjoint& a) { return a.fetch().levels(); })
        .def(
            "with_levels",
            [](const pattern::FetchAdjoint& a, std::array<Index, 2> levels) { return bound(a.with_levels(levels)); },
            "levels"_a);
}

}  // namespace tradewind::python
