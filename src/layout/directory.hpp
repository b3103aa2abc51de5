// Who owns the points that are known by a number alone.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace tradewind {

// Where a point lies: in the array of a rank, `index` points from its begin.
struct Owner {
    Rank rank = 0;
    Index index = 0;
};

// Points by their global numbers (ids), any that are not negative. Ids that follow each other, without a gap, are found
// at once; others among those of their shelf, which has one or two where ids are spread evenly, and by bisection where
// it has many. Ids in ascending order are found at once, too.
class Directory {
  public:
    // The ids of a rank's own points, in the order of its array; of several ranks, in any order.
    void add(Rank rank, std::span<const Index> ids);
    void add(Index id, Owner owner) { entries_.push_back({id, owner}); }
    // Before the first look-up. What is wrong, "" if nothing: a negative id, or one that is owned twice.
    std::string finish();

    // None where nobody owns it.
    std::optional<Owner> find(Index id) const;
    Index points() const { return static_cast<Index>(entries_.size()); }

  private:
    struct Entry {
        Index id;
        Owner owner;
    };
    void shelve();
    std::vector<Entry> entries_;        // by id
    std::vector<std::size_t> shelves_;  // where those of each 2^shift_ ids begin, counted from the first; and the end
    int shift_ = 0;
    bool gapless_ = false;
    mutable std::size_t last_ = 0;  // the entry that was found last
};

}  // namespace tradewind
