// The extension module of executor 2. Python code reaches it through tradewind.mpi, which has imported mpi4py before
// and made sure that both use the same MPI library.
#include <mpi.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "../errors.hpp"
#include "base/write_error.hpp"
#include "field_server.hpp"
#include "fieldserver/agreement.hpp"
#include "mpi/agreement.hpp"
#include "mpi/allgather_lists.hpp"
#include "mpi/device/copier.hpp"
#include "mpi/device/transfer.hpp"
#include "mpi/error.hpp"
#include "mpi/measure.hpp"
#include "mpi/node.hpp"
#include "mpi/plan.hpp"
#include "mpi/processes.hpp"
#include "mpi/recording.hpp"
#include "mpi/shared_memory.hpp"
#include "points.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

namespace {

using Released = nb::call_guard<nb::gil_scoped_release>;

// A plan with the arrays that it is bound to: they live as long as it does, and where it is abandoned for good, as MPI
// and other ranks may still read and write them.
class BoundPlan {
  public:
    BoundPlan(std::unique_ptr<mpi::Plan> plan, nb::object arrays, bool in_shared_memory)
        : plan_(std::move(plan)), arrays_(std::move(arrays)), in_shared_memory_(in_shared_memory) {}
    BoundPlan(BoundPlan&&) = default;
    ~BoundPlan() {
        if (!plan_ || plan_->settled()) return;
        static_cast<void>(arrays_.release());
        if (plan_->in_flight()) warn();
    }
    mpi::Plan& plan() const { return *plan_; }
    bool in_shared_memory() const { return in_shared_memory_; }

  private:
    // Warns, and throws nothing, also while the interpreter ends: the user is to see the error because of which the
    // plan is destroyed.
    void warn() const noexcept {
        const std::string text = "a plan destroyed while it is under way, before its wait, is abandoned; other ranks " +
                                 ("may wait for this one: " + plan_->describe());
        const nb::error_scope raised;
        if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) PyErr_WriteUnraisable(nullptr);
    }

    std::unique_ptr<mpi::Plan> plan_;
    nb::object arrays_;
    bool in_shared_memory_;
};

// (array, points along x, y, z, strides along x, y, z in bytes)
using FieldTuple = std::tuple<nb::object, std::array<Index, 3>, std::array<Index, 3>>;

std::byte* memory_of(const nb::object& array) {
    Py_buffer view;
    if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_STRIDES) != 0) throw nb::python_error();
    auto* const memory = static_cast<std::byte*>(view.buf);
    PyBuffer_Release(&view);  // the plan keeps the array alive
    return memory;
}

std::vector<mpi::Field> fields_of(const std::vector<FieldTuple>& tuples, const std::shared_ptr<mpi::Copier>& copier) {
    std::vector<mpi::Field> fields;
    for (const auto& [array, shape, stride] : tuples) fields.push_back({memory_of(array), shape, stride, copier});
    return fields;
}

// (driver, device, the caller's stream; none: the driver's default one). None: the arrays lie in the host's memory.
using DeviceTuple = std::optional<std::tuple<std::string, int, std::optional<std::uintptr_t>>>;

std::shared_ptr<mpi::Copier> copier_of(const DeviceTuple& device) {
    if (!device) return nullptr;
    const auto& [driver, number, stream] = *device;
    return mpi::make_device_copier(mpi::parse_driver(driver), number, stream);
}

mpi::Recording parse_recording(const std::string& name) {
    if (name.empty()) return mpi::Recording::none;
    if (name == "totals") return mpi::Recording::totals;
    if (name == "events") return mpi::Recording::events;
    throw InputError("record \"" + name + "\": totals, events and nothing are allowed");
}

// A request for a plan and its arrays, without transport and packing, which the ranks choose together. A wrong one is
// refused when it is made: a rank can still inform the others then.
struct Request {
    mpi::PlanRequest plan;
    nb::object arrays;

    bool in_shared_memory() const {
        return std::all_of(plan.source.begin(), plan.source.end(), [this](const mpi::Field& field) {
            return tradewind::mpi::in_shared_memory(field, plan.element);
        });
    }
};

