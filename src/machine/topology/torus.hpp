#pragma once

#include "base/divide.hpp"
#include "machine/topology/topology.hpp"

namespace tradewind::machine {

// An n-dimensional torus; port 2 d leads to the next switch along dimension d, 2 d + 1 to the one before.
class Torus : public Topology {
  public:
    Torus(std::vector<std::uint32_t> shape, std::uint32_t nodes_per_switch);

    std::string name() const override { return "torus"; }
    std::string describe() const override;
    std::uint32_t switches() const override { return switches_; }
    std::uint32_t radix() const override { return first_terminal() + nodes_per_switch_; }
    std::uint32_t nodes() const override { return switches_ * nodes_per_switch_; }
    std::uint32_t nodes_per_switch() const override { return nodes_per_switch_; }
    std::uint32_t first_terminal() const override { return 2 * static_cast<std::uint32_t>(shape_.size()); }
    PortEnd port(std::uint32_t switch_id, std::uint32_t port) const override;
    Distance distance(std::uint32_t from, std::uint32_t to) const override;

    // Links of the shorter way along one dimension.
    int steps(std::uint32_t from, std::uint32_t to, std::size_t dimension) const;
    const std::vector<std::uint32_t>& shape() const { return shape_; }
    std::uint32_t coordinate(std::uint32_t switch_id, std::size_t dimension) const {
        return by_shape_[dimension].remainder(by_stride_[dimension].quotient(switch_id));
    }

  private:
    std::vector<std::uint32_t> shape_, stride_;
    std::vector<Divider> by_shape_, by_stride_;  // a simulation asks for the distance of each message
    std::uint32_t nodes_per_switch_, switches_ = 1;
};

}  // namespace tradewind::machine
