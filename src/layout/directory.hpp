// Who owns the points that are known by a number alone.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/prefetch.hpp"
#include "base/units.hpp"

namespace tradewind::layout {

// Where a point lies: in the array of a rank, `index` points from its begin.
struct Owner {
    Rank rank = 0;
    Index index = 0;
};

// Points by their global numbers (ids), any that are not negative. Where there is one in every 64 ids or more, it takes
// a few steps to find one, whatever the order; else it lies on a shelf, which has one or two where ids are spread
// evenly.
class Directory {
  public:
    // The ids of a rank's own points, in the order of its array; of several ranks, in any order.
    void add(Rank rank, std::span<const Index> ids);
    void add(Index id, Owner owner) { entries_.push_back({id, owner}); }
    // Once, before the first look-up. What is wrong, "" if nothing: a negative id, or one that is owned twice.
    std::string finish();

    // Calls `take(i, owner)` for each of `ids` in turn; the owner is rank -1 where there is none.
    template <class Take>
    void find_each(std::span<const Index> ids, Take take) const {
        std::array<const Owner*, 32> found;
        for (std::size_t begin = 0; begin < ids.size(); begin += found.size()) {
            const std::size_t count = std::min(found.size(), ids.size() - begin);
            for (std::size_t k = 0; k < count; ++k) {
                found[k] = &entries_[place_of(ids[begin + k])].owner;
                prefetch_line(found[k]);
            }
            for (std::size_t k = 0; k < count; ++k) take(begin + k, *found[k]);
        }
    }

  private:
    struct Entry {
        Index id;
        Owner owner;
    };
    // Which of 64 ids are there, and how many entries come before them.
    struct Mark {
        std::uint64_t bits = 0;
        std::size_t before = 0;
    };
    // Where its entry is, or the one for nobody, the last.
    std::size_t place_of(Index id) const {
        const std::uint64_t beyond = static_cast<std::uint64_t>(id) - first_;
        if (beyond >= span_) return points_;
        if (marks_.empty()) return place_on_shelf(id);
        const Mark& mark = marks_[beyond / 64];
        const std::uint64_t bit = std::uint64_t{1} << beyond % 64;
        const std::size_t place = mark.before + static_cast<std::size_t>(std::popcount(mark.bits & (bit - 1)));
        const std::uint64_t there =
            -(mark.bits >> beyond % 64 & 1);  // all bits or none: which of both is hard to guess
        return (place & there) | (points_ & ~there);
    }
    std::size_t place_on_shelf(Index id) const;
    bool mark();
    std::string sort();
    void shelve();

    std::vector<Entry> entries_;        // by id; and one for nobody
    std::vector<Mark> marks_;           // of each 64 ids, counted from the first; empty where there are few ids
    std::vector<std::size_t> shelves_;  // where those of each 2^shift_ ids begin, counted so; and the end
    std::size_t points_ = 0;
    std::uint64_t first_ = 0, span_ = 0;  // the lowest id; how many there are from it to the highest
    int shift_ = 0;
};

}  // namespace tradewind::layout
