// Where numbers in a list follow each other.
#pragma once

#include <cstdint>
#include <span>

#include "base/units.hpp"

namespace tradewind {

// Where runs of numbers that ascend by one begin in a list, some hundred at a time. The breaks between them are found
// for many numbers at once: where runs have all kinds of lengths, a branch at each number would be mispredicted at each
// end of a run.
class Consecutive {
  public:
    explicit Consecutive(std::span<const Index> numbers) : numbers_(numbers), next_(numbers.empty() ? 0 : 1) {}

    static constexpr std::size_t maximum = 8 * 64 + 1;  // runs at a time

    // The next runs: run k of them is that from begins()[k] up to, not including, begins()[k + 1]. None: there are no
    // more. The caller may use the list up.
    std::size_t more();
    Index* begins() { return begins_; }

  private:
    std::span<const Index> numbers_;
    std::size_t next_;  // number up to which it is known where runs begin
    Index open_ = 0;    // where the last run begins, whose end is not known
    Index begins_[maximum + 1];
    // Where runs began among the last 64 numbers: a bit each, and the places of those bits. Lists of points around
    // others are of runs of one length, so the next ones often begin at the same places.
    std::uint64_t breaks_ = 0;
    std::size_t known_ = 0;
    Index places_[64];
};

}  // namespace tradewind
