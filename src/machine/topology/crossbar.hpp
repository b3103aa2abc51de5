#pragma once

#include "base/error.hpp"
#include "machine/topology/topology.hpp"

namespace tradewind::machine {

// All nodes on one switch.
class Crossbar : public Topology {
  public:
    explicit Crossbar(std::uint32_t nodes) : nodes_(nodes) {
        if (nodes < 1) throw InputError("crossbar: 1 or more nodes are allowed");
        check_size("crossbar", 1, nodes, nodes);
    }

    std::string name() const override { return "crossbar"; }
    std::string describe() const override { return "crossbar of " + std::to_string(nodes_) + " nodes"; }
    std::uint32_t switches() const override { return 1; }
    std::uint32_t radix() const override { return nodes_; }
    std::uint32_t nodes() const override { return nodes_; }
    std::uint32_t nodes_per_switch() const override { return nodes_; }
    std::uint32_t first_terminal() const override { return 0; }
    PortEnd port(std::uint32_t, std::uint32_t) const override { return {LinkKind::terminal, 0, 0}; }
    Distance distance(std::uint32_t, std::uint32_t) const override { return {}; }

  private:
    std::uint32_t nodes_;
};

}  // namespace tradewind::machine
