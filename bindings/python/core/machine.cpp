#include "machine/machine.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "base/error.hpp"
#include "bind.hpp"
#include "machine/intranode.hpp"
#include "machine/placement.hpp"
#include "machine/topology/complete.hpp"
#include "machine/topology/crossbar.hpp"
#include "machine/topology/cubemesh.hpp"
#include "machine/topology/dragonfly.hpp"
#include "machine/topology/dragonflyplus.hpp"
#include "machine/topology/fattree.hpp"
#include "machine/topology/graph.hpp"
#include "machine/topology/hypercube.hpp"
#include "machine/topology/links.hpp"
#include "machine/topology/slimfly.hpp"
#include "machine/topology/torus.hpp"
#include "machine/walker.hpp"
#include "places.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tradewind::python {

namespace {

// A latency or an overhead. Far longer ones would overflow the clock of a simulation.
Picoseconds picoseconds(double seconds) {
    if (!(seconds >= 0 && seconds <= 3600)) throw InputError("a latency or an overhead: 0s to 1h are allowed");
    return {static_cast<std::int64_t>(std::llround(seconds * 1e12))};
}

machine::LinkRate link_rate(double bytes_per_second, double latency_s) {
    return {{bytes_per_second}, picoseconds(latency_s)};
}

const char* kind_name(machine::LinkKind kind) {
    switch (kind) {
        case machine::LinkKind::terminal: return "terminal";
        case machine::LinkKind::local: return "local";
        case machine::LinkKind::global: return "global";
        default: return "none";
    }
}

machine::CubeMesh::Gpu gpu(const std::string& name) {
    if (name == "P100") return machine::CubeMesh::Gpu::p100;
    if (name == "V100") return machine::CubeMesh::Gpu::v100;
    throw InputError("cubemesh: gpu '" + name + "' is unknown (known: P100, V100)");
}

// A kind of dragonfly: five sizes, and how its groups are joined.
template <class Network>
auto with_arrangement() {
    using Size = std::uint32_t;
    return nb::new_([](Size a, Size b, Size groups, Size nodes, Size global_links, const std::string& arrangement) {
        return Network(a, b, groups, nodes, global_links, machine::arrangement_of(arrangement));
    });
}

void bind_topologies(nb::module_& module) {
    nb::class_<machine::Topology>(module, "Topology", "How switches are wired, and where nodes are attached.")
        .def_prop_ro("name", &machine::Topology::name)
        .def("describe", &machine::Topology::describe)
        .def_prop_ro("switches", &machine::Topology::switches)
        .def_prop_ro("radix", &machine::Topology::radix)
        .def_prop_ro("nodes", &machine::Topology::nodes)
        .def_prop_ro("nodes_per_switch", &machine::Topology::nodes_per_switch)
        .def_prop_ro("first_terminal", &machine::Topology::first_terminal)
        .def("links", &machine::links, "Links between switches, each of which joins two of them both ways.")
        .def(
            "port",
            [](const machine::Topology& t, Index sw, Index port) {
                const machine::PortEnd end =
                    t.port(checked_place("switch", sw, t.switches()), checked_place("port", port, t.radix()));
                return std::make_tuple(std::string(kind_name(end.kind)), end.peer_switch, end.peer_port);
            },
            "switch"_a, "port"_a, "(kind, switch, port) of the other end of a port's link.")
        .def(
            "distance",
            [](const machine::Topology& t, Index from, Index to) {
                const auto d =
                    t.distance(checked_place("switch", from, t.switches()), checked_place("switch", to, t.switches()));
                return std::make_tuple(d.local, d.global);
            },
            "from_switch"_a, "to_switch"_a, "(local, global) links on a shortest path.");
    nb::class_<machine::Torus, machine::Topology>(module, "Torus")
        .def(nb::init<std::vector<std::uint32_t>, std::uint32_t>(), "shape"_a, "nodes_per_switch"_a);
    nb::class_<machine::FatTree, machine::Topology>(module, "FatTree")
        .def(nb::init<std::vector<std::uint32_t>, std::vector<std::uint32_t>>(), "down_ports"_a, "up_ports"_a);
    nb::class_<machine::Dragonfly, machine::Topology>(module, "Dragonfly")
        .def(with_arrangement<machine::Dragonfly>(), "rows"_a, "columns"_a, "groups"_a, "nodes_per_switch"_a,
             "global_links"_a, "arrangement"_a = "spread");
    nb::class_<machine::DragonflyPlus, machine::Topology>(module, "DragonflyPlus")
        .def(with_arrangement<machine::DragonflyPlus>(), "leaves"_a, "spines"_a, "groups"_a, "nodes_per_switch"_a,
             "global_links"_a, "arrangement"_a = "spread");
    nb::class_<machine::HyperX, machine::Topology>(module, "HyperX")
        .def(nb::init<std::vector<std::uint32_t>, std::vector<std::uint32_t>, std::uint32_t>(), "shape"_a, "links"_a,
             "nodes_per_switch"_a);
    nb::class_<machine::Complete, machine::Topology>(module, "Complete")
        .def(nb::init<std::uint32_t, std::uint32_t, std::uint32_t>(), "switches"_a, "links"_a, "nodes_per_switch"_a);
    nb::class_<machine::Hypercube, machine::Topology>(module, "Hypercube")
        .def(nb::init<std::uint32_t, std::uint32_t, std::uint32_t>(), "dimensions"_a, "links"_a, "nodes_per_switch"_a);
    nb::class_<machine::SlimFly, machine::Topology>(module, "SlimFly")
        .def(nb::init<std::uint32_t, std::uint32_t>(), "q"_a, "nodes_per_switch"_a);
    nb::class_<machine::CubeMesh, machine::Topology>(module, "CubeMesh")
        .def(
            "__init__",
            [](machine::CubeMesh* self, const std::string& name, std::uint32_t boxes) {
                new (self) machine::CubeMesh(gpu(name), boxes);
            },
            "gpu"_a, "boxes"_a);
    nb::class_<machine::Graph, machine::Topology>(module, "Graph")
        .def(nb::init<const std::string&, const std::string&, std::uint32_t, std::uint32_t>(), "text"_a, "file"_a,
             "nodes_per_switch"_a, "node_switches"_a);
    nb::class_<machine::Crossbar, machine::Topology>(module, "Crossbar").def(nb::init<std::uint32_t>(), "nodes"_a);
}

void bind_intranode(nb::module_& module) {
    nb::class_<machine::RateTable>(module, "RateTable",
                                   "Rates in bytes per second, by bytes and by the runs in which they lie.")
        .def(
            nb::init<std::vector<double>, std::vector<double>, std::vector<std::vector<double>>, std::vector<double>>(),
            "sizes"_a, "runs"_a, "rates"_a, "whole"_a);
    nb::class_<machine::IntranodeTransport>(module, "IntranodeTransport",
                                            "Cost of messages within a node, of one transport with one packing.")
        .def(
            "__init__",
            [](machine::IntranodeTransport* self, double latency, double overhead, const machine::RateTable& rates,
               const machine::RateTable& copies, std::int64_t element_bytes, const machine::RateTable* scattered,
               const machine::RateTable* gathered) {
                if (element_bytes < 1) throw InputError("bytes of an element: 1 or more are allowed");
                new (self) machine::IntranodeTransport{
                    picoseconds(latency), picoseconds(overhead), rates, {}, copies, {element_bytes}, {}};
                if (scattered) self->scattered = *scattered;
                if (gathered) self->gathered = *gathered;
            },
            nb::kw_only(), "latency"_a, "overhead"_a, "rates"_a, "copies"_a, "element_bytes"_a = 8,
            "scattered"_a.none() = nb::none(), "gathered"_a.none() = nb::none())
        .def("send_seconds", &machine::IntranodeTransport::send_seconds, "bytes"_a, "runs"_a = 1, "alike"_a = true)
        .def("receive_seconds", &machine::IntranodeTransport::receive_seconds, "bytes"_a, "runs"_a = 1,
             "alike"_a = true,
             "Return the CPU time of the receiver for a message in this many runs, without half of the overhead.")
        .def("combined_seconds", &machine::IntranodeTransport::combined_seconds, "bytes"_a);
}

void bind_walker(nb::module_& module) {
    nb::class_<machine::Walker>(module, "Walker",
                                "Walks single packets by the routing of a machine, without a simulation.")
        .def(nb::init<const machine::Machine&>(), "machine"_a)
        .def_prop_ro("channels", &machine::Walker::channels, "Virtual channels that make the routing free of deadlock.")
        .def(
            "walk",
            [](machine::Walker& walker, Index from, Index to, std::uint32_t random, std::uint64_t queues) {
                const std::uint32_t first = checked_place("node", from, walker.nodes()),
                                    last = checked_place("node", to, walker.nodes());
                std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> steps;
                for (const machine::Hop& step : walker.walk(first, last, random, queues))
                    steps.emplace_back(step.switch_id, step.port, step.channel);
                return steps;
            },
            "from_node"_a, "to_node"_a, "random"_a = 0, "queues"_a = 0,
            "(switch, port, virtual channel) of every link between switches on a packet's way. `random` are its 30 "
            "random bits; queues are empty where `queues` is 0, else drawn from it.");
}

}  // namespace

