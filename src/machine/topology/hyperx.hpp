#pragma once

#include "machine/topology/topology.hpp"

namespace tradewind::machine {

// A HyperX (Ahn, Binkert, Davis, McLaren & Schreiber 2009): switches on an L-dimensional grid, each joined to all
// others along every dimension by one or more parallel links.
//
// Ports: dimension after dimension; in one of n switches with k parallel links, port c * k + j is link j to the switch
// at coordinate c (those to itself are unused). Then the nodes.
class HyperX : public Topology {
  public:
    // `links` has one number for each dimension.
    HyperX(std::vector<std::uint32_t> shape, std::vector<std::uint32_t> links, std::uint32_t nodes_per_switch)
        : HyperX("hyperx", std::move(shape), std::move(links), nodes_per_switch) {}

    std::string name() const override { return "hyperx"; }
    std::string describe() const override;
    std::uint32_t switches() const override { return switches_; }
    std::uint32_t radix() const override { return first_terminal() + nodes_per_switch_; }
    std::uint32_t nodes() const override { return switches_ * nodes_per_switch_; }
    std::uint32_t nodes_per_switch() const override { return nodes_per_switch_; }
    std::uint32_t first_terminal() const override { return first_port_.back(); }
    PortEnd port(std::uint32_t switch_id, std::uint32_t port) const override;
    Distance distance(std::uint32_t from, std::uint32_t to) const override;

    const std::vector<std::uint32_t>& shape() const { return shape_; }
    const std::vector<std::uint32_t>& links() const { return links_; }
    std::uint32_t first_port(std::size_t dimension) const { return first_port_[dimension]; }

  protected:
    HyperX(const std::string& what, std::vector<std::uint32_t> shape, std::vector<std::uint32_t> links,
           std::uint32_t nodes_per_switch);

    std::uint32_t nodes_per_switch_;

  private:
    std::uint32_t coordinate(std::uint32_t switch_id, std::size_t d) const {
        return switch_id / stride_[d] % shape_[d];
    }

    std::vector<std::uint32_t> shape_, links_, stride_;
    std::vector<std::uint32_t> first_port_;  // [dimension], and of the nodes
    std::uint32_t switches_ = 1;
};

}  // namespace tradewind::machine
