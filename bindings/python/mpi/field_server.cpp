// The side of the model of field servers; tradewind.fieldserver.model has its face.
#include "field_server.hpp"

#include <mpi.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "../errors.hpp"
#include "../indices.hpp"
#include "base/error.hpp"
#include "fieldserver/field_server.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

namespace {

using fieldserver::FieldServer;
using fieldserver::Json;
using Released = nb::call_guard<nb::gil_scoped_release>;

std::string bytes_of(const nb::bytes& bytes) {
    return {bytes.c_str(), bytes.size()};
}

// A reference to an object that is given up on any thread.
std::shared_ptr<const void> kept(const nb::handle& object) {
    Py_INCREF(object.ptr());
    return {object.ptr(), [](PyObject* each) {
                if (!Py_IsInitialized()) return;
                const nb::gil_scoped_acquire acquired;
                Py_DECREF(each);
            }};
}

// A whole field as an array, which lives as long as its memory.
nb::object array_of(const fieldserver::WholeField& field) {
    auto* memory = new fieldserver::PartMemory(field.memory);
    const nb::capsule owner(memory, [](void* each) noexcept { delete static_cast<fieldserver::PartMemory*>(each); });
    const std::size_t shape[2]{static_cast<std::size_t>(field.levels), static_cast<std::size_t>(field.points)};
    const auto type = field.element == mpi::Element::f4 ? nb::dtype<float>() : nb::dtype<double>();
    return nb::cast(nb::ndarray<nb::numpy>(memory->data(), 2, shape, owner, nullptr, type));
}

// A writer in Python: an object with methods `carry_out_json` and `status`.
class PythonWriter : public fieldserver::LocalWriter {
  public:
    explicit PythonWriter(const nb::object& writer) : writer_(kept(writer)) {}
    std::string carry_out(const std::string& order, const std::vector<fieldserver::WholeField>& fields) override {
        const nb::gil_scoped_acquire acquired;
        nb::list arrays;
        for (const fieldserver::WholeField& field : fields) arrays.append(array_of(field));
        return bytes_of(
            nb::cast<nb::bytes>(object().attr("carry_out_json")(nb::bytes(order.data(), order.size()), arrays)));
    }
    std::string status() override {
        const nb::gil_scoped_acquire acquired;
        return bytes_of(nb::cast<nb::bytes>(object().attr("status")()));
    }

  private:
    nb::handle object() const { return static_cast<PyObject*>(const_cast<void*>(writer_.get())); }

    std::shared_ptr<const void> writer_;
};

// Raises KeyboardInterrupt, or what another signal's handler does, in a wait of the model's side.
void raise_interrupts() {
    if (!Py_IsInitialized()) return;
    const nb::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// `owner`: what holds the memory of the array, where that is shared memory.
fieldserver::ModelArray model_array(const nb::object& array, int flags, const nb::object& owner = nb::none()) {
    Py_buffer view;
    if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_STRIDES | flags) != 0) throw nb::python_error();
    fieldserver::ModelArray found;
    found.data = static_cast<std::byte*>(view.buf);
    found.element = view.itemsize == 4 ? mpi::Element::f4 : mpi::Element::f8;
    found.points = {1, 1, 1};
    for (int i = 0; i < view.ndim && i < 3; ++i) {  // the last direction of NumPy is the first one here
        const auto place = static_cast<std::size_t>(view.ndim - 1 - i);
        found.points[place] = view.shape[i];
        found.strides[place] = view.strides[i];
    }
    PyBuffer_Release(&view);  // the caller keeps the array
    if (!owner.is_none()) found.memory = kept(owner);
    return found;
}

// Without a layout each rank has `own` points of a level.
FieldServer::Definition definition(const FieldServer& server, const std::string& name,
                                   const std::optional<layout::Product>& layout, const std::optional<Indices>& own,
                                   Index points, const std::string& element, std::vector<double> levels, int axis,
                                   const std::vector<std::pair<std::string, std::string>>& attributes,
                                   const std::string& geometry_name, const std::string& geometry) {
    fieldserver::FieldForm form;
    if (layout) {
        form = fieldserver::form_of(*layout, server.ranks());
    } else {
        const auto ids = viewed(*own);
        form.own.assign(ids.begin(), ids.end());
        form.points = points;
        form.levels = static_cast<Index>(levels.size());
    }
    form.element = mpi::parse_element(element);
    form.axis = axis;
    Json::Object given;
    std::string identity = geometry_name;
    for (const auto& [key, text] : attributes) {
        given.emplace_back(key, Json::written(text));
        identity += " " + key + " " + text;
    }
    return {
        name, {std::move(form), std::move(levels)}, identity, std::move(given), geometry_name, Json::written(geometry)};
}

