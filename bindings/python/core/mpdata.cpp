#include "kernel/mpdata/mpdata.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "bind.hpp"
#include "kernel/mpdata/flow.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

namespace {

using kernel::Graph;
using kernel::Nodes;
using kernel::Pass;
using kernel::Team;

template <class T>
using List = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Pairs = nb::ndarray<const T, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
template <class Real>
using Columns = nb::ndarray<Real, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class Real>
using Shares = nb::ndarray<Real, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

template <class Real>
using MaybeColumns = std::optional<Columns<const Real>>;  // of a call in three dimensions

template <class A>
auto span_of(const A& array) {
    return std::span(array.data(), array.size());
}

// An array [rows][...][levels] of the mesh. Throws InputError for another shape.
template <class A>
auto data_of(const char* what, const A& array, Index rows, Index levels) {
    if (static_cast<Index>(array.shape(0)) != rows || static_cast<Index>(array.shape(array.ndim() - 1)) != levels ||
        (array.ndim() == 3 && array.shape(1) != 2))
        throw InputError(std::string(what) + ": " + std::to_string(array.shape(0)) + " rows of " +
                         std::to_string(array.shape(array.ndim() - 1)) + " levels: " + std::to_string(rows) + " of " +
                         std::to_string(levels) + " are allowed");
    return array.data();
}

// The nodes of a call: (begin, end) of own nodes, or of a list; a mask. Throws InputError for invalid nodes.
class Selection {
  public:
    Selection(std::pair<Index, Index> range, std::optional<List<std::int32_t>> list,
              std::optional<List<std::uint8_t>> mask, bool wanted)
        : nodes{range.first, range.second}, list_(std::move(list)), mask_(std::move(mask)) {
        if (list_) nodes.list = list_->data();
        if (mask_) nodes.mask = mask_->data();
        nodes.wanted = wanted ? 1 : 0;
    }

    const Nodes& of(const Graph& graph) const {
        const Index most = list_ ? static_cast<Index>(list_->shape(0)) : graph.nodes();
        if (nodes.begin < 0 || nodes.begin > nodes.end || nodes.end > most)
            throw InputError("nodes " + std::to_string(nodes.begin) + ":" + std::to_string(nodes.end) + " of " +
                             std::to_string(most) + ": ascending ones of these are allowed");
        if (mask_ && static_cast<Index>(mask_->shape(0)) != graph.nodes())
            throw InputError("mask of " + std::to_string(mask_->shape(0)) + " nodes: " + std::to_string(graph.nodes()) +
                             " are allowed");
        for (Index i = nodes.begin; list_ && i < nodes.end; ++i)
            if (nodes.list[i] < 0 || nodes.list[i] >= graph.nodes())
                throw InputError("list: node " + std::to_string(nodes.list[i]) + ": 0.." +
                                 std::to_string(graph.nodes() - 1) + " are allowed");
        return nodes;
    }

    Nodes nodes;

