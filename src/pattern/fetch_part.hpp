// What a rank fetches from others and gives to them, as runs of points.
#pragma once

#include <array>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/units.hpp"

namespace tradewind {

// The points that a rank wants: point `index` of the source array of `owner` goes to `place` of the target array. As
// many of each; no places: one after another from 0.
struct FetchList {
    std::vector<Rank> owner;
    std::vector<Index> index, place;
    Index target = 0;  // places of the target array
};

// Points that follow each other in the source array of their owner and in the target array of the one that wants them.
struct FetchRun {
    Index source = 0, target = 0, length = 0;
};

// All that goes from one rank to another, in the order in which it was asked for. A sender need not know the target.
struct FetchBundle {
    Rank peer = 0;
    Index points = 0;
    std::vector<FetchRun> runs;
};

struct FetchPart {
    Index first = 0;                           // the source points of the ranks before this one
    Index source = 0, target = 0;              // points of its arrays
    std::vector<FetchBundle> sends, receives;  // to the next ranks first, and from the last ones (see in_turn)
    std::vector<FetchRun> kept;                // what it wants and owns itself
};

// What is wrong with a rank's list, "" if nothing: lengths that differ, a place out of range or taken twice, an owner
// that is no rank.
std::string problem_of(const FetchList& list, Rank rank, Rank ranks);

// Puts runs into the bundles of their owners. What follows the last run of an owner lengthens it.
class Bundler {
  public:
    void add(Rank owner, const FetchRun& next);
    // In the order in which their owners came up, that of the rank itself too.
    std::vector<FetchBundle> take() { return std::move(bundles_); }

  private:
    FetchBundle& of(Rank owner);

    std::vector<FetchBundle> bundles_;
    std::unordered_map<Rank, std::size_t> of_owner_;
    std::array<FetchBundle*, 64> recent_{};  // by the last digits of their peers: lists go to and fro
};

// The bundles of a list, in the order in which their owners come up in it, that of the rank itself too.
std::vector<FetchBundle> bundles_of(const FetchList& list);

// Orders bundles by how many ranks further on (`sending`), or back, their peers are, around the ring of all ranks.
void in_turn(std::vector<FetchBundle>& bundles, Rank rank, Rank ranks, bool sending);

// Takes the receives of a rank from its bundles, and what it keeps.
void take_bundles(FetchPart& part, std::vector<FetchBundle> bundles, Rank rank, Rank ranks);

}  // namespace tradewind
