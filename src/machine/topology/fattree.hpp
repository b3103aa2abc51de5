#pragma once

#include "machine/topology/topology.hpp"

namespace tradewind {

// A k-ary n-tree (Petrini & Vanneschi 1997): `levels` levels of k^(levels-1) switches, each with k ports down (nodes,
// at the lowest level) and k up. Switch (level, w) has number level * k^(levels-1) + w; going up from level l by port
// k + j replaces digit l of w (base k) by j, so that every digit can be mended on the way down.
class FatTree : public Topology {
  public:
    FatTree(std::uint32_t levels, std::uint32_t down_ports);

    std::string name() const override { return "fattree"; }
    std::string describe() const override;
    std::uint32_t switches() const override { return levels_ * width_; }
    std::uint32_t radix() const override { return 2 * k_; }
    std::uint32_t nodes() const override { return width_ * k_; }
    std::uint32_t nodes_per_switch() const override { return k_; }
    std::uint32_t first_terminal() const override { return 0; }
    PortEnd port(std::uint32_t switch_id, std::uint32_t port) const override;
    Distance distance(std::uint32_t from, std::uint32_t to) const override;

    std::uint32_t levels() const { return levels_; }
    std::uint32_t down_ports() const { return k_; }
    std::uint32_t width() const { return width_; }  // switches a level

  private:
    std::uint32_t levels_, k_, width_ = 1;
    std::vector<std::uint32_t> power_;  // k^l
};

}  // namespace tradewind
