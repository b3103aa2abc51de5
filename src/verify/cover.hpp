// Whether a set of boxes covers another one exactly once.
#pragma once

#include <optional>
#include <vector>

#include "layout/box.hpp"

namespace tradewind::verify {

// A point that is covered by another number of boxes than it should be.
struct Miscount {
    std::array<Index, 3> point;
    int covered, wanted;
};

// Whether every point lies in as many boxes of `boxes` as of `wanted`; if not, a point that does not. Exact, in
// O(b log b) for b boxes, whatever their volume.
std::optional<Miscount> find_miscount(const std::vector<layout::Box>& boxes, const std::vector<layout::Box>& wanted);

}  // namespace tradewind::verify
