#include "machine/walker.hpp"

#include <stdexcept>

#include "base/error.hpp"
#include "base/random.hpp"
#include "machine/routing/dispatch.hpp"
#include "machine/topology/shortest_paths.hpp"

namespace tradewind::machine {

namespace {

// More links than any routing's path has, but for that of a table along a line of all its switches.
constexpr std::size_t max_links = ShortestPaths::max_switches;

template <class Routing>
std::uint32_t next_port(Routing& routing, std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t dst_node,
                        std::uint32_t& memory, std::uint64_t queues) {
    if constexpr (Routing::adaptive)
        if (!routing.decided(sw, dst_sw, memory))
            return routing.choose(sw, dst_sw, dst_node, memory, [&](std::uint32_t port) -> std::uint64_t {
                return queues == 0 ? 0 : 1024 * (mix(mix(queues, sw), port) >> 62);
            });
    return routing.port(sw, dst_sw, dst_node, memory);
}

template <class Routing>
std::vector<Hop> walk_with(Routing& routing, const Topology& topology, std::uint32_t from, std::uint32_t to,
                           std::uint32_t random, std::uint64_t queues) {
    std::vector<Hop> steps;
    std::uint32_t memory = memory::fresh | (random & memory::random_bits);
    const std::uint32_t dst_sw = topology.switch_of(to);
    for (std::uint32_t sw = topology.switch_of(from); sw != dst_sw;) {
        const std::uint32_t port = next_port(routing, sw, dst_sw, to, memory, queues);
        const PortEnd end = port < topology.radix() ? topology.port(sw, port) : PortEnd{};
        if (end.kind != LinkKind::local && end.kind != LinkKind::global)
            throw std::runtime_error("routing: port " + std::to_string(port) + " of switch " + std::to_string(sw) +
                                     " has no link to another switch");
        steps.push_back({sw, port, routing.channel(sw, dst_sw, port, memory)});
        if (steps.size() > max_links) throw std::runtime_error("routing: a packet does not arrive");
        sw = end.peer_switch;
    }
    return steps;
}

}  // namespace

Walker::Walker(const Machine& machine) : machine_(machine) {
    machine_.check();
    with_routing(machine_, [&](auto routing) {
        channels_ = routing.channels();
        walk_ = [routing, topology = machine_.topology](std::uint32_t from, std::uint32_t to, std::uint32_t random,
                                                        std::uint64_t queues) mutable {
            return walk_with(routing, *topology, from, to, random, queues);
        };
    });
}

std::vector<Hop> Walker::walk(std::uint32_t from_node, std::uint32_t to_node, std::uint32_t random,
                              std::uint64_t queues) {
    for (const std::uint32_t node : {from_node, to_node})
        if (node >= nodes())
            throw InputError("node " + std::to_string(node) + ": 0 to " + std::to_string(nodes() - 1) + " are allowed");
    return walk_(from_node, to_node, random, queues);
}

}  // namespace tradewind::machine
