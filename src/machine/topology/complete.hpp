#pragma once

#include "machine/topology/hyperx.hpp"

namespace tradewind::machine {

// A complete graph of switches: every one joined to all others by one or more parallel links; a HyperX of one
// dimension.
class Complete : public HyperX {
  public:
    Complete(std::uint32_t switches, std::uint32_t links, std::uint32_t nodes_per_switch)
        : HyperX("complete", {switches}, {links}, nodes_per_switch) {}

    std::string name() const override { return "complete"; }
    std::string describe() const override {
        return "complete graph of " + std::to_string(switches()) + " switches, " + std::to_string(links()[0]) +
               " links between two and " + std::to_string(nodes_per_switch_) + " nodes per switch";
    }
};

}  // namespace tradewind::machine