mpi::PlanRequest carried(const Request& request, const std::string& transport, const std::string& packing) {
    mpi::PlanRequest plan = request.plan;
    plan.transport = transport;
    plan.packing = packing;
    return plan;
}

// None: the ranks make different plans, and theirs are `tentative`. Other threads run while ranks wait for each
// other.
template <typename Make>
std::optional<BoundPlan> bound(const Request& request, bool tentative, Make make) {
    std::unique_ptr<mpi::Plan> plan;
    {
        const nb::gil_scoped_release release;
        plan = make(tentative ? mpi::Mismatch::decline : mpi::Mismatch::error);
    }
    if (!plan) return std::nullopt;
    return BoundPlan(std::move(plan), request.arrays, request.in_shared_memory());
}

std::optional<BoundPlan> schedule_plan(const schedule::Schedule& schedule, MPI_Fint comm, const Request& request,
                                       const std::string& transport, const std::string& packing, bool tentative) {
    return bound(request, tentative, [&](mpi::Mismatch mismatch) {
        return mpi::make_plan(schedule, MPI_Comm_f2c(comm), carried(request, transport, packing), mismatch);
    });
}

std::optional<BoundPlan> native_plan(const pattern::Pattern& pattern, MPI_Fint comm, const Request& request,
                                     const std::string& transport, const std::string& packing, bool tentative) {
    return bound(request, tentative, [&](mpi::Mismatch mismatch) {
        return mpi::make_native_plan(pattern, MPI_Comm_f2c(comm), carried(request, transport, packing), mismatch);
    });
}

nb::dict seconds_of(BoundPlan& plan) {
    nb::dict seconds;
    for (std::size_t i = 0; i < mpi::activity_names.size(); ++i)
        seconds[mpi::activity_names[i]] = plan.plan().recorder().seconds(static_cast<mpi::Activity>(i));
    return seconds;
}

// (activity, stage, peer, bytes, begin, end), seconds of the steady clock.
using EventTuple = std::tuple<std::string, int, int, std::int64_t, double, double>;
std::vector<EventTuple> events_of(BoundPlan& plan) {
    std::vector<EventTuple> events;
    for (const mpi::TraceEvent& e : plan.plan().recorder().events())
        events.emplace_back(mpi::activity_names[static_cast<std::size_t>(e.activity)], e.stage, e.peer, e.bytes,
                            1e-9 * static_cast<double>(e.begin), 1e-9 * static_cast<double>(e.end));
    return events;
}

// A NumPy array of bytes in memory that the node's ranks share.
nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>> shared_bytes(std::int64_t bytes) {
    auto* memory = new mpi::SharedMemory(bytes);
    const nb::capsule owner(memory, [](void* p) noexcept { delete static_cast<mpi::SharedMemory*>(p); });
    return {memory->data(), {static_cast<std::size_t>(bytes)}, owner};
}

std::string library_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    return {text, static_cast<std::size_t>(length)};
}

std::string build_version() {
#if defined(MPICH_VERSION)
    return std::string("MPICH ") + MPICH_VERSION;
#elif defined(OMPI_MAJOR_VERSION)
    return "Open MPI " + std::to_string(OMPI_MAJOR_VERSION) + "." + std::to_string(OMPI_MINOR_VERSION) + "." +
           std::to_string(OMPI_RELEASE_VERSION);
#else
    return "an MPI of standard " + std::to_string(MPI_VERSION) + "." + std::to_string(MPI_SUBVERSION);
#endif
}

std::tuple<std::vector<double>, std::vector<std::vector<double>>> measured(
    MPI_Fint comm, const std::vector<std::tuple<const BoundPlan*, int>>& steps, int warmup, int samples,
    bool copy_only) {
    std::vector<mpi::MeasuredStep> measured;
    for (const auto& [plan, repeat] : steps) measured.push_back({&plan->plan(), repeat});
    mpi::Samples result;
    {
        const nb::gil_scoped_release release;
        result = mpi::measure(MPI_Comm_f2c(comm), measured, warmup, samples, copy_only);
    }
    return {result.total, result.step};
}

