// Splitting lists by the rank that their entries belong to.
#pragma once

#include <cstddef>

#include "base/units.hpp"

namespace tradewind::pattern {

// Entry k of all three belongs together.
struct Placed {
    Rank* owners;
    Index *sources, *targets;
};

// Appends the sources and targets of one owner to two other lists, in their order, and closes the gaps that they leave.
// Returns the number of entries that are left. Each of the other lists has room for `count` more, wherever its new
// entries end.
std::size_t pick_out(Rank owner, std::size_t count, Placed lists, Index* sources, Index* targets);

}  // namespace tradewind::pattern
