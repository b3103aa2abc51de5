#pragma once

#include <cstdint>
#include <vector>

#include "recorder/operation.hpp"

namespace tradewind::recorder {

/// The distinct operations of a rank, numbered in the order in which they first occurred. Those that have not been
/// written yet lie together with their lists, ready to be written.
class Operations {
  public:
    Operations();

    /// Returns the number of an operation; adds it where it is new.
    std::uint32_t number(Event& event);

    /// Operations since the last `written`, and their lists one after another.
    const std::vector<Operation>& fresh() const { return fresh_; }
    const Lists& fresh_lists() const { return fresh_lists_; }
    void written();

  private:
    struct Entry {
        std::uint64_t hash = 0, check = 0;
        std::uint32_t number = UINT32_MAX;
    };

    void grow();

    std::vector<Entry> table_;  // open addressing, a power of two
    std::uint32_t count_ = 0;
    std::vector<Operation> fresh_;
    Lists fresh_lists_;
};

}  // namespace tradewind::recorder
