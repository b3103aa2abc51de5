// What must move between ranks, with the reference answer that every schedule is held against.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "layout/box.hpp"

namespace tradewind {

// Each rank holds a source array and a target array (one and the same where `in_place`), each a box of points in
// global coordinates. Halo cells may lie beyond the grid: along a periodic direction of n points the cell at X holds
// the global point X mod n.
class Pattern {
  public:
    virtual ~Pattern() = default;

    virtual std::string name() const = 0;      // "halo", "transpose", "allreduce"
    virtual std::string describe() const = 0;  // one line for a reader
    virtual Rank ranks() const = 0;

    virtual bool in_place() const = 0;
    virtual Box source_box(Rank rank) const = 0;  // the storage of its source array
    virtual Box target_box(Rank rank) const = 0;  // the storage of its target array
    virtual Box owned_box(Rank rank) const = 0;   // the points of the source array that hold data beforehand

    // The reference answer: disjoint boxes of the target array, each point of which must be written exactly once;
    // nothing else may be. (For a reduction: the points that must hold the sum over all ranks.)
    virtual std::vector<Box> answer(Rank rank) const = 0;

    // Length of the direction where it is periodic, else 0.
    virtual std::array<Index, 3> period() const { return {0, 0, 0}; }
    virtual bool reduces() const { return false; }
};

}  // namespace tradewind
