// Which node a rank runs on.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/divide.hpp"
#include "base/units.hpp"

namespace tradewind::machine {

// `linear` fills node 0, then node 1, ...; `round-robin` deals ranks to the nodes it needs in turn; `random` is linear
// over a random permutation of all nodes (a seed gives the same one everywhere). `scattered` deals the nodes it needs
// to groups of switches in turn, and in each to its switches, as evenly as can be. `blocks` is for ranks r = i + j *
// split[0] that divide a grid: each node takes a compact piece of the split, see placement.cpp. `box` is linear over
// the nodes of a box of a torus, as a part of a machine is given to a job.
class Placement {
  public:
    // `split`: needed by blocks alone. `holders`, needed by scattered alone: groups of switches, and switches of a
    // group that hold nodes. `torus`, needed by box alone: the switches along each of its dimensions, of which the
    // first changes fastest. Throws InputError for an unknown kind, too few nodes, a missing split, holders or torus.
    Placement(const std::string& kind, Rank ranks, std::uint32_t ranks_per_node, std::uint32_t nodes,
              std::uint64_t seed, std::array<Index, 2> split = {0, 0}, std::array<std::uint32_t, 2> holders = {0, 0},
              const std::vector<std::uint32_t>& torus = {});

    std::uint32_t node(Rank rank) const {
        return table_.empty() ? by_node_.quotient(static_cast<std::uint32_t>(rank)) : table_[rank];
    }
    // One rank per node, in order: the node of a rank is its number.
    bool identity() const { return table_.empty() && ranks_per_node_ == 1; }
    Rank ranks() const { return ranks_; }
    std::uint32_t ranks_per_node() const { return ranks_per_node_; }

  private:
    Rank ranks_;
    std::uint32_t ranks_per_node_;
    Divider by_node_;
    std::vector<std::uint32_t> table_;  // [rank]; empty for linear
};

// The kinds, for the command line and its documents.
const std::vector<std::string>& placements();

}  // namespace tradewind::machine
