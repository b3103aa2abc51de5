#pragma once

#include "machine/topology/hyperx.hpp"

namespace tradewind::machine {

// A hypercube of 2^dimensions switches with several nodes each, as the SGI Origin has below its metarouters (Laudon &
// Lenoski 1997: a router joins two nodes, routers a cube of up to 5 dimensions); a HyperX with two switches along each
// dimension. Larger Origins join such cubes by metarouters, one more level of switches, which this does not have.
class Hypercube : public HyperX {
  public:
    Hypercube(std::uint32_t dimensions, std::uint32_t links, std::uint32_t nodes_per_switch)
        : HyperX("hypercube", std::vector<std::uint32_t>(at_most(dimensions), 2),
                 std::vector<std::uint32_t>(at_most(dimensions), links), nodes_per_switch) {}

    std::string name() const override { return "hypercube"; }
    std::string describe() const override {
        return "hypercube of " + std::to_string(shape().size()) + " dimensions, " + std::to_string(links()[0]) +
               " links between two switches and " + std::to_string(nodes_per_switch_) + " nodes per switch";
    }

  private:
    // One more than are allowed: enough to be refused.
    static std::uint32_t at_most(std::uint32_t dimensions) { return dimensions < 25 ? dimensions : 25; }
};

}  // namespace tradewind::machine