  private:
    std::optional<List<std::int32_t>> list_;
    std::optional<List<std::uint8_t>> mask_;
};

template <class Real>
Pass<Real> pass_of(const Graph& graph, const Columns<const Real>& flux, const Columns<const Real>& q, double dt,
                   const MaybeColumns<Real>& down, const MaybeColumns<Real>& inverse_mass) {
    Pass<Real> pass;
    pass.graph = &graph;
    pass.levels = static_cast<Index>(q.shape(1));
    pass.dt = static_cast<Real>(dt);
    pass.flux = data_of("flux", flux, graph.edges(), pass.levels);
    pass.q = data_of("q", q, graph.all(), pass.levels);
    if (down.has_value() != inverse_mass.has_value())
        throw InputError("down and inverse mass: both, in three dimensions, or neither is allowed");
    if (down) pass.down = data_of("down", *down, graph.nodes(), pass.levels);
    if (inverse_mass) pass.inverse_mass = data_of("inverse mass", *inverse_mass, graph.nodes(), pass.levels);
    return pass;
}

template <class Real>
Pass<Real> pass_of(const Graph& graph, const Columns<const Real>& flux, const Columns<const Real>& q,
                   const Columns<const Real>& divergence, double dt, bool gauge,
                   const std::optional<Shares<const Real>>& limits, const MaybeColumns<Real>& down,
                   const MaybeColumns<Real>& inverse_mass) {
    Pass<Real> pass = pass_of(graph, flux, q, dt, down, inverse_mass);
    pass.divergence = data_of("divergence", divergence, graph.all(), pass.levels);
    pass.gauge = gauge;
    if (limits) pass.limits = data_of("limits", *limits, graph.all(), pass.levels);
    return pass;
}

template <class Real>
void divergence(const Graph& graph, const Selection& selection, const Columns<const Real>& flux,
                const Columns<const Real>& q, const Columns<Real>& out, Team& team, MaybeColumns<Real> down,
                MaybeColumns<Real> inverse_mass) {
    const Pass<Real> pass = pass_of<Real>(graph, flux, q, 0.0, down, inverse_mass);
    Real* to = data_of("out", out, graph.all(), pass.levels);
    const Nodes& nodes = selection.of(graph);
    const nb::gil_scoped_release release;
    kernel::upwind_divergence(pass, nodes, to, team);
}

template <class Real>
void upwind(const Graph& graph, const Selection& selection, const Columns<const Real>& flux,
            const Columns<const Real>& q, const Columns<Real>& out, double dt, Team& team, MaybeColumns<Real> down,
            MaybeColumns<Real> inverse_mass) {
    const Pass<Real> pass = pass_of<Real>(graph, flux, q, dt, down, inverse_mass);
    Real* to = data_of("out", out, graph.all(), pass.levels);
    const Nodes& nodes = selection.of(graph);
    if (to == pass.q) throw InputError("q and out are one array: the loop reads what it has written");
    const nb::gil_scoped_release release;
    kernel::upwind_pass(pass, nodes, to, team);
}

template <class Real>
void corrected(const Graph& graph, const Selection& selection, const Columns<const Real>& flux,
               const Columns<const Real>& q, const Columns<const Real>& divergence, const Columns<Real>& out, double dt,
               bool gauge, std::optional<Shares<const Real>> limits, Team& team, MaybeColumns<Real> down,
               MaybeColumns<Real> inverse_mass) {
    const Pass<Real> pass = pass_of<Real>(graph, flux, q, divergence, dt, gauge, limits, down, inverse_mass);
    Real* to = data_of("out", out, graph.all(), pass.levels);
    const Nodes& nodes = selection.of(graph);
    if (to == pass.q) throw InputError("q and out are one array: the loop reads what it has written");
    const nb::gil_scoped_release release;
    kernel::corrected(pass, nodes, to, team);
}

template <class Real>
void limits(const Graph& graph, const Selection& selection, const Columns<const Real>& flux,
            const Columns<const Real>& q, const Columns<const Real>& divergence, const Shares<Real>& out, double dt,
            bool gauge, Team& team, MaybeColumns<Real> down, MaybeColumns<Real> inverse_mass) {
    const Pass<Real> pass = pass_of<Real>(graph, flux, q, divergence, dt, gauge, std::nullopt, down, inverse_mass);
    Real* to = data_of("out", out, graph.all(), pass.levels);
    const Nodes& nodes = selection.of(graph);
    const nb::gil_scoped_release release;
    kernel::limits(pass, nodes, to, team);
}

template <class Real>
void next_pass(const Graph& graph, const Columns<const Real>& flux, const Columns<const Real>& q,
               const Columns<const Real>& divergence, const Columns<Real>& next_flux, const Columns<Real>& next_q,
               double dt, std::optional<Shares<const Real>> limits, Team& team, MaybeColumns<Real> down,
               MaybeColumns<Real> inverse_mass, std::optional<Columns<Real>> next_down) {
    const Pass<Real> pass = pass_of<Real>(graph, flux, q, divergence, dt, false, limits, down, inverse_mass);
    Real* to_flux = data_of("next flux", next_flux, graph.edges(), pass.levels);
    Real* to_q = data_of("next q", next_q, graph.all(), pass.levels);
    if (down.has_value() != next_down.has_value())
        throw InputError("down and next down: both, in three dimensions, or neither is allowed");
    Real* to_down = next_down ? data_of("next down", *next_down, graph.nodes(), pass.levels) : nullptr;
    const nb::gil_scoped_release release;
    kernel::next_pass(pass, to_flux, to_down, to_q, team);
}

template <class Real>
void swept(const Graph& graph, std::pair<Index, Index> range, const Columns<const Real>& flux,
           const Columns<const Real>& q, const Columns<Real>& kept, const Columns<Real>& out, double dt, Team& team,
           MaybeColumns<Real> down, MaybeColumns<Real> inverse_mass) {
    const Pass<Real> pass = pass_of<Real>(graph, flux, q, dt, down, inverse_mass);
    Real* to = data_of("out", out, graph.all(), pass.levels);
    const auto [first, last] = range;
    const Nodes& nodes = Selection(range, std::nullopt, std::nullopt, false).of(graph);
    Real* room = data_of("kept", kept, kernel::kept_rows(graph) * team.threads(), pass.levels);
    if (to == pass.q) throw InputError("q and out are one array: the loop reads what it has written");
    if (!graph.in_order()) throw InputError("a sweep is for own nodes in the order of their edges: sort them by ids");
    const nb::gil_scoped_release release;
    kernel::swept(pass, first, last, room, to, team);
}

template <class Real>
void plain(const Graph& graph, const Columns<const Real>& flux, const Columns<const Real>& q,
           const std::optional<Columns<const Real>>& divergence, const Columns<Real>& through, const Columns<Real>& out,
           double dt, Team& team) {
    const Pass<Real> pass =
        divergence ? pass_of<Real>(graph, flux, q, *divergence, dt, true, std::nullopt, std::nullopt, std::nullopt)
                   : pass_of<Real>(graph, flux, q, dt, std::nullopt, std::nullopt);
    Real* between = data_of("through", through, graph.edges(), pass.levels);
    Real* to = data_of("out", out, graph.all(), pass.levels);
    const nb::gil_scoped_release release;
    if (divergence)
        kernel::plain_corrected(pass, between, to, team);
    else
        kernel::plain_divergence(pass, between, to, team);
}

template <class Real>
void flow(const Columns<const double>& by_row, const Columns<const double>& by_level, const Columns<Real>& out,
          Team& team) {
    const auto rows = static_cast<Index>(by_row.shape(0)), terms = static_cast<Index>(by_row.shape(1));
    const auto levels = static_cast<Index>(by_level.shape(1));
    const double* along = data_of("by level", by_level, terms, levels);
    Real* to = data_of("out", out, rows, levels);
    const nb::gil_scoped_release release;
    kernel::sum_of_terms(by_row.data(), along, rows, terms, levels, to, team);
}

template <class Real>
void bind_mpdata_loops(nb::module_& module) {
    const auto down = ("down"_a.noconvert().none() = nb::none());
    const auto mass = ("inverse_mass"_a.noconvert().none() = nb::none());
    module.def(
        "mpdata_divergence", &divergence<Real>, "graph"_a, "nodes"_a, "flux"_a.noconvert(), "q"_a.noconvert(),
        "out"_a.noconvert(), "team"_a, down, mass,
        "out = the divergence of the upwind fluxes of q. Fields are [node][level], own nodes and halo; fluxes\n"
        "[edge][level] in volume per second. In three dimensions fluxes are in mass per second; down: what flows\n"
        "down through the lower face of each level of own nodes; inverse_mass: one over its mass. Raises\n"
        "InputError for other shapes.");
    module.def("mpdata_flow", &flow<Real>, "by_row"_a.noconvert(), "by_level"_a.noconvert(), "out"_a.noconvert(),
               "team"_a, "out[row][level] = the sum over terms of by_row[row][term] by_level[term][level].");
    module.def("mpdata_upwind", &upwind<Real>, "graph"_a, "nodes"_a, "flux"_a.noconvert(), "q"_a.noconvert(),
               "out"_a.noconvert(), "dt"_a, "team"_a, down, mass, "out = q after an upwind pass alone.");
    module.def("mpdata_corrected", &corrected<Real>, "graph"_a, "nodes"_a, "flux"_a.noconvert(), "q"_a.noconvert(),
               "divergence"_a.noconvert(), "out"_a.noconvert(), "dt"_a, "gauge"_a, "limits"_a.noconvert().none(),
               "team"_a, down, mass,
               "out = q after the pass of which divergence is given, and after the next one, the last.");
    module.def("mpdata_limits", &limits<Real>, "graph"_a, "nodes"_a, "flux"_a.noconvert(), "q"_a.noconvert(),
               "divergence"_a.noconvert(), "out"_a.noconvert(), "dt"_a, "gauge"_a, "team"_a, down, mass,
               "out[node][2][level] = the shares of what flows into and out of a node in the next pass that make no\n"
               "new extremes.");
    module.def(
        "mpdata_next_pass", &next_pass<Real>, "graph"_a, "flux"_a.noconvert(), "q"_a.noconvert(),
        "divergence"_a.noconvert(), "next_flux"_a.noconvert(), "next_q"_a.noconvert(), "dt"_a,
        "limits"_a.noconvert().none(), "team"_a, down, mass, "next_down"_a.noconvert().none() = nb::none(),
        "next_flux, next_down = the face fluxes of the next pass, without the gauge; next_q = q - dt divergence.");
    module.def(
        "mpdata_swept", &swept<Real>, "graph"_a, "nodes"_a, "flux"_a.noconvert(), "q"_a.noconvert(),
        "kept"_a.noconvert(), "out"_a.noconvert(), "dt"_a, "team"_a, down, mass,
        "out = q after two passes with the infinite gauge, of those nodes (begin, end) without a neighbour in the\n"
        "halo, in one sweep. kept: [threads * kept_rows][level], see MeshGraph. Raises InputError for own nodes\n"
        "that do not lie in the order of their edges.");
    module.def("mpdata_plain", &plain<Real>, "graph"_a, "flux"_a.noconvert(), "q"_a.noconvert(),
               "divergence"_a.noconvert().none(), "through"_a.noconvert(), "out"_a.noconvert(), "dt"_a, "team"_a,
               "As mpdata_divergence (divergence None) and mpdata_corrected, with the gauge, of all own nodes: the\n"
               "loops as one writes them first. through: [edge][level], what flows through faces.");
}

}  // namespace

