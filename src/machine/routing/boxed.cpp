#include "machine/routing/boxed.hpp"

#include <stdexcept>

#include "machine/machine.hpp"
#include "machine/routing/by_stop.hpp"
#include "machine/routing/crossbar.hpp"
#include "machine/routing/cubemesh.hpp"
#include "machine/routing/dragonfly.hpp"
#include "machine/routing/dragonflyplus.hpp"
#include "machine/routing/graph.hpp"
#include "machine/routing/hyperx.hpp"
#include "machine/routing/slimfly.hpp"
#include "machine/routing/straight.hpp"
#include "machine/routing/torus.hpp"

namespace tradewind::machine {

namespace {

template <class Routing>
AnyRouting boxed(Routing routing) {
    return Boxed<Routing::adaptive, Routing::spreads>(std::move(routing));
}

// Shortest paths, and these by way of a random switch.
template <class Paths, class Topology>
AnyRouting by_stop(const Topology& topology, const std::string& name) {
    if (name == "valiant") return boxed(ByStop<Paths>(topology));
    if (name == "ugal") return boxed(UgalByStop<Paths>(topology));
    return boxed(Straight<Paths>(topology));
}

// In SST/macro 7.1 the queues that UGAL compares are lengths of time in seconds, divided by ticks of picoseconds:
// always 0, so that no packet ever takes a detour. What is left are minimal paths, and six channels that share a port's
// buffer.
class UgalOfSst71 : public Straight<DragonflyPaths> {
  public:
    using Straight::Straight;
    int channels() const { return 6; }
};

AnyRouting by_stop_of_dragonfly(const Dragonfly& dragonfly, const std::string& name) {
    if (name == "ugal-sst71") return boxed(UgalOfSst71(dragonfly));
    return boxed(ByStop<DragonflyPaths>(dragonfly));
}

AnyRouting within_node(const CubeMesh& mesh, const std::string& name) {
    if (name == "direct") return boxed(Straight<CubeMeshDirect, true>(mesh));
    return boxed(Straight<CubeMeshShortest, true>(mesh));
}

}  // namespace

AnyRouting boxed_routing(const Machine& machine) {
    const Topology& topology = *machine.topology;
    const std::string& name = machine.routing;
    if (const auto* torus = dynamic_cast<const Torus*>(&topology)) return by_stop<TorusPaths>(*torus, name);
    if (const auto* dragonfly = dynamic_cast<const Dragonfly*>(&topology))
        return by_stop_of_dragonfly(*dragonfly, name);
    if (const auto* plus = dynamic_cast<const DragonflyPlus*>(&topology))
        return by_stop<DragonflyPlusPaths>(*plus, name);
    if (const auto* hyperx = dynamic_cast<const HyperX*>(&topology)) return by_stop<HyperXPaths>(*hyperx, name);
    if (const auto* slimfly = dynamic_cast<const SlimFly*>(&topology)) return by_stop<SlimFlyPaths>(*slimfly, name);
    if (const auto* mesh = dynamic_cast<const CubeMesh*>(&topology)) return within_node(*mesh, name);
    if (const auto* graph = dynamic_cast<const Graph*>(&topology)) return boxed(Straight<GraphPaths>(*graph));
    if (const auto* crossbar = dynamic_cast<const Crossbar*>(&topology))
        return boxed(Straight<CrossbarPaths>(*crossbar));
    throw std::logic_error("no routing for the topology " + topology.name());
}

}  // namespace tradewind::machine
