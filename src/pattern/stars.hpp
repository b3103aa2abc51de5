// How the parts of one direction overlap in two layouts, and in which rounds all of them can meet.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/parts.hpp"

namespace tradewind::pattern {

// Overlaps in which each part of one side, the leaves, has one partner at most on the other side, the centres. So they
// are stars, and the place of a leaf in its star distinguishes it from the other leaves of its centre.
struct Stars {
    struct Leaf {
        std::int32_t centre = -1;  // none where -1
        std::int32_t place = 0;
        Index points = 0;  // of the overlap
    };
    bool gathers = true;       // whether the leaves are parts before, the centres parts after; else the converse
    Index widest = 1;          // leaves of the centre that has the maximum
    std::vector<Leaf> leaves;  // by part
    std::vector<std::int32_t> begins;  // of a centre's leaves in `members`, and the end
    std::vector<std::int32_t> members;

    // The number of leaves of a centre; leaf `place` of it.
    Index size(Index centre) const {
        const auto c = static_cast<std::size_t>(centre);
        return begins[c + 1] - begins[c];
    }
    Index member(Index centre, Index place) const {
        return members[static_cast<std::size_t>(begins[static_cast<std::size_t>(centre)] + place)];
    }
};

// All overlaps of two divisions of one direction, each in one of the sets of stars. Divisions by runs that are not
// nested, such as bands of equal numbers of points and bands of whole rows, have two sets; where one side is whole or
// nested in the other there is one. Takes time and memory that grow with parts and runs.
std::vector<Stars> stars_of(const layout::Parts& before, const layout::Parts& after);

}  // namespace tradewind::pattern
