// Which node a rank runs on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/divide.hpp"
#include "base/units.hpp"

namespace tradewind {

// `linear` fills node 0, then node 1, ...; `round-robin` deals ranks to the nodes it needs in turn; `random` is linear
// over a random permutation of all nodes (a seed gives the same one everywhere).
class Placement {
  public:
    Placement(const std::string& kind, Rank ranks, std::uint32_t ranks_per_node, std::uint32_t nodes,
              std::uint64_t seed);

    std::uint32_t node(Rank rank) const {
        return table_.empty() ? by_node_.quotient(static_cast<std::uint32_t>(rank)) : table_[rank];
    }
    // One rank a node, in order: the node of a rank is its number.
    bool identity() const { return table_.empty() && ranks_per_node_ == 1; }
    std::uint32_t ranks_per_node() const { return ranks_per_node_; }

  private:
    std::uint32_t ranks_per_node_;
    Divider by_node_;
    std::vector<std::uint32_t> table_;  // [rank]; empty for linear
};

}  // namespace tradewind