// (server, reason, whether a server has taken over, its number or rank)
using LostTuple = std::tuple<int, nb::str, bool, int>;
std::vector<LostTuple> lost_of(FieldServer& server) {
    std::vector<LostTuple> found;
    for (const fieldserver::ModelSide::Lost& each : server.side().lost())
        found.emplace_back(each.channel->number(), text_of(each.reason), each.by_server, each.by);
    return found;
}

nb::list bytes_list(const std::vector<std::string>& texts) {
    nb::list found;
    for (const std::string& text : texts) found.append(nb::bytes(text.data(), text.size()));
    return found;
}

void bind_calls(nb::class_<FieldServer>& bound) {
    bound
        .def(
            "define",
            [](FieldServer& server, const std::string& name, const std::optional<layout::Product>& layout,
               const std::optional<Indices>& own, Index points, const std::string& element,
               const std::vector<double>& levels, int axis,
               const std::vector<std::pair<std::string, std::string>>& attributes, const std::string& geometry_name,
               const std::string& geometry) {
                const nb::gil_scoped_release released;
                server.define([&] {
                    return definition(server, name, layout, own, points, element, levels, axis, attributes,
                                      geometry_name, geometry);
                });
            },
            "name"_a, "layout"_a.none(), "own"_a.none(), "points"_a, "element"_a, "levels"_a, "axis"_a, "attributes"_a,
            "geometry_name"_a, "geometry"_a,
            "Define a field in a layout, or of the `own` points of a level of this rank. `attributes`: keys, and "
            "values\n"
            "as JSON. `geometry`: JSON, or nothing where the writers know its name.")
        .def("knows_geometry", &FieldServer::knows_geometry, "name"_a)
        .def("shape", &FieldServer::shape, "name"_a,
             "Points of this rank's array of a field along x, y, z; of listed points: points, levels, 1.")
        .def(
            "write",
            [](FieldServer& server, const std::string& name, const nb::object& values, Index step, Index level) {
                const auto array = model_array(values, 0);
                const nb::gil_scoped_release released;
                server.write([&]() -> FieldServer::Written { return {name, array}; }, step, level);
            },
            "name"_a, "values"_a, "step"_a, "level"_a)
        .def(
            "start",
            [](FieldServer& server, const std::string& name, const nb::object& values, const nb::object& owner,
               Index step, Index level) {
                const auto array = model_array(values, 0, owner);
                const nb::gil_scoped_release released;
                return server.start([&]() -> FieldServer::Written { return {name, array}; }, step, level);
            },
            "name"_a, "values"_a, "owner"_a.none(), "step"_a, "level"_a,
            "Return the number of the call. `owner`: what holds the memory, where it is shared.")
        .def("wait_for", &FieldServer::wait_for, "call"_a, Released())
        .def("end_step", &FieldServer::end_step, "step"_a, Released())
        .def(
            "prefetch",
            [](FieldServer& server, const std::vector<nb::bytes>& paths) {
                std::vector<std::string> listed;
                for (const nb::bytes& path : paths) listed.push_back(bytes_of(path));
                const nb::gil_scoped_release released;
                server.prefetch([&] { return listed; });
            },
            "paths"_a)
        .def(
            "read",
            [](FieldServer& server, const std::string& name, const nb::object& values, const nb::bytes& path) {
                const auto array = model_array(values, PyBUF_WRITABLE);
                const std::string file = bytes_of(path);
                const nb::gil_scoped_release released;
                server.read([&]() -> FieldServer::Read { return {name, file, array}; });
            },
            "name"_a, "values"_a, "path"_a)
        .def("finish", &FieldServer::finish, Released());
}

