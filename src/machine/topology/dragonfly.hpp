#pragma once

#include "machine/topology/group_links.hpp"
#include "machine/topology/topology.hpp"

namespace tradewind::machine {

// A dragonfly (Kim, Dally, Scott & Abts 2008) whose groups are rows x columns of switches, every row and every column
// fully connected (the Cray cascade form; Alverson et al. 2015). All switches hold global links (see GroupLinks).
//
// Ports: [0, columns) to the switch of that column in the row, [columns, columns + rows) to that row of the column
// (the port to itself is unused), then the global links, then the nodes.
class Dragonfly : public Topology {
  public:
    Dragonfly(std::uint32_t rows, std::uint32_t columns, std::uint32_t groups, std::uint32_t nodes_per_switch,
              std::uint32_t global_links, Arrangement arrangement = Arrangement::spread);

    std::string name() const override { return "dragonfly"; }
    std::string describe() const override;
    std::uint32_t switches() const override { return group_size() * groups_; }
    std::uint32_t radix() const override { return first_terminal() + nodes_per_switch_; }
    std::uint32_t nodes() const override { return switches() * nodes_per_switch_; }
    std::uint32_t nodes_per_switch() const override { return nodes_per_switch_; }
    std::uint32_t first_terminal() const override { return first_global() + global_links_; }
    PortEnd port(std::uint32_t switch_id, std::uint32_t port) const override;
    Distance distance(std::uint32_t from, std::uint32_t to) const override;
    // Where the global link taken between two groups is number m of them.
    Distance distance_by(std::uint32_t from, std::uint32_t to, std::uint32_t m) const;

    std::uint32_t rows() const { return rows_; }
    std::uint32_t columns() const { return columns_; }
    std::uint32_t groups() const override { return groups_; }
    std::uint32_t group_size() const { return rows_ * columns_; }
    std::uint32_t global_links() const { return global_links_; }
    std::uint32_t first_global() const { return columns_ + rows_; }
    const GroupLinks& group_links() const { return group_links_; }
    // Global links between two groups.
    std::uint32_t links_per_pair() const { return group_links_.pairs(); }

  private:
    std::uint32_t rows_, columns_, groups_, nodes_per_switch_, global_links_;
    GroupLinks group_links_;
};

}  // namespace tradewind::machine
