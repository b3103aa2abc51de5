// The class of a routing from its topology and name: the one place where a new routing is added, beside registry.cpp.
#pragma once

#include <stdexcept>

#include "machine/machine.hpp"
#include "machine/routing/boxed.hpp"
#include "machine/routing/by_stop.hpp"
#include "machine/routing/crossbar.hpp"
#include "machine/routing/cubemesh.hpp"
#include "machine/routing/dragonfly_by_group.hpp"
#include "machine/routing/dragonflyplus.hpp"
#include "machine/routing/fattree.hpp"
#include "machine/routing/graph.hpp"
#include "machine/routing/hyperx.hpp"
#include "machine/routing/slimfly.hpp"
#include "machine/routing/straight.hpp"
#include "machine/routing/torus.hpp"

namespace tradewind {

namespace dispatch {

// Shortest paths, and these by way of a random switch.
template <class Paths, class Topology, class Action>
auto by_stop(const Topology& topology, const std::string& name, const Action& action) {
    if (name == "valiant") return action(boxed(ByStop<Paths>(topology)));
    if (name == "ugal") return action(boxed(UgalByStop<Paths>(topology)));
    return action(boxed(Straight<Paths>(topology)));
}

template <class Action>
auto torus(const Torus& torus, const std::string& name, const Action& action) {
    if (name == "dimension-order") return action(Straight<TorusPaths>(torus));
    return by_stop<TorusPaths>(torus, name, action);
}

template <class Action>
auto fattree(const FatTree& tree, const std::string& name, const Action& action) {
    if (name == "round-robin") return action(RoundRobin(tree));
    if (name == "adaptive") return action(LeastLoaded(tree));
    return action(DModK(tree));
}

template <class Action>
auto dragonfly(const Dragonfly& dragonfly, const std::string& name, const Action& action) {
    if (name == "valiant") return action(DragonflyValiant(dragonfly));
    if (name == "ugal") return action(DragonflyUgal(dragonfly));
    if (name == "par") return action(DragonflyPar(dragonfly));
    if (name == "valiant-router") return action(boxed(ByStop<DragonflyPaths>(dragonfly)));
    if (name == "ugal-sst71") return action(boxed(UgalByStop<DragonflyPaths, SstLength>(dragonfly)));
    return action(Straight<DragonflyPaths>(dragonfly));
}

template <class Action>
auto cubemesh(const CubeMesh& mesh, const std::string& name, const Action& action) {
    if (name == "direct") return action(boxed(Straight<CubeMeshDirect, true>(mesh)));
    return action(boxed(Straight<CubeMeshShortest, true>(mesh)));
}

}  // namespace dispatch

// Calls `action` with the routing of a machine that has been checked, and returns what it returns. Those of large
// machines are passed as they are, so that what a packet does at a hop can be inlined; the others are boxed.
template <class Action>
auto with_routing(const Machine& machine, const Action& action) {
    const Topology& topology = *machine.topology;
    const std::string& name = machine.routing;
    if (const auto* torus = dynamic_cast<const Torus*>(&topology)) return dispatch::torus(*torus, name, action);
    if (const auto* tree = dynamic_cast<const FatTree*>(&topology)) return dispatch::fattree(*tree, name, action);
    if (const auto* dragonfly = dynamic_cast<const Dragonfly*>(&topology))
        return dispatch::dragonfly(*dragonfly, name, action);
    if (const auto* plus = dynamic_cast<const DragonflyPlus*>(&topology))
        return dispatch::by_stop<DragonflyPlusPaths>(*plus, name, action);
    if (const auto* hyperx = dynamic_cast<const HyperX*>(&topology))
        return dispatch::by_stop<HyperXPaths>(*hyperx, name, action);
    if (const auto* slimfly = dynamic_cast<const SlimFly*>(&topology))
        return dispatch::by_stop<SlimFlyPaths>(*slimfly, name, action);
    if (const auto* mesh = dynamic_cast<const CubeMesh*>(&topology)) return dispatch::cubemesh(*mesh, name, action);
    if (const auto* graph = dynamic_cast<const Graph*>(&topology)) return action(boxed(Straight<GraphPaths>(*graph)));
    if (const auto* crossbar = dynamic_cast<const Crossbar*>(&topology))
        return action(boxed(Straight<CrossbarPaths>(*crossbar)));
    throw std::logic_error("no routing for the topology " + topology.name());
}

}  // namespace tradewind