void bind_machine(nb::module_& module) {
    bind_topologies(module);
    nb::class_<machine::Machine>(module, "Machine",
                                 "Bandwidths in bytes per second, latencies and overheads in seconds.")
        .def(
            "__init__",
            [](machine::Machine* self, std::shared_ptr<machine::Topology> topology, std::string routing,
               double link_bandwidth, double link_latency, double global_bandwidth, double global_latency,
               double injection_bandwidth, double injection_latency, double ejection_bandwidth, double ejection_latency,
               double send_overhead, double receive_overhead, double memory_bandwidth, std::int64_t buffer,
               double crossbar_bandwidth, std::uint32_t nics, double copy_bandwidth, double flops,
               std::int64_t eager_limit, std::int64_t header, std::int64_t bypass, std::int64_t port_buffer,
               std::int64_t output_buffer, int channels, std::int64_t nic_buffer, bool bypass_last_dimension,
               double unexpected_bandwidth, bool receives_at_start) {
                new (self) machine::Machine{std::move(topology),
                                            std::move(routing),
                                            link_rate(link_bandwidth, link_latency),
                                            link_rate(global_bandwidth, global_latency),
                                            link_rate(injection_bandwidth, injection_latency),
                                            link_rate(ejection_bandwidth, ejection_latency),
                                            picoseconds(send_overhead),
                                            picoseconds(receive_overhead),
                                            {memory_bandwidth},
                                            {buffer},
                                            {port_buffer},
                                            {output_buffer},
                                            channels,
                                            {nic_buffer},
                                            {crossbar_bandwidth},
                                            nics,
                                            {copy_bandwidth},
                                            flops,
                                            {eager_limit},
                                            {header},
                                            {bypass},
                                            bypass_last_dimension,
                                            {unexpected_bandwidth},
                                            receives_at_start};
                self->check();
            },
            nb::kw_only(), "topology"_a, "routing"_a, "link_bandwidth"_a, "link_latency"_a, "global_bandwidth"_a,
            "global_latency"_a, "injection_bandwidth"_a, "injection_latency"_a, "ejection_bandwidth"_a,
            "ejection_latency"_a, "send_overhead"_a, "receive_overhead"_a, "memory_bandwidth"_a, "buffer"_a = 65536,
            "crossbar_bandwidth"_a = 0, "nics"_a = 1, "copy_bandwidth"_a = 1e18, "flops"_a = 0, "eager_limit"_a = -1,
            "header"_a = 64, "bypass"_a = 0, "port_buffer"_a = 0, "output_buffer"_a = 0, "channels"_a = 0,
            "nic_buffer"_a = 0, "bypass_last_dimension"_a = false, "unexpected_bandwidth"_a = 0,
            "receives_at_start"_a = false)
        .def_prop_ro("topology",
                     [](const machine::Machine& m) { return std::const_pointer_cast<machine::Topology>(m.topology); })
        .def_prop_ro("nodes", &machine::Machine::nodes)
        .def_prop_ro(
            "groups", [](const machine::Machine& m) { return m.topology->groups(); },
            "Groups of switches that hold nodes: of dragonflies, and boxes of a cubemesh; else 1.")
        .def_prop_ro(
            "buffer_sizes",
            [](const machine::Machine& m) {
                const machine::BufferSizes sizes = machine::buffer_sizes(m);
                return std::tuple{sizes.channel, sizes.output, sizes.nic};
            },
            "Bytes of an input buffer's channel, of one behind the crossbar (0: none), of the buffer for a NIC.")
        .def_ro("routing", &machine::Machine::routing);
    bind_intranode(module);
    bind_walker(module);
    nb::class_<machine::Placement>(module, "Placement")
        .def(nb::init<const std::string&, Rank, std::uint32_t, std::uint32_t, std::uint64_t, std::array<Index, 2>,
                      std::array<std::uint32_t, 2>, const std::vector<std::uint32_t>&>(),
             "kind"_a, "ranks"_a, "ranks_per_node"_a, "nodes"_a, "seed"_a, "split"_a = std::array<Index, 2>{0, 0},
             "holders"_a = std::array<std::uint32_t, 2>{0, 0}, "torus"_a = std::vector<std::uint32_t>{})
        .def_prop_ro("ranks", &machine::Placement::ranks)
        .def("node", [](const machine::Placement& p, Index rank) { return p.node(checked_rank(p, rank)); }, "rank"_a);
    nb::class_<machine::RoutingEntry>(module, "RoutingEntry")
        .def_ro("name", &machine::RoutingEntry::name)
        .def_ro("topology", &machine::RoutingEntry::topology)
        .def_ro("description", &machine::RoutingEntry::description)
        .def_ro("source", &machine::RoutingEntry::source);
    nb::class_<machine::TopologyEntry>(module, "TopologyEntry")
        .def_ro("name", &machine::TopologyEntry::name)
        .def_ro("parameters", &machine::TopologyEntry::parameters)
        .def_ro("description", &machine::TopologyEntry::description)
        .def_ro("source", &machine::TopologyEntry::source);
    module.def("placements", &machine::placements);
    module.def("routings", [] { return machine::routings(); });
    module.def("topologies", [] { return machine::topologies(); });
}

}  // namespace tradewind::python
