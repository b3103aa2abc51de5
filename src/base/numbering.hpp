// Ranks numbered in the order in which they turn up.
#pragma once

#include <array>
#include <cstddef>
#include <unordered_map>

#include "base/units.hpp"

namespace tradewind {

// Lists go to and fro between ranks: those that came up last are known without a look into the table of all.
class Numbering {
  public:
    // The number of a rank: 0 for the first rank that is asked for, then 1; always the same for the same rank.
    std::size_t of(Rank rank) {
        Known& known = recent_[static_cast<std::size_t>(rank) % recent_.size()];
        if (known.rank != rank) known = {rank, all_.try_emplace(rank, all_.size()).first->second};
        return known.number;
    }

  private:
    struct Known {
        Rank rank = -1;
        std::size_t number = 0;
    };
    std::unordered_map<Rank, std::size_t> all_;
    std::array<Known, 64> recent_;
};

}  // namespace tradewind