void bind_ends(nb::class_<FieldServer>& bound) {
    bound
        .def(
            "send_error",
            [](FieldServer& server, const std::string& text, bool input) {
                server.send_error(text, input ? fieldserver::ErrorKind::input : fieldserver::ErrorKind::other);
            },
            "text"_a, "input"_a, Released(), "Send an error of this rank to the others; raises what was met before.")
        .def_prop_ro("is_broken", &FieldServer::is_broken, "Whether an error has ended what the ranks do together.")
        .def("end", &FieldServer::end, Released(), "End; returns whether all ranks have taken part.")
        .def(
            "raise_end", [](FieldServer& server) { server.side().raise_end(); }, Released())
        .def(
            "leave",
            [](FieldServer& server, const std::string& text) {
                const std::vector<std::string> errors = [&] {
                    const nb::gil_scoped_release released;
                    return server.leave(text);
                }();
                std::vector<nb::str> found;
                for (const std::string& each : errors) found.push_back(text_of(each));
                return found;
            },
            "text"_a,
            "End without the other ranks, to which the error is sent. Returns errors of writers that no rank has "
            "raised.")
        .def(
            "part", [](FieldServer& server) { server.side().part(); }, Released())
        .def_prop_ro("dropped", [](FieldServer& server) { return server.side().dropped(); })
        .def_prop_ro("lost", &lost_of,
                     "Servers that are lost: (number, reason, whether a server has taken over, its number or rank).")
        .def_prop_ro(
            "server_figures", [](FieldServer& server) { return bytes_list(server.side().server_figures()); },
            "Figures of the servers that have ended, in JSON, on the first rank.");
}

// Files of a plan as shares get them, without the side of a model.
class PlanDealing {
  public:
    PlanDealing(const nb::bytes& plan, int shares, const nb::callable& bytes_of)
        : plan_(read(plan)),
          bytes_of_(bytes_of),
          dealing_(plan_.deal, shares,
                   [this](const std::string& path, Index step) { return nb::cast<Index>(bytes_of_(path, step)); }) {}
    PlanDealing(const PlanDealing&) = delete;
    PlanDealing& operator=(const PlanDealing&) = delete;

    int share_of(const std::string& field, Index step, const std::string& sink, double level) {
        for (const fieldserver::OutputFile& file : plan_.files(field, step))
            if (file.sink == sink) return dealing_.server_of(file, field, step, level);
        throw InputError("field " + field + ": the plan has it written to no sink " + sink + " at step " +
                         std::to_string(step));
    }
    void end_step(Index step) { dealing_.end_step(step); }
    bool is_empty() const { return dealing_.is_empty(); }

  private:
    static fieldserver::OutputPlan read(const nb::bytes& plan) {
        fieldserver::Message message(bytes_of(plan));
        return fieldserver::OutputPlan(message);
    }

    fieldserver::OutputPlan plan_;
    nb::callable bytes_of_;
    fieldserver::Dealing dealing_;
};

}  // namespace

void bind_field_server(nb::module_& module) {
    fieldserver::on_rest = raise_interrupts;
    nb::class_<PlanDealing>(module, "Dealing", "The shares of an output to which the files of a plan go.")
        .def(nb::init<const nb::bytes&, int, const nb::callable&>(), "plan"_a, "shares"_a, "bytes_of"_a,
             "`bytes_of`: bytes of a file by its path, with a star for a level, and step.")
        .def("share_of", &PlanDealing::share_of, "field"_a, "step"_a, "sink"_a, "level"_a = 0.0)
        .def("end_step", &PlanDealing::end_step, "step"_a, "Forget the files of a step, and of those before.")
        .def_prop_ro("is_empty", &PlanDealing::is_empty, "Whether no file of a step is kept.");
    nb::class_<FieldServer> bound(module, "FieldServer",
                                  "The side of the model of a field server; see tradewind.FieldServer.");
    bound.def(
        "__init__",
        [](FieldServer* self, MPI_Fint model, const nb::bytes& plan, const std::string& transport,
           const std::string& packing, const std::vector<MPI_Fint>& servers, const nb::object& make_writer, bool waits,
           Index steps) {
            fieldserver::Opened opened;
            opened.model = MPI_Comm_f2c(model);
            fieldserver::Message message(bytes_of(plan));
            opened.plan = fieldserver::OutputPlan(message);
            opened.method = {transport, packing};
            for (const MPI_Fint server : servers) opened.servers.push_back(MPI_Comm_f2c(server));
            const auto function = kept(make_writer);
            opened.make_writer = [function] {
                const nb::gil_scoped_acquire acquired;
                const nb::handle call(static_cast<PyObject*>(const_cast<void*>(function.get())));
                return std::make_unique<PythonWriter>(call());
            };
            opened.waits = waits;
            opened.steps = steps;
            const nb::gil_scoped_release released;
            new (self) FieldServer(std::move(opened));
        },
        "model"_a, "plan"_a, "transport"_a, "packing"_a, "servers"_a, "make_writer"_a, "waits"_a, "steps"_a,
        "Collective. `plan`: as servers send it. `servers`: of each a communicator of the ranks of the model and the\n"
        "server behind them; none: each rank of the model writes. `make_writer`: returns a writer of this rank.");
    bind_calls(bound);
    bind_ends(bound);
}

}  // namespace tradewind::python
