#pragma once

#include "machine/topology/group_links.hpp"
#include "machine/topology/topology.hpp"

namespace tradewind::machine {

// A dragonfly+ (Shpiner, Haramaty, Eliad, Zdornov, Gafni & Zahavi 2017), also called megafly (Flajslik, Borch & Parker
// 2018): a group is a two-level tree, every leaf joined to every spine; leaves hold the nodes, spines the global links
// (see GroupLinks). Switches are all leaves, group by group, then all spines.
//
// Ports of a leaf: [0, spines) up, then the nodes; of a spine: [0, leaves) down, then the global links.
class DragonflyPlus : public Topology {
  public:
    DragonflyPlus(std::uint32_t leaves, std::uint32_t spines, std::uint32_t groups, std::uint32_t nodes_per_switch,
                  std::uint32_t global_links, Arrangement arrangement = Arrangement::spread);

    std::string name() const override { return "dragonflyplus"; }
    std::string describe() const override;
    std::uint32_t switches() const override { return groups_ * (leaves_ + spines_); }
    std::uint32_t radix() const override { return radix_; }
    std::uint32_t nodes() const override { return all_leaves() * nodes_per_switch_; }
    std::uint32_t nodes_per_switch() const override { return nodes_per_switch_; }
    std::uint32_t first_terminal() const override { return spines_; }
    PortEnd port(std::uint32_t switch_id, std::uint32_t port) const override;
    Distance distance(std::uint32_t from, std::uint32_t to) const override;

    std::uint32_t leaves() const { return leaves_; }  // of a group
    std::uint32_t spines() const { return spines_; }  // of a group
    std::uint32_t groups() const override { return groups_; }
    std::uint32_t all_leaves() const { return groups_ * leaves_; }
    bool is_leaf(std::uint32_t switch_id) const { return switch_id < all_leaves(); }
    std::uint32_t group(std::uint32_t switch_id) const {
        return is_leaf(switch_id) ? switch_id / leaves_ : (switch_id - all_leaves()) / spines_;
    }
    // Number of a switch among the leaves, or the spines, of its group.
    std::uint32_t place(std::uint32_t switch_id) const {
        return is_leaf(switch_id) ? switch_id % leaves_ : (switch_id - all_leaves()) % spines_;
    }
    std::uint32_t spine(std::uint32_t group, std::uint32_t place) const {
        return all_leaves() + group * spines_ + place;
    }
    const GroupLinks& group_links() const { return group_links_; }

  private:
    int within(std::uint32_t from, std::uint32_t to) const;

    std::uint32_t leaves_, spines_, groups_, nodes_per_switch_, radix_ = 0;
    GroupLinks group_links_;
};

}  // namespace tradewind::machine