void bind_plan(nb::module_& module) {
    nb::class_<BoundPlan>(
        module, "Plan",
        "A schedule bound to arrays and a communicator: call it as often as needed, on all ranks.\n\n"
        "start() posts the first messages and returns, wait() does the rest; a call is both. Between\n"
        "the two the source may be read but not written, and what the plan receives is undefined.\n"
        "Raises PlanError when used out of turn, after its communicator is gone, or when MPI fails.")
        .def(
            "__call__", [](BoundPlan& p) { p.plan().run(); }, Released())
        .def(
            "start", [](BoundPlan& p) { p.plan().start(); }, Released())
        .def(
            "wait", [](BoundPlan& p) { p.plan().wait(); }, Released())
        .def(
            "poke", [](BoundPlan& p) { return p.plan().poke(); }, Released(),
            "Between start and wait: completes what has come and posts the next stage, without waiting. Returns "
            "whether\n"
            "wait will return at once. Does nothing where the transport cannot go on without waiting, see `pokes`.")
        .def_prop_ro(
            "pokes", [](const BoundPlan& p) { return p.plan().pokes(); },
            "Whether the transport can go on in a poke: isend-irecv, persistent, put-notify and MPI's collectives can.")
        .def_prop_ro(
            "in_flight", [](const BoundPlan& p) { return p.plan().in_flight(); }, "Started, not yet waited for.")
        .def_prop_ro(
            "messages", [](const BoundPlan& p) { return p.plan().messages(); },
            "MPI messages that this rank sends in one call.")
        .def_prop_ro(
            "bytes_sent", [](const BoundPlan& p) { return p.plan().bytes_sent().value; },
            "Bytes that this rank sends in one call.")
        .def_prop_ro("transport", [](const BoundPlan& p) { return p.plan().transport(); })
        .def_prop_ro("packing", [](const BoundPlan& p) { return p.plan().packing(); })
        .def_prop_ro(
            "staging", [](const BoundPlan& p) { return p.plan().staging(); },
            "How messages of arrays on a device reach MPI, in words; \"\" of arrays in the host's memory.")
        .def_prop_rw(
            "stream", [](const BoundPlan& p) { return p.plan().stream(); },
            [](BoundPlan& p, std::uintptr_t stream) { p.plan().set_stream(stream); },
            "The stream of the caller's work on a device, as a number: what a call reads was written before in it,\n"
            "and what comes later in it reads what the call wrote. 0 of arrays in the host's memory.")
        .def_prop_ro("in_shared_memory", &BoundPlan::in_shared_memory,
                     "Whether all source arrays lie in memory that the ranks of a node share; see tradewind.empty.")
        .def_prop_ro("seconds", &seconds_of,
                     "By activity (pack, post, copy, wait, unpack) this rank's seconds since the plan was made or\n"
                     "cleared; 0 unless it records.")
        .def_prop_ro("events", &events_of,
                     "[(activity, stage, peer or -1, bytes, begin, end)] in seconds of time.perf_counter(), where the\n"
                     "plan records events.")
        .def(
            "clear", [](BoundPlan& p) { p.plan().recorder().clear(); }, "Forgets seconds and events.")
        .def(
            "describe", [](const BoundPlan& p) { return p.plan().describe(); }, "Pattern and algorithm, in words.")
        .def("__repr__", [](const BoundPlan& p) { return "Plan(" + p.plan().describe() + ")"; })
        .def("_repr_html_", [](nb::handle plan) {
            return nb::str(nb::module_::import_("tradewind.mpi.display").attr("plan_table")(plan));
        });
    nb::class_<Request>(module, "Request", "Request for a plan; see tradewind.mpi.plan.")
        .def(
            "__init__",
            [](Request* self, const std::vector<FieldTuple>& source, const std::vector<FieldTuple>& target,
               nb::object arrays, const std::string& element, const std::string& operation,
               std::int64_t largest_message, bool pack_ahead, bool synchronous, bool check, double watchdog_s,
               const std::string& record, int ranks_per_node, const DeviceTuple& device, bool pushes_at_once,
               std::vector<std::array<Index, 2>> split_levels) {
                mpi::PlanRequest plan;
                const std::shared_ptr<mpi::Copier> copier = copier_of(device);
                plan.source = fields_of(source, copier);
                plan.target = fields_of(target, copier);
                plan.element = mpi::parse_element(element);
                plan.operation = mpi::parse_operation(operation);
                plan.largest_message = Bytes{largest_message};
                plan.pack_ahead = pack_ahead;
                plan.synchronous = synchronous;
                plan.check = check;
                plan.watchdog_s = watchdog_s;
                plan.recording = parse_recording(record);
                plan.ranks_per_node = ranks_per_node;
                plan.pushes_at_once = pushes_at_once;
                plan.split_levels = std::move(split_levels);
                new (self) Request{std::move(plan), std::move(arrays)};
            },
            "source"_a, "target"_a, "arrays"_a, "element"_a, "operation"_a, "largest_message"_a, "pack_ahead"_a,
            "synchronous"_a, "check"_a, "watchdog_s"_a, "record"_a, "ranks_per_node"_a, "device"_a = nb::none(),
            "pushes_at_once"_a = true, "split_levels"_a = std::vector<std::array<Index, 2>>())
        .def_prop_ro("in_shared_memory", &Request::in_shared_memory,
                     "Whether all source arrays lie in memory of `shared_bytes`.");
    module.def(
        "schedule_plan", &schedule_plan, "schedule"_a, "comm"_a, "request"_a, "transport"_a, "packing"_a, "tentative"_a,
        "Collective. Raises where the ranks make different plans; returns None there if the plan is `tentative`.");
    module.def("native_plan", &native_plan, "pattern"_a, "comm"_a, "request"_a, "transport"_a, "packing"_a,
               "tentative"_a, "As schedule_plan, by the MPI library's own collective.");
}

}  // namespace

}  // namespace tradewind::python

