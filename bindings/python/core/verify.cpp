#include "verify/verify.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.hpp"
#include "bind.hpp"
#include "places.hpp"
#include "schedule/matrix.hpp"
#include "schedule/text.hpp"
#include "schedule/transport.hpp"
#include "verify/damage.hpp"
#include "verify/order.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

namespace {

void poll_signals() {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

using Matrix = nb::ndarray<nb::numpy, Index, nb::ndim<2>>;

Matrix matrix(const schedule::Schedule& schedule, Rank ranks_per_bin, int first, int last) {
    auto* data =
        new std::vector<Index>(schedule::communication_matrix(schedule, ranks_per_bin, first, last, poll_signals));
    nb::capsule owner(data, [](void* p) noexcept { delete static_cast<std::vector<Index>*>(p); });
    const std::size_t n = (schedule.ranks() - 1) / ranks_per_bin + 1;
    return Matrix(data->data(), {n, n}, owner);
}

}  // namespace

void bind_verify(nb::module_& module) {
    nb::class_<verify::Verified>(module, "Verified", "Result of a verification: counts over all ranks and stages.")
        .def_ro("ranks", &verify::Verified::ranks)
        .def_ro("stages", &verify::Verified::stages)
        .def_ro("messages", &verify::Verified::messages)
        .def_ro("points", &verify::Verified::points, "Points of one field sent in messages.")
        .def_ro("largest", &verify::Verified::largest, "Points of the largest message.")
        .def_ro("copied", &verify::Verified::copied, "Points copied within a rank.");
    module.def(
        "verify",
        [](const schedule::Schedule& schedule, const std::vector<std::string>& transports,
           std::optional<std::function<void(int)>> progress) {
            const nb::gil_scoped_release release;
            return verify::prove(schedule, transports, [&](int stage) {
                const nb::gil_scoped_acquire gil;
                poll_signals();
                if (progress) (*progress)(stage);
            });
        },
        "schedule"_a, "transports"_a, "progress"_a = nb::none(),
        "Runs a schedule in this process: every expected point arrives exactly once, and the posting\n"
        "orders of `transports` are free of deadlock. Calls progress(stage) before each stage. Raises "
        "VerificationError.");

    module.def(
        "verify_order",
        [](const program::Order& order, const std::vector<std::string>& transports) {
            const nb::gil_scoped_release release;
            verify::check_order(order, transports);
        },
        "order"_a, "transports"_a,
        "Proves that a program is free of deadlock, each exchange in the posting order of its\n"
        "transport. Raises VerificationError.");
    nb::class_<schedule::TransportEntry>(module, "TransportEntry")
        .def_ro("name", &schedule::TransportEntry::name)
        .def_ro("description", &schedule::TransportEntry::description)
        .def_prop_ro(
            "family", [](const schedule::TransportEntry& e) { return schedule::name_of(e.family); },
            "two-sided, persistent, fence, notify, shared, collective or nccl: transports of one family share their "
            "code.")
        .def_ro("packings", &schedule::TransportEntry::packings, "The packings that it goes with.")
        .def_ro("one_stage", &schedule::TransportEntry::one_stage, "Whether it carries schedules of one stage only.")
        .def_ro("on_devices", &schedule::TransportEntry::on_devices,
                "Whether it carries messages between arrays on devices alone.");
    nb::class_<schedule::PackingEntry>(module, "PackingEntry")
        .def_ro("name", &schedule::PackingEntry::name)
        .def_ro("description", &schedule::PackingEntry::description);
    module.attr("default_transport") = schedule::default_transport().name;
    module.attr("default_packing") = schedule::default_packing().name;
    module.def("transports", [] { return schedule::transports(); }, "The ways to carry the messages of a stage.");
    module.def("packings", [] { return schedule::packings(); }, "The ways between arrays and messages.");
    module.def("transport_refusal", &schedule::transport_refusal, "schedule"_a, "transport"_a, "packing"_a,
               "Why a schedule cannot be carried so, and what can be; \"\" where it can.");
    module.def(
        "stage_text",
        [](const schedule::Schedule& schedule, Index rank, Index stage) {
            return schedule::stage_text(schedule, checked_rank(schedule, rank),
                                        checked_place("stage", stage, schedule.stages()));
        },
        "schedule"_a, "rank"_a, "stage"_a, "Return what a rank does in a stage, one line per message or copy.");
    module.def("communication_matrix", &matrix, "schedule"_a, "ranks_per_bin"_a, "first"_a, "last"_a,
               "int64 array [sender bin][receiver bin]: points sent in the stages first..last - 1.");

    module.def(
        "damaged",
        [](std::shared_ptr<schedule::Schedule> schedule, const std::string& fault, Rank rank, int stage, int j) {
            return std::const_pointer_cast<schedule::Schedule>(
                verify::damaged(std::move(schedule), fault, rank, stage, j));
        },
        "schedule"_a, "fault"_a, "rank"_a, "stage"_a, "j"_a,
        "The schedule with a fault at the j-th message that a rank sends in a stage, for tests of checkers.");
}

}  // namespace tradewind::python
