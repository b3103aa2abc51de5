// How switches are wired, and where nodes are attached.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace tradewind::machine {

// Links differ by what they join; a machine file may give each kind a bandwidth and a latency of its own.
enum class LinkKind : std::uint8_t { none, terminal, local, global };

// Where a port leads.
struct PortEnd {
    LinkKind kind = LinkKind::none;
    std::uint32_t peer_switch = 0, peer_port = 0;  // not for terminals
};

// Switches 0..switches()-1 have `radix()` ports each, some of them without a link. Nodes are attached in equal numbers
// to the first switches: node n on switch n / nodes_per_switch(), port first_terminal() + n % nodes_per_switch(). Each
// link is two directed ones: the port at either end sends to the other and receives from it.
class Topology {
  public:
    virtual ~Topology() = default;

    virtual std::string name() const = 0;      // "torus"
    virtual std::string describe() const = 0;  // "torus 25 x 25 x 25, 25 nodes per switch"
    virtual std::uint32_t switches() const = 0;
    virtual std::uint32_t radix() const = 0;
    virtual std::uint32_t nodes() const = 0;
    virtual std::uint32_t nodes_per_switch() const = 0;
    virtual std::uint32_t first_terminal() const = 0;
    // Groups of equally many switches that hold nodes, one after another; 1 where there are none.
    virtual std::uint32_t groups() const { return 1; }
    virtual PortEnd port(std::uint32_t switch_id, std::uint32_t port) const = 0;

    // Links between switches on a shortest path, by kind; in a dragonfly one with at most one global link.
    struct Distance {
        int local = 0, global = 0;
    };
    virtual Distance distance(std::uint32_t from_switch, std::uint32_t to_switch) const = 0;

    std::uint32_t switch_of(std::uint32_t node) const { return node / nodes_per_switch(); }
    std::uint32_t terminal_of(std::uint32_t node) const { return first_terminal() + node % nodes_per_switch(); }

  protected:
    // Refuses what 32-bit port numbers cannot name.
    static void check_size(const std::string& what, double switches, double radix, double nodes);
};

}  // namespace tradewind::machine
