#include "schedule/schedule.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <tuple>

#include "algorithm/listed.hpp"
#include "algorithm/method.hpp"
#include "algorithm/registry.hpp"
#include "base/error.hpp"
#include "bind.hpp"
#include "places.hpp"
#include "schedule/ascending.hpp"
#include "schedule/one_by_one.hpp"
#include "shown.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

namespace {

// Those of one side of a stage that are not empty.
std::vector<schedule::Message> messages(const schedule::Schedule& schedule, Index rank, Index stage,
                                        int (schedule::Schedule::*count)(Rank, int) const,
                                        schedule::Message (schedule::Schedule::*get)(Rank, int, int) const) {
    const Rank r = checked_rank(schedule, rank);
    const int s = checked_place("stage", stage, schedule.stages());
    std::vector<schedule::Message> all;
    for (int j = 0, n = (schedule.*count)(r, s); j < n; ++j)
        if (const schedule::Message m = (schedule.*get)(r, s, j); m.count > 0) all.push_back(m);
    return all;
}

}  // namespace

void bind_schedule(nb::module_& module) {
    nb::class_<schedule::Message>(module, "Message")
        .def_ro("peer", &schedule::Message::peer)
        .def_ro("count", &schedule::Message::count)
        .def_ro("tag", &schedule::Message::tag)
        .def_ro("parity", &schedule::Message::parity);
    nb::class_<schedule::Schedule>(module, "Schedule", "Stages of messages between the ranks of a pattern.")
        .def_prop_ro("algorithm", &schedule::Schedule::algorithm)
        .def_prop_ro("ranks", &schedule::Schedule::ranks)
        .def_prop_ro("stages", &schedule::Schedule::stages)
        .def_prop_ro("pattern", &schedule::Schedule::pattern, nb::rv_policy::reference_internal)
        .def("__repr__",
             [](nb::handle_t<schedule::Schedule> self) {
                 const auto& s = nb::cast<const schedule::Schedule&>(self);
                 return shown(self, s.pattern().describe() + " by " + s.algorithm() + ", " +
                                        std::to_string(s.stages()) + " stages, " + std::to_string(s.ranks()) +
                                        " ranks");
             })
        .def(
            "sends",
            [](const schedule::Schedule& s, Index rank, Index stage) {
                return messages(s, rank, stage, &schedule::Schedule::sends, &schedule::Schedule::send);
            },
            "rank"_a, "stage"_a, "The messages that a rank sends in a stage.")
        .def(
            "receives",
            [](const schedule::Schedule& s, Index rank, Index stage) {
                return messages(s, rank, stage, &schedule::Schedule::receives, &schedule::Schedule::receive);
            },
            "rank"_a, "stage"_a, "The messages that a rank receives in a stage.");
    nb::class_<algorithm::AlgorithmEntry>(module, "AlgorithmEntry")
        .def_ro("pattern", &algorithm::AlgorithmEntry::pattern)
        .def_ro("name", &algorithm::AlgorithmEntry::name)
        .def_ro("has_radix", &algorithm::AlgorithmEntry::has_radix)
        .def_ro("description", &algorithm::AlgorithmEntry::description)
        .def_ro("source", &algorithm::AlgorithmEntry::source)
        .def_ro("is_default", &algorithm::AlgorithmEntry::is_default)
        .def(
            "radices", [](const algorithm::AlgorithmEntry& e, const pattern::Pattern& p) { return e.radices(p); },
            "pattern"_a);
    module.def("algorithms", [] { return algorithm::algorithms(); });
    module.def(
        "make_schedule",
        [](std::shared_ptr<pattern::Pattern> pattern, const std::string& algorithm) {
            return std::const_pointer_cast<schedule::Schedule>(algorithm::make_schedule(std::move(pattern), algorithm));
        },
        "pattern"_a, "algorithm"_a);
    module.def(
        "one_by_one",
        [](std::shared_ptr<schedule::Schedule> all) {
            return std::const_pointer_cast<schedule::Schedule>(schedule::one_by_one(std::move(all)));
        },
        "schedule"_a,
        "Return the same messages in the posting order of sendrecv, one exchange of a stage after another, for\n"
        "simulations. Raises InputError where both ends of a message number it otherwise.");
    module.def(
        "ascending",
        [](std::shared_ptr<schedule::Schedule> all) {
            return std::const_pointer_cast<schedule::Schedule>(schedule::ascending(std::move(all)));
        },
        "schedule"_a,
        "Return the same messages, the sends of each stage in ascending order of their receivers. Raises InputError\n"
        "where they do not go around the ring of ranks.");
    module.def(
        "schedule_of_messages",
        [](Index ranks, const std::vector<std::tuple<Index, Index, Index, Index, Index, Index>>& messages) {
            std::vector<algorithm::ListedMessage> listed;
            for (const auto& [stage, source, destination, points, tag, half] : messages) {
                for (const Index number : {stage, source, destination, tag, half})
                    if (number < 0 || number > std::numeric_limits<std::int32_t>::max())
                        throw InputError("message " + std::to_string(listed.size()) + ": " + std::to_string(number) +
                                         "; numbers of 0..2147483647 are allowed");
                listed.push_back({static_cast<int>(stage), static_cast<Rank>(source), static_cast<Rank>(destination),
                                  points, static_cast<std::int32_t>(tag),
                                  static_cast<std::int8_t>(std::min<Index>(half, 2))});
            }
            const auto size = checked_place("ranks", ranks, std::int64_t{1} << 31);
            return std::const_pointer_cast<schedule::Schedule>(
                algorithm::listed(static_cast<Rank>(size), std::move(listed)));
        },
        "ranks"_a, "messages"_a,
        "Make a schedule of [(stage, source, destination, points, tag, half)]. Raises InputError; see "
        "algorithm/listed.hpp.");
    module.def("default_algorithm", &algorithm::default_algorithm, "pattern"_a,
               "Return the algorithm of a pattern where none is named: one that every rank count allows.");
    module.def("variable_of", &algorithm::variable_of, "pattern"_a,
               "The environment variable that names the method of a pattern.");
    module.def(
        "carried_method",
        [](const pattern::Pattern& pattern, const std::string& algorithm, const std::string& transport,
           const std::string& packing) {
            const algorithm::Method method = algorithm::carried_method(pattern, {algorithm, transport, packing});
            return std::make_tuple(method.algorithm, method.transport, method.packing);
        },
        "pattern"_a, "algorithm"_a, "transport"_a, "packing"_a,
        "How a plan carries out a method: of \"native\" the collective that MPI has for the pattern. Raises InputError "
        "for a "
        "transport or packing that goes with another one.");
    module.attr("all_to_all_transport") = algorithm::all_to_all_of_mpi().transport;
    module.def("native_refusal", &algorithm::native_refusal, "pattern"_a,
               "Why MPI has no collective for a pattern; \"\" where it has.");
    module.def("needs_all_lists", &algorithm::needs_all_lists, "pattern"_a, "algorithm"_a,
               "Whether an algorithm passes points on from rank to rank, and a fetch has the wants of one rank alone.");
    module.def(
        "method_refusal",
        [](std::shared_ptr<pattern::Pattern> pattern, const std::string& algorithm, const std::string& transport,
           const std::string& packing) { return algorithm::method_refusal(pattern, {algorithm, transport, packing}); },
        "pattern"_a, "algorithm"_a, "transport"_a, "packing"_a,
        "Why a pattern cannot be carried out by a method; \"\" where it can. Parts that are \"\" count as their "
        "defaults.");
}

}  // namespace tradewind::python
