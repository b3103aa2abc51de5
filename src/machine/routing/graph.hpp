// Graph: one shortest path for each pair of switches, from a table.
#pragma once

#include "machine/routing/packet.hpp"
#include "machine/topology/graph.hpp"

namespace tradewind::machine {

class GraphPaths {
  public:
    explicit GraphPaths(const Graph& graph) : graph_(graph) {}

    std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t) const {
        return graph_.paths().port(sw, dst_sw);
    }
    int channels() const { return graph_.paths().channels(); }
    std::uint32_t channel(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t, std::uint32_t) const {
        return graph_.paths().channel(sw, dst_sw);
    }

  private:
    Graph graph_;  // shares its table
};

}  // namespace tradewind::machine
