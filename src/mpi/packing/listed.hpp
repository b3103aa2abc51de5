// Copies of one shape at many places, as a list: short runs of points that lie anywhere, as in a fetch.
#pragma once

#include <deque>
#include <vector>

#include "mpi/packing/copy.hpp"

namespace tradewind::mpi {

using PlaceLists = std::deque<std::vector<Index>>;  // which stay where they are when more are added

// Makes a copy at one place one at `places` of them, two or more.
void repeat_at(StridedCopy& copy, Places from, Places to, Index places);

// The host's function for a copy at several places.
void choose_listed(StridedCopy& copy);

// Merges those copies from `first` on that are alike into one; they must not depend on each other. `lists` keeps their
// places. A long copy, and one that is like no other, stays as it is.
void list_alike(std::vector<StridedCopy>& copies, std::size_t first, PlaceLists& lists);

}  // namespace tradewind::mpi