void bind_mpdata(nb::module_& module) {
    nb::class_<Graph>(module, "MeshGraph", "The neighbours of the nodes of a rank's part of a mesh.")
        .def(
            "__init__",
            [](Graph* self, const List<std::int64_t>& offsets, const List<std::int32_t>& neighbours,
               const List<std::int32_t>& faces, const Pairs<std::int32_t>& edges, const List<double>& inverse_volume,
               Index all) {
                new (self) Graph(span_of(offsets), span_of(neighbours), span_of(faces), span_of(edges),
                                 span_of(inverse_volume), all);
            },
            "offsets"_a, "neighbours"_a, "faces"_a, "edges"_a, "inverse_volume"_a, "all"_a,
            "As `tradewind.layout.partition.Part` has them; all: own nodes and halo. Raises InputError.")
        .def_prop_ro("nodes", &Graph::nodes, "Number of own nodes.")
        .def_prop_ro("all", &Graph::all, "Number of own nodes and those of the halo.")
        .def_prop_ro("edges", &Graph::edges)
        .def_prop_ro("kept_rows", &kernel::kept_rows, "Rows of levels that each thread of a sweep keeps.");
    nb::class_<Selection>(module, "Nodes", "Own nodes that a loop is for.")
        .def(nb::init<std::pair<Index, Index>, std::optional<List<std::int32_t>>, std::optional<List<std::uint8_t>>,
                      bool>(),
             "range"_a, "list"_a = nb::none(), "mask"_a = nb::none(), "wanted"_a = false,
             "Nodes begin..end - 1, or these entries of a list; with a mask those where it is `wanted`.");
    bind_mpdata_loops<double>(module);
    bind_mpdata_loops<float>(module);
}

}  // namespace tradewind::python