NB_MODULE(_mpi, module) {
    using namespace tradewind;
    using namespace tradewind::python;
    module.doc() = "Schedules on real MPI. Use it through tradewind.mpi.";
    nb::module_::import_("tradewind._core");  // Schedule, Pattern and InputError are bound there
    static nb::object plan_error = nb::module_::import_("tradewind.base.errors").attr("PlanError");
    static nb::object input_error = nb::module_::import_("tradewind.base.errors").attr("InputError");
    static nb::object write_error = nb::module_::import_("tradewind.base.errors").attr("WriteError");
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const fieldserver::PeerInputError& e) {
            set_error(input_error.ptr(), e.what());
        } catch (const WriteError& e) {
            set_error(write_error.ptr(), e.what());
        } catch (const mpi::PlanError& e) {
            set_error(plan_error.ptr(), e.what());
        }
    });
    bind_plan(module);
    bind_points(module);
    bind_field_server(module);
    nb::class_<mpi::Processes, Peers>(module, "Processes",
                                      "The processes of a communicator, for a simulation. Collective.")
        .def(
            "__init__", [](mpi::Processes* self, MPI_Fint comm) { new (self) mpi::Processes(MPI_Comm_f2c(comm)); },
            "comm"_a, Released());
    module.def(
        "agree",
        [](MPI_Fint comm, const std::string& identity, const std::string& problem, double limit_s, bool recording) {
            mpi::agree(MPI_Comm_f2c(comm), identity, problem, {}, limit_s,
                       recording ? mpi::begin_a_recording : mpi::make_a_plan);
        },
        "comm"_a, "identity"_a, "problem"_a, "limit_s"_a = 0.0, "recording"_a = false, Released(),
        "Collective: raises unless all ranks give the same text and none has a problem. A rank that waits for the\n"
        "others for longer than `limit_s` (0: no limit) raises, too. `recording`: errors are those of a recording.");
    module.def(
        "agreements",
        [] {
            const mpi::Agreements taken = mpi::agreements();
            return std::tuple(taken.begun, taken.failed);
        },
        "Agreements in which this thread has taken part, and those of them that have failed.");
    module.def(
        "decline", [](MPI_Fint comm, double limit_s) { mpi::alike(MPI_Comm_f2c(comm), "", "", limit_s); }, "comm"_a,
        "limit_s"_a = 0.0, Released(),
        "Takes part in place of a tentative plan that this rank does not have: the other ranks get none, either.\n"
        "Raises where one of them has a problem; see `agree`.");
    module.def(
        "allgather_lists",
        [](MPI_Fint comm, const std::shared_ptr<pattern::Pattern>& pattern, const std::string& algorithm, bool needed) {
            return std::const_pointer_cast<pattern::Pattern>(
                mpi::allgather_lists(MPI_Comm_f2c(comm), pattern, algorithm, needed));
        },
        "comm"_a, "pattern"_a, "algorithm"_a, "needed"_a, Released(),
        "The pattern of a plan, a fetch or its adjoint, with the lists of all ranks, which rank 0's algorithm needs; "
        "raises where not all ranks' do. Collective.");
    module.def(
        "allgather_lists",
        [](MPI_Fint comm, const pattern::Fetch& fetch) {
            return std::const_pointer_cast<pattern::Fetch>(mpi::allgather_lists(MPI_Comm_f2c(comm), fetch));
        },
        "comm"_a, "fetch"_a, Released(), "A fetch with the lists of all ranks. Collective.");
    module.def("measure", &measured, "comm"_a, "steps"_a, "warmup"_a, "samples"_a, "copy_only"_a = false,
               "Collective. Seconds of `samples` exchanges, the maximum over ranks: ([sample], [step][sample]).");
    module.def(
        "device_of",
        [](std::uintptr_t pointer) -> std::optional<std::tuple<std::string, int>> {
            const mpi::PointerPlace place = mpi::place_of(reinterpret_cast<const void*>(pointer));
            if (!place.driver) return std::nullopt;
            return std::tuple(std::string(place.driver->kind() == mpi::DriverKind::cuda ? "cuda" : "rocm"),
                              place.device);
        },
        "pointer"_a, "The driver and the number of the device that an address lies on; None: on none that is known.");
    const auto transfer = [](bool to_host) {
        return [to_host](const FieldTuple& field, const DeviceTuple& device, const std::string& element,
                         const nb::object& host) {
            const mpi::Field there = fields_of({field}, copier_of(device)).front();
            std::byte* const here = memory_of(host);
            const mpi::Element type = mpi::parse_element(element);
            const nb::gil_scoped_release release;
            to_host ? mpi::copy_to_host(there, type, here) : mpi::copy_from_host(here, there, type);
        };
    };
    module.def("copy_to_host", transfer(true), "field"_a, "device"_a, "element"_a, "host"_a,
               "Copy an array on a device to a dense one of the host, x fastest.");
    module.def("copy_from_host", transfer(false), "field"_a, "device"_a, "element"_a, "host"_a,
               "Copy a dense array of the host, x fastest, to one on a device.");
    module.def("shared_bytes", &shared_bytes, "bytes"_a, "An array in memory that the ranks of a node share.");
    module.def(
        "record_begin",
        [](MPI_Fint comm) {
            const nb::gil_scoped_release release;
            mpi::record_begin(MPI_Comm_f2c(comm));
        },
        "comm"_a, "Record what all plans do from here on. Collective.");
    module.def("record_end", &mpi::record_end, "problem"_a = "", Released(),
               "End the recording, and return the text of a program file. Collective. `problem`: why "
               "this rank has nothing to record.");
    module.def("library_name", &mpi::library_name, "Return the name and version of the MPI library, in one line.");
    module.def(
        "host_of",
        [](MPI_Fint comm) {
            const Host host = mpi::host_of(MPI_Comm_f2c(comm));
            return std::tuple(host.cpu, host.mpi, host.ranks_per_node);
        },
        "comm"_a, Released(),
        "The processor and MPI library of this rank, and the maximum of ranks per node. Collective.");
    module.def("library_version", &library_version, "Return the name and version of the MPI library in use.");
    module.attr("build_mpi") = build_version();
    module.attr("build_compiler") = std::string(__VERSION__);
}
