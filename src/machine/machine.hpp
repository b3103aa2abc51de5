// A machine: topology, routing, and what its links, NICs and nodes do.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "machine/topology/topology.hpp"

namespace tradewind {

struct LinkRate {
    BytesPerSecond bandwidth;
    Picoseconds latency;  // from the head leaving a port to the head at the next switch, that switch's own included
};

struct Machine {
    std::shared_ptr<const Topology> topology;
    std::string routing;  // one of routings()

    LinkRate local, global;                       // between switches; only dragonflies have global links
    LinkRate injection, ejection;                 // node to switch, switch to node
    Picoseconds send_overhead, receive_overhead;  // of the CPU, a message
    BytesPerSecond memory_bandwidth;              // of a node: messages between its own ranks

    Bytes buffer{65536};                   // input buffer of a switch, a port and virtual channel
    BytesPerSecond crossbar_bandwidth{0};  // through a switch, all ports together; 0: no limit
    std::uint32_t nics = 1;                // a node; the topology's nodes are NICs
    BytesPerSecond copy_bandwidth{1e18};   // of one copy within a node's memory
    double flops = 0;                      // of a node, a second; 0: not known
    Bytes eager_limit{-1};                 // longer messages wait until the receiver asks for them; -1: none do
    Bytes header{64};                      // of what asks and acknowledges
    Bytes bypass{0};  // messages up to this size are sent past the network: no other rank is in their way

    // Nodes, of `nics` NICs each.
    std::uint32_t nodes() const { return topology->nodes() / nics; }

    // The link that a port of this kind drives.
    const LinkRate& rate(LinkKind kind) const;
    // Throws InputError for values that cannot be.
    void check() const;
};

struct RoutingEntry {
    std::string name, topology, description, source;
};
const std::vector<RoutingEntry>& routings();

struct TopologyEntry {
    std::string name, parameters, description, source;
};
const std::vector<TopologyEntry>& topologies();

}  // namespace tradewind
