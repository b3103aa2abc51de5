#pragma once

#include <memory>

#include "pattern/gather_scatter.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::algorithm {

// One stage of a crystal router: where a rank of the ranks [first, first + ranks) sends what is for the other half.
struct CrystalStage {
    Rank first, ranks;
    Rank low() const { return (ranks + 1) / 2; }
    Rank middle() const { return first + low(); }  // the first rank of the upper half
    bool is_low(Rank rank) const { return rank < middle(); }
    // Ranks are mirrored; the one in the middle of an odd number sends to the first of the upper half.
    Rank partner(Rank rank) const {
        const Rank mirrored = first + ranks - 1 - (rank - first);
        return mirrored == rank ? middle() : mirrored;
    }
    CrystalStage half_of(Rank rank) const {
        return is_low(rank) ? CrystalStage{first, low()} : CrystalStage{middle(), ranks - low()};
    }
};

// A gather-scatter whose messages are those of `pairwise`, bundled and passed on in ceil(log2 n) stages: in each one a
// rank sends all that it has for the other half of its ranks to one of them (Fox et al. 1988; gslib's crystal router).
// For a listed gather-scatter the lists have to be those of all ranks.
std::shared_ptr<const schedule::Schedule> gather_scatter_crystal(std::shared_ptr<const pattern::GatherScatter> whole);

}  // namespace tradewind::algorithm
