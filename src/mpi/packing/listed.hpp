// Copies of one shape at many places, as a list: short runs of points that lie anywhere, as in a fetch.
#pragma once

#include <deque>
#include <vector>

#include "mpi/packing/copy.hpp"

namespace tradewind {

using HopLists = std::deque<std::vector<Hop>>;  // which stay where they are when more are added

// Makes a copy at one place one at all of them; the first hop is {0, 0}.
void repeat_at(StridedCopy& copy, std::vector<Hop> hops, HopLists& lists);

// Of the copies from `first` on, which do not depend on each other, makes one of those that are alike; `lists` keeps
// their places. What is long, and what has no like, stays as it is.
void list_alike(std::vector<StridedCopy>& copies, std::size_t first, HopLists& lists);

}  // namespace tradewind
