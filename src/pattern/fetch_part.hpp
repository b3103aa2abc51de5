// Points that a rank fetches from others and gives to them, as runs.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "pattern/pick_out.hpp"
#include "pattern/runs.hpp"

namespace tradewind::pattern {

// The points that a rank wants: point `index` of the source array of `owner` goes to `place` of the target array. As
// many of each; no places: one after another from 0.
struct FetchList {
    std::vector<Rank> owner;
    std::vector<Index> index, place;
    Index target = 0;  // places of the target array
};

// All that goes from one rank to another. A sender need not know the target.
struct FetchBundle {
    Rank peer = 0;
    Index points = 0;
    Runs runs;
};

struct FetchPart {
    Index first = 0;                           // the source points of the ranks before this one
    Index source = 0, target = 0;              // points of its arrays
    std::vector<FetchBundle> sends, receives;  // to the next ranks first, and from the last ones (see sort_by_distance)
    Runs kept;                                 // what it wants and owns itself
};

// The problem of a rank's list, "" if it has none: lengths that differ, a place out of range or taken twice, an owner
// that is no rank.
std::string problem_of(const FetchList& list, Rank rank, Rank ranks);

// Puts runs into the bundles of their owners, sorted by their lengths.
class Bundler {
  public:
    // `points`: of all runs together.
    explicit Bundler(std::size_t points) : points_(points), slots_(256) {}
    Bundler(const Bundler&) = delete;
    Bundler& operator=(const Bundler&) = delete;

    void add(Rank owner, const FetchRun& run) { add(of(owner, run.length), run.source, run.target); }
    // Runs of one length: each with its owner and its places. The lists are used up.
    void add(Index length, std::size_t runs, Placed lists);
    // `points` points have been added: the room for the rest is estimated from them.
    void reached(std::size_t points) { reached_ = points; }
    // In the order in which their owners came up, that of the rank itself too.
    std::vector<FetchBundle> take();

  private:
    // Runs of one length of one owner: room for their places in the source array and behind it in the target array, and
    // where the next one goes.
    struct Kind {
        Rank owner = -1;
        Index length = 0;
        Index *next = nullptr, *end = nullptr;
        std::size_t room = 0;
        Runs::Places places;
        std::size_t runs() const { return static_cast<std::size_t>(next - places.data()); }
    };
    void add(Kind& kind, Index source, Index target) {
        Index* const place = kind.next;
        place[0] = source;
        place[kind.room] = target;
        kind.next = place + 1;
        if (kind.next == kind.end) grow(kind, 1);
    }
    void grow(Kind& kind, std::size_t more) const;
    // Runs go to and fro between owners and lengths, unforeseeably: what a run goes with is found without a branch
    // that depends on it.
    Kind& of(Rank owner, Index length) {
        for (std::size_t slot = slot_of(owner, length);; slot = (slot + 1) & last_slot_) {
            Kind* const kind = slots_[slot];
            if (!kind) return make(owner, length, slot);
            if (kind->owner == owner && kind->length == length) return *kind;
        }
    }
    std::size_t slot_of(Rank owner, Index length) const {
        const std::uint64_t key = static_cast<std::uint64_t>(owner) << 32 ^ static_cast<std::uint64_t>(length);
        return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15 >> 32) & last_slot_;
    }
    Kind& make(Rank owner, Index length, std::size_t slot);

    std::size_t points_, reached_ = 0;
    std::deque<Kind> kinds_;
    std::vector<Kind*> slots_;  // twice as many as kinds or more, a power of two
    std::size_t last_slot_ = slots_.size() - 1;
};

// The bundles of a list, that of the rank itself too. What follows the last run of an owner lengthens it.
std::vector<FetchBundle> bundles_of(const FetchList& list);

// Orders bundles by how many ranks further on (`sending`), or back, their peers are, around the ring of all ranks.
void sort_by_distance(std::vector<FetchBundle>& bundles, Rank rank, Rank ranks, bool sending);

// Takes the receives of a rank from its bundles, and what it keeps.
void take_bundles(FetchPart& part, std::vector<FetchBundle> bundles, Rank rank, Rank ranks);

}  // namespace tradewind::pattern
