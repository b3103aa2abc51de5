#include "testing/networks.hpp"

#include "machine/topology/complete.hpp"
#include "machine/topology/crossbar.hpp"
#include "machine/topology/cubemesh.hpp"
#include "machine/topology/dragonfly.hpp"
#include "machine/topology/dragonflyplus.hpp"
#include "machine/topology/fattree.hpp"
#include "machine/topology/graph.hpp"
#include "machine/topology/hypercube.hpp"
#include "machine/topology/slimfly.hpp"
#include "machine/topology/torus.hpp"

namespace testing {

using namespace tradewind::machine;

namespace {

struct List {
    std::vector<Network> networks;

    template <class Kind, class... Values>
    void add(const std::string& kind, const std::string& name, Values... values) {
        const bool typical = networks.empty() || networks.back().kind != kind;
        networks.push_back({kind, kind + " " + name, [=] { return std::make_shared<const Kind>(values...); }, typical});
    }
};

using Sizes = std::vector<std::uint32_t>;

}  // namespace

std::string petersen_links() {
    std::string text;
    for (int i = 0; i < 5; ++i) {
        text += std::to_string(i) + " " + std::to_string((i + 1) % 5) + "\n";
        text += std::to_string(i) + " " + std::to_string(i + 5) + " global\n";
        text += std::to_string(i + 5) + " " + std::to_string((i + 2) % 5 + 5) + "\n";
    }
    return text;
}

const std::vector<Network>& networks() {
    static const std::vector<Network> all = [] {
        List list;
        list.add<Torus>("torus", "5", Sizes{5}, 2);
        list.add<Torus>("torus", "4 x 5", Sizes{4, 5}, 1);
        list.add<Torus>("torus", "2 x 3 x 4", Sizes{2, 3, 4}, 2);
        list.add<Torus>("torus", "1 x 6", Sizes{1, 6}, 1);
        list.add<FatTree>("fattree", "2 ports, 3 levels", Sizes(3, 2), Sizes(2, 2));
        list.add<FatTree>("fattree", "3 ports, 3 levels", Sizes(3, 3), Sizes(2, 3));
        list.add<FatTree>("fattree", "1 level", Sizes{5}, Sizes{});
        list.add<FatTree>("fattree", "4 down, 2 up", Sizes{4, 4}, Sizes{2});
        list.add<FatTree>("fattree", "tapered", Sizes{4, 3, 2}, Sizes{2, 1});
        list.add<FatTree>("fattree", "wider above", Sizes{2, 3, 4}, Sizes{3, 5});
        // One switch a group, one row, groups that divide no links evenly, more links than groups.
        list.add<Dragonfly>("dragonfly", "2 x 3 x 4", 2, 3, 4, 2, 1);
        list.add<Dragonfly>("dragonfly", "1 x 4 x 5", 1, 4, 5, 1, 1);
        list.add<Dragonfly>("dragonfly", "3 x 2 x 4", 3, 2, 4, 1, 2);
        list.add<Dragonfly>("dragonfly", "1 x 1 x 4", 1, 1, 4, 2, 4);
        list.add<Dragonfly>("dragonfly", "relative", 1, 4, 5, 1, 3, Arrangement::relative);
        list.add<Dragonfly>("dragonfly", "absolute", 2, 3, 4, 1, 1, Arrangement::absolute);
        list.add<Dragonfly>("dragonfly", "circulant", 3, 1, 6, 1, 2, Arrangement::circulant);
        list.add<DragonflyPlus>("dragonflyplus", "3 + 2, 5 groups", 3, 2, 5, 2, 2);
        list.add<DragonflyPlus>("dragonflyplus", "2 + 4, 3 groups", 2, 4, 3, 1, 3);
        list.add<DragonflyPlus>("dragonflyplus", "1 + 1, 3 groups", 1, 1, 3, 1, 2);
        list.add<DragonflyPlus>("dragonflyplus", "1 group", 4, 3, 1, 2, 0);
        list.add<DragonflyPlus>("dragonflyplus", "circulant", 2, 3, 4, 1, 2, Arrangement::circulant);
        list.add<HyperX>("hyperx", "4 x 3", Sizes{4, 3}, Sizes{1, 1}, 2);
        list.add<HyperX>("hyperx", "2 x 3 x 4", Sizes{2, 3, 4}, Sizes{2, 1, 3}, 1);
        list.add<HyperX>("hyperx", "1 x 5", Sizes{1, 5}, Sizes{2, 2}, 3);
        list.add<Complete>("complete", "6", 6, 2, 2);
        list.add<Complete>("complete", "1", 1, 1, 3);
        list.add<Hypercube>("hypercube", "4", 4, 1, 2);
        list.add<Hypercube>("hypercube", "1", 1, 3, 1);
        for (const std::uint32_t q : {3u, 4u, 5u}) list.add<SlimFly>("slimfly", std::to_string(q), q, 2);
        list.add<CubeMesh>("cubemesh", "P100", CubeMesh::Gpu::p100, 1);
        list.add<CubeMesh>("cubemesh", "V100", CubeMesh::Gpu::v100, 1);
        list.add<CubeMesh>("cubemesh", "3 V100", CubeMesh::Gpu::v100, 3);
        list.add<Graph>("graph", "petersen", petersen_links(), "petersen", 2, 0);
        list.add<Graph>("graph", "petersen, 4 with nodes", petersen_links(), "petersen", 1, 4);
        list.add<Crossbar>("crossbar", "7", 7);
        return list.networks;
    }();
    return all;
}

const std::vector<Routed>& routed() {
    static const std::vector<Routed> all = [] {
        std::vector<Routed> pairs;
        for (const auto& entry : routings()) {
            for (const auto& network : networks()) {
                if (network.kind == entry.topology) pairs.push_back({&network, entry.name});
            }
        }
        return pairs;
    }();
    return all;
}

Machine machine_on(TopologyPointer topology, const std::string& routing) {
    Machine machine{};
    machine.topology = std::move(topology);
    for (const auto& entry : routings()) {
        if (machine.routing.empty() && entry.topology == machine.topology->name()) machine.routing = entry.name;
    }
    if (!routing.empty()) machine.routing = routing;
    for (LinkRate* rate : {&machine.local, &machine.global, &machine.injection, &machine.ejection}) {
        *rate = {{1e10}, {100'000}};
    }
    machine.memory_bandwidth = {1e15};
    machine.copy_bandwidth = {1e11};
    return machine;
}

std::vector<Link> links_of(const Topology& topology) {
    std::vector<Link> links;
    for (std::uint32_t from = 0; from < topology.switches(); ++from) {
        for (std::uint32_t port = 0; port < topology.radix(); ++port) {
            const PortEnd end = topology.port(from, port);
            if (end.kind == LinkKind::none || end.kind == LinkKind::terminal) continue;
            links.push_back({end.kind, from, port, end.peer_switch, end.peer_port});
        }
    }
    return links;
}

EveryNetwork::EveryNetwork(const char* name, const char* file, void (*run)(const Network&)) {
    for (const auto& network : networks()) {
        Register((network.name + ": " + name).c_str(), file, 0, [run, &network](Draw&) { run(network); });
    }
}

EveryRouting::EveryRouting(const char* name, const char* file, void (*run)(const Routed&)) {
    for (const auto& pair : routed()) {
        const auto text = pair.network->name + ", " + pair.routing + ": " + name;
        Register(text.c_str(), file, 0, [run, &pair](Draw&) { run(pair); });
    }
}

}  // namespace testing
