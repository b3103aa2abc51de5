// The origin of a packet, in the few bits that it has room for (see Delay).
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.hpp"

namespace tradewind::sim {

// A code is the block of ranks that the sender belongs to. Where trace events of ranks are kept, the ranks that send to
// them have codes of their own, behind those of the blocks, as long as there are any left.
class Origins {
  public:
    // `blocks`: 0 for none. `shown`: ranks whose trace events are kept.
    Origins(const program::Program& program, std::uint32_t blocks, const std::vector<Rank>& shown);

    // Whether packets carry their senders.
    bool carried() const { return carried_; }
    std::uint32_t code(Rank rank) const { return ranks_.empty() ? block_of(rank) : code_or_block(rank); }
    std::uint32_t block(std::uint32_t code) const { return code < first_ ? code : block_of(ranks_[code - first_]); }
    // -1: one without a code of its own.
    Rank rank(std::uint32_t code) const { return code < first_ ? -1 : ranks_[code - first_]; }

    std::uint32_t block_of(Rank rank) const {
        return static_cast<std::uint32_t>(static_cast<std::uint64_t>(rank) * blocks_ / all_);
    }

  private:
    std::uint32_t code_or_block(Rank rank) const;

    std::uint64_t all_;
    std::uint32_t blocks_, first_;
    bool carried_;
    std::vector<Rank> ranks_;  // in ascending order: their codes follow each other
};

}  // namespace tradewind::sim
