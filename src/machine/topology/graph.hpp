#pragma once

#include <memory>

#include "machine/topology/shortest_paths.hpp"
#include "machine/topology/topology.hpp"

namespace tradewind::machine {

// Any graph of switches, from a text with a line for each link: two switch numbers, and `global` where the link is of
// the global kind. `#` begins a comment. Switches are numbered from 0 without gaps; every switch can be reached.
//
// Ports of a switch are its links in the order of the text; then, from the same port on everywhere, the nodes.
class Graph : public Topology {
  public:
    static constexpr std::size_t max_links = 100'000;

    // Nodes are attached to the first `node_switches` switches (0: on all). `file` stands before the line number in
    // errors. Throws InputError for the first line that is wrong (not two numbers, a link to itself, one that is there
    // already, a switch out of reach), and for more links or switches than are allowed.
    Graph(const std::string& text, const std::string& file, std::uint32_t nodes_per_switch,
          std::uint32_t node_switches);

    std::string name() const override { return "graph"; }
    std::string describe() const override;
    std::uint32_t switches() const override { return static_cast<std::uint32_t>(links_.size()); }
    std::uint32_t radix() const override { return first_terminal_ + nodes_per_switch_; }
    std::uint32_t nodes() const override { return node_switches_ * nodes_per_switch_; }
    std::uint32_t nodes_per_switch() const override { return nodes_per_switch_; }
    std::uint32_t first_terminal() const override { return first_terminal_; }
    PortEnd port(std::uint32_t switch_id, std::uint32_t port) const override;
    Distance distance(std::uint32_t from, std::uint32_t to) const override { return paths_->distance(*this, from, to); }

    const ShortestPaths& paths() const { return *paths_; }

  private:
    std::vector<int> read(const std::string& text, const std::string& file);
    void check(const std::string& file, const std::vector<int>& lines) const;

    std::uint32_t nodes_per_switch_, node_switches_, first_terminal_ = 0;
    std::size_t count_ = 0;                    // links
    std::vector<std::vector<PortEnd>> links_;  // [switch][port]
    std::shared_ptr<const ShortestPaths> paths_;
};

}  // namespace tradewind::machine
