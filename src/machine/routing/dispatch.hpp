// The class of a routing from its topology and name. A new routing is added in boxed.cpp, beside registry.cpp; here
// only where what a packet does at a hop has to be inlined.
#pragma once

#include <utility>
#include <variant>

#include "machine/machine.hpp"
#include "machine/routing/boxed.hpp"
#include "machine/routing/dragonfly_by_group.hpp"
#include "machine/routing/fattree.hpp"
#include "machine/routing/straight.hpp"
#include "machine/routing/torus.hpp"

namespace tradewind::machine {

// Calls `action` with the routing of a machine that has been checked, and returns what it returns. Those of large
// machines are passed as they are: it is compiled for each of them, which takes seconds. The others come boxed.
template <class Action>
auto with_routing(const Machine& machine, const Action& action) {
    const std::string& name = machine.routing;
    if (const auto* torus = dynamic_cast<const Torus*>(machine.topology.get()))
        if (name == "dimension-order") return action(Straight<TorusPaths>(*torus));
    if (const auto* tree = dynamic_cast<const FatTree*>(machine.topology.get())) {
        if (name == "round-robin") return action(RoundRobin(*tree));
        if (name == "round-robin-staggered") return action(RoundRobin(*tree, true));
        if (name == "adaptive") return action(LeastLoaded(*tree));
        return action(DModK(*tree));
    }
    if (const auto* dragonfly = dynamic_cast<const Dragonfly*>(machine.topology.get())) {
        if (name == "minimal") return action(Straight<DragonflyPaths>(*dragonfly));
        if (name == "valiant") return action(DragonflyValiant(*dragonfly));
        if (name == "ugal") return action(DragonflyUgal(*dragonfly));
        if (name == "par") return action(DragonflyPar(*dragonfly));
    }
    return std::visit([&](auto routing) { return action(std::move(routing)); }, boxed_routing(machine));
}

}  // namespace tradewind::machine
