// A machine: topology, routing, and what its links, NICs and nodes do.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "machine/topology/topology.hpp"

namespace tradewind::machine {

struct LinkRate {
    BytesPerSecond bandwidth;
    Picoseconds latency;  // from the head leaving a port to the head at the next switch, that switch's own included
};

struct Machine {
    std::shared_ptr<const Topology> topology;
    std::string routing;  // one of routings()

    LinkRate local, global;                       // between switches; only dragonflies have global links
    LinkRate injection, ejection;                 // node to switch, switch to node
    Picoseconds send_overhead, receive_overhead;  // CPU time per message
    BytesPerSecond memory_bandwidth;              // of a node: messages between its own ranks

    Bytes buffer{65536};                   // input buffer of a switch, a port and virtual channel
    Bytes port_buffer{0};                  // of a port instead, divided among its channels; 0: `buffer` counts
    Bytes output_buffer{0};                // of a port behind the crossbar, divided alike; 0: none
    int channels{0};                       // that they are divided among; 0: as many as the routing uses
    Bytes nic_buffer{0};                   // input buffer of a switch that a NIC sends to; 0: as a channel's
    BytesPerSecond crossbar_bandwidth{0};  // through a switch, all ports together; 0: no limit
    std::uint32_t nics = 1;                // a node; the topology's nodes are NICs
    BytesPerSecond copy_bandwidth{1e18};   // of one copy within a node's memory
    double flops = 0;                      // of a node, a second; 0: not known
    Bytes eager_limit{-1};                 // longer messages wait until the receiver asks for them; -1: none do
    Bytes header{64};                      // of what asks and acknowledges
    Bytes bypass{0};  // messages up to this size are sent past the network: no other rank is in their way
    // Such messages travel the last dimension of a torus alone, as in SST/macro 7.1.
    bool bypass_last_dimension = false;
    // At which messages that came before their receive was posted are copied, between nodes; 0: that costs nothing.
    BytesPerSecond unexpected_bandwidth{0};
    bool receives_at_start = false;  // all of an exchange are posted when it begins; else those of a stage

    // Nodes, of `nics` NICs each.
    std::uint32_t nodes() const { return topology->nodes() / nics; }

    // The link that a port of this kind drives.
    const LinkRate& rate(LinkKind kind) const;
    // Links between switches that a message travels which bypasses the network.
    Topology::Distance bypass_distance(std::uint32_t from_switch, std::uint32_t to_switch) const;
    // Throws InputError for values that cannot be.
    void check() const;
};

// Finite buffers, in bytes.
struct BufferSizes {
    std::int64_t channel;  // of a virtual channel of an input port
    std::int64_t output;   // of one behind the crossbar; 0: none
    std::int64_t exit;     // behind the crossbar, of a port to a node, which has one channel; 0: none
    std::int64_t nic;      // of an input port that a NIC sends to

    // The largest packet that fits all of them.
    std::int64_t packet() const;
};
// Throws InputError where buffers are divided among fewer channels than the routing uses.
BufferSizes buffer_sizes(const Machine& machine);

struct RoutingEntry {
    std::string name, topology, description, source;
};
const std::vector<RoutingEntry>& routings();

struct TopologyEntry {
    std::string name, parameters, description, source;
};
const std::vector<TopologyEntry>& topologies();

}  // namespace tradewind::machine
