// Small networks of every kind, for tests that hold for all of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "testing/testing.hpp"

namespace testing {

using TopologyPointer = std::shared_ptr<const tradewind::machine::Topology>;

struct Network {
    std::string kind, name;  // "torus", "torus 4 x 5"
    std::function<TopologyPointer()> make;
    bool typical;  // the first of its kind, which has all that is typical of it
};
const std::vector<Network>& networks();

// Every network with every routing that it may have, by the registry.
struct Routed {
    const Network* network;
    std::string routing;
};
const std::vector<Routed>& routed();

// Links of the graph of Petersen, as a file of links has them.
std::string petersen_links();

// A machine whose links have 10 GB/s, 100 ps per byte, and 100 ns; its CPUs take no time. One copy within a node has
// 100 GB/s, and a node serves any number of them. Tests change what they are about. Routing: the first one of the
// topology, unless it is named.
tradewind::machine::Machine machine_on(TopologyPointer topology, const std::string& routing = "");

// Where a link between two switches leads; `none` and `terminal` ports are left out.
struct Link {
    tradewind::machine::LinkKind kind;
    std::uint32_t from, port, to, to_port;
};
std::vector<Link> links_of(const tradewind::machine::Topology& topology);

// Registers one test for every network, or for every one with each of its routings.
struct EveryNetwork {
    EveryNetwork(const char* name, const char* file, void (*run)(const Network&));
};
struct EveryRouting {
    EveryRouting(const char* name, const char* file, void (*run)(const Routed&));
};

}  // namespace testing

#define TESTING_EVERY(Each, Value, name, value, function)                                     \
    static void function(const testing::Value&);                                              \
    static const testing::Each TESTING_JOIN(registered_, function){name, __FILE__, function}; \
    static void function(const testing::Value& value)
#define EVERY_NETWORK(name) TESTING_EVERY(EveryNetwork, Network, name, network, TESTING_JOIN(every_, __COUNTER__))
#define EVERY_ROUTING(name) TESTING_EVERY(EveryRouting, Routed, name, routed, TESTING_JOIN(every_, __COUNTER__))
