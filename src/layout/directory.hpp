// Who owns the points that are known by a number alone.
#pragma once

#include <algorithm>
#include <array>
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

// An owner in one word, as directories keep it and ranks send it. The words of points that follow each other in the
// array of their owner ascend by one.
class OwnerWord {
  public:
    static constexpr int index_bits = 33;
    static constexpr Index points_per_rank = (Index{1} << index_bits) - 1;

    OwnerWord() = default;  // no owner
    explicit OwnerWord(std::uint64_t word) : word_(word) {}
    explicit OwnerWord(const Owner& owner)
        : word_((static_cast<std::uint64_t>(owner.rank) + 1) << index_bits | static_cast<std::uint64_t>(owner.index)) {}

    std::uint64_t word() const { return word_; }
    bool is_none() const { return word_ == 0; }
    Rank rank() const { return static_cast<Rank>(word_ >> index_bits) - 1; }  // of no owner -1
    Index index() const { return static_cast<Index>(word_ & static_cast<std::uint64_t>(points_per_rank)); }

  private:
    std::uint64_t word_ = 0;
};

// Points by their global numbers (ids), any that are not negative. Where there is one in every 32 ids or more, a few
// look-ups find it, whatever the order; else it lies on a shelf, which has one or two where ids are spread evenly.
class Directory {
  public:
    // The ids of a rank's own points, in the order of its array; of several ranks, in any order.
    void add(Rank rank, std::span<const Index> ids);
    void add(Index id, Owner owner) {
        ids_.push_back(id);
        owners_.push_back(OwnerWord(owner));
        last_ = std::max(last_, owner.index);
    }
    // Once, before the first look-up. What is wrong, "" if nothing: a negative id, one that is owned twice, or a rank
    // that owns more points than a word can count.
    std::string finish();

    // Calls `take(i, OwnerWord)` for each of `ids` in turn.
    template <class Take>
    void find_each(std::span<const Index> ids, Take take) const {
        find_each_in([this](Index) -> const Directory& { return *this; }, ids, take);
    }
    // The same, each in the directory `among(id)`.
    template <class Among, class Take>
    static void find_each_in(Among among, std::span<const Index> ids, Take take) {
        std::array<const OwnerWord*, 32> found;
        for (std::size_t begin = 0; begin < ids.size(); begin += found.size()) {
            const std::size_t count = std::min(found.size(), ids.size() - begin);
            for (std::size_t k = 0; k < count; ++k) {
                const Directory& directory = among(ids[begin + k]);
                found[k] = directory.owners_.data() + directory.place_of(ids[begin + k]);
                prefetch_line(found[k]);
            }
            for (std::size_t k = 0; k < count; ++k) take(begin + k, *found[k]);
        }
    }

  private:
    static constexpr std::uint8_t absent = 255;
    static constexpr std::size_t ids_together = 64;
    // The place of its owner; the last one: no owner.
    std::size_t place_of(Index id) const {
        const std::uint64_t beyond = static_cast<std::uint64_t>(id) - first_;
        if (beyond >= span_) return points_;
        if (steps_.empty()) return place_on_shelf(id);
        const std::uint8_t step = steps_[beyond];
        const std::size_t place = before_[beyond / ids_together] + step;
        const std::size_t there = std::size_t{step == absent} - 1;  // all bits or none: which of both is hard to guess
        return (place & there) | (points_ & ~there);
    }
    std::size_t place_on_shelf(Index id) const;
    bool count();
    std::string sort();
    void shelve();

    std::vector<OwnerWord> owners_;  // by id; then the one of no owner
    std::vector<Index> ids_;         // ascending; empty where there are steps
    // The number of ids that come before each `ids_together`, counted from the first id that there is; and of those
    // together how many come before each. Empty where there are few ids.
    std::vector<std::size_t> before_;
    std::vector<std::uint8_t> steps_;
    std::vector<std::size_t> shelves_;  // where those of each 2^shift_ ids begin, counted so; and the end
    std::size_t points_ = 0;
    std::uint64_t first_ = 0, span_ = 0;  // the lowest id; how many there are from it to the highest
    Index last_ = 0;                      // the highest index
    int shift_ = 0;
};

}  // namespace tradewind::layout
