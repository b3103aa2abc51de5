// The extension module of executor 2. Python code reaches it through tradewind.mpi, which has imported mpi4py before
// and made sure that both use the same MPI library.
#include <mpi.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "mpi/agreement.hpp"
#include "mpi/error.hpp"
#include "mpi/measure.hpp"
#include "mpi/plan.hpp"
#include "mpi/processes.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind {

namespace {

// A plan with the arrays that it is bound to: they live as long as it does.
class BoundPlan {
  public:
    BoundPlan(std::unique_ptr<Plan> plan, nb::object arrays) : plan_(std::move(plan)), arrays_(std::move(arrays)) {}
    BoundPlan(BoundPlan&&) = default;
    ~BoundPlan() {
        if (!plan_ || !plan_->in_flight()) return;
        const std::string text = "a plan destroyed while it is under way, before its wait: " + plan_->describe();
        const nb::error_scope others;
        PyErr_SetString(nb::module_::import_("tradewind.errors").attr("PlanError").ptr(), text.c_str());
        PyErr_WriteUnraisable(nullptr);
    }
    Plan& plan() const { return *plan_; }

  private:
    std::unique_ptr<Plan> plan_;
    nb::object arrays_;
};

// (address, points along x, y, z, strides along x, y, z in bytes)
using FieldTuple = std::tuple<std::uintptr_t, std::array<Index, 3>, std::array<Index, 3>>;

std::vector<Field> fields_of(const std::vector<FieldTuple>& tuples) {
    std::vector<Field> fields;
    for (const auto& [address, shape, stride] : tuples)
        fields.push_back({reinterpret_cast<std::byte*>(address), shape, stride});
    return fields;
}

PlanRequest request_of(const std::vector<FieldTuple>& source, const std::vector<FieldTuple>& target,
                       const std::string& element, const std::string& operation, const std::string& transport,
                       const std::string& packing, std::int64_t largest_message) {
    return {fields_of(source), fields_of(target), parse_element(element), parse_operation(operation),
            transport,         packing,           Bytes{largest_message}};
}

BoundPlan schedule_plan(const Schedule& schedule, MPI_Fint comm, const std::vector<FieldTuple>& source,
                        const std::vector<FieldTuple>& target, nb::object arrays, const std::string& element,
                        const std::string& operation, const std::string& transport, const std::string& packing,
                        std::int64_t largest_message) {
    const PlanRequest request = request_of(source, target, element, operation, transport, packing, largest_message);
    return {make_plan(schedule, MPI_Comm_f2c(comm), request), std::move(arrays)};
}

BoundPlan native_plan(const Pattern& pattern, MPI_Fint comm, const std::vector<FieldTuple>& source,
                      const std::vector<FieldTuple>& target, nb::object arrays, const std::string& element,
                      const std::string& operation) {
    const PlanRequest request = request_of(source, target, element, operation, "isend-irecv", "buffer", 1 << 30);
    return {make_native_plan(pattern, MPI_Comm_f2c(comm), request), std::move(arrays)};
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
    std::vector<MeasuredStep> measured;
    for (const auto& [plan, repeat] : steps) measured.push_back({&plan->plan(), repeat});
    Samples result;
    {
        const nb::gil_scoped_release release;
        result = measure(MPI_Comm_f2c(comm), measured, warmup, samples, copy_only);
    }
    return {result.total, result.step};
}

void bind_plan(nb::module_& module) {
    using Released = nb::call_guard<nb::gil_scoped_release>;
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
        .def_prop_ro(
            "in_flight", [](const BoundPlan& p) { return p.plan().in_flight(); }, "Started, not yet waited for.")
        .def_prop_ro(
            "messages", [](const BoundPlan& p) { return p.plan().messages(); },
            "MPI messages that this rank sends in one call.")
        .def_prop_ro(
            "bytes_sent", [](const BoundPlan& p) { return p.plan().bytes_sent().value; },
            "Bytes that this rank sends in one call.")
        .def("__repr__", [](const BoundPlan& p) { return "Plan(" + p.plan().describe() + ")"; });
    module.def("schedule_plan", &schedule_plan, "schedule"_a, "comm"_a, "source"_a, "target"_a, "arrays"_a, "element"_a,
               "operation"_a, "transport"_a, "packing"_a, "largest_message"_a);
    module.def("native_plan", &native_plan, "pattern"_a, "comm"_a, "source"_a, "target"_a, "arrays"_a, "element"_a,
               "operation"_a);
}

}  // namespace

}  // namespace tradewind

NB_MODULE(_mpi, module) {
    using namespace tradewind;
    module.doc() = "Schedules on real MPI. Use it through tradewind.mpi.";
    nb::module_::import_("tradewind._core");  // Schedule, Pattern and InputError are bound there
    static nb::object plan_error = nb::module_::import_("tradewind.errors").attr("PlanError");
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const PlanError& e) {
            PyErr_SetString(plan_error.ptr(), e.what());
        }
    });
    bind_plan(module);
    nb::class_<Processes, Peers>(module, "Processes", "The processes of a communicator, for a simulation. Collective.")
        .def("__init__", [](Processes* self, MPI_Fint comm) { new (self) Processes(MPI_Comm_f2c(comm)); }, "comm"_a);
    module.def(
        "agree",
        [](MPI_Fint comm, const std::string& identity, const std::string& problem) {
            agree(MPI_Comm_f2c(comm), identity, problem);
        },
        "comm"_a, "identity"_a, "problem"_a,
        "Collective: raises unless all ranks say the same and none has a problem.");
    module.def("measure", &measured, "comm"_a, "steps"_a, "warmup"_a, "samples"_a, "copy_only"_a = false,
               "Collective. Seconds of `samples` exchanges, the maximum over ranks: ([sample], [step][sample]).");
    module.def("library_version", &library_version, "What the MPI library in use calls itself.");
    module.attr("build_mpi") = build_version();
    module.attr("build_compiler") = std::string(__VERSION__);
}
