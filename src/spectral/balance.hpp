// Which wavenumbers go to which set of ranks, so that all sets have as much to compute.
#pragma once

#include <vector>

#include "base/units.hpp"

namespace tradewind::spectral {

// Items 0..count - 1 dealt to and fro, as ecTrans deals wavenumbers: 0 1 2 2 1 0 0 1 2 ... [set], ascending.
std::vector<std::vector<Index>> dealt_to_and_fro(Index count, Index sets);

// Items dealt to sets with loads as equal as a good packing makes them. [set], ascending.
//
// From `dealt_to_and_fro` on a set with a large load exchanges an item, or two, with an item, two or none of another
// set: the exchange that lowers the sum of the squares of loads most, until the largest load is near that of the mean
// or of the largest item, or nothing is gained. (Local search for multiprocessor scheduling: Finn & Horowitz 1979, BIT
// 19, 312-320, with exchanges of pairs.) Sets stay alike in what they hold, small and large m, so they have about as
// many coefficients, too. The result never is more uneven than what it begins with.
std::vector<std::vector<Index>> packed(const std::vector<double>& weights, Index sets);

// Where to cut a sequence so that the largest part is as small as whole entries allow: parts + 1 entries. No part is
// empty where there are as many entries as parts. The smallest room in which all parts fit is sought by halving.
std::vector<Index> even_cuts(const std::vector<double>& weights, Index parts);

}  // namespace tradewind::spectral
