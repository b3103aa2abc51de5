// One direction of the grid divided among parts: evenly, at given points, or point by point.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "layout/division.hpp"
#include "layout/patch.hpp"

namespace tradewind::layout {

// Each point has one part. A part is runs of points in ascending order; it may have none.
class Parts {
  public:
    // As evenly as it goes, the first parts one point more. Nothing is stored for a part. Throws InputError for less
    // than one part.
    static Parts even(Index points, Index parts);
    // Part p holds the points cuts[p] <= point < cuts[p + 1]. Throws InputError for cuts that do not begin at 0 or
    // descend, and for fewer than two.
    static Parts cut(std::vector<Index> cuts);
    // `owners`: the part of each point. Throws InputError for a part that is not in 0..parts - 1.
    static Parts dealt(const std::vector<std::int32_t>& owners, Index parts);

    Index points() const { return points_; }
    Index parts() const { return parts_; }
    std::vector<Run> runs(Index part) const;
    Index width(Index part) const;  // points of a part
    Index widest() const;
    Index owner(Index point) const;
    // The difference from other divisions, in few words.
    std::string describe() const;

    // All runs in ascending order, with their parts; empty ones are left out.
    struct Owned {
        Run run;
        Index part;
    };
    std::vector<Owned> ordered() const;

  private:
    enum class Kind : std::uint8_t { even, cut, dealt };

    Kind kind_ = Kind::even;
    Index points_ = 1, parts_ = 1;
    Division division_;                 // even
    std::vector<Index> cuts_;           // cut; dealt: where the runs of a part begin in `runs_`
    std::vector<Run> runs_;             // dealt: of all parts, one after another
    std::vector<std::int32_t> owners_;  // dealt
    std::uint64_t mark_ = 0;            // a hash of cuts or owners
};

}  // namespace tradewind::layout
