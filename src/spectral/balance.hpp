// Which wavenumbers go to which set of ranks, so that all sets have as much to compute; as
// python/tradewind/spectral/balance.py has it, which says why.
#pragma once

#include <vector>

#include "base/units.hpp"

namespace tradewind::spectral {

// Items 0..count - 1 dealt to and fro, as ecTrans deals wavenumbers: 0 1 2 2 1 0 0 1 2 ... [set], ascending.
std::vector<std::vector<Index>> dealt_to_and_fro(Index count, Index sets);

// Items dealt to sets with loads as equal as a good packing makes them, from `dealt_to_and_fro` on by exchanges of an
// item, or two, with an item, two or none of another set (Finn & Horowitz 1979, BIT 19, 312-320, with pairs). [set]
std::vector<std::vector<Index>> packed(const std::vector<double>& weights, Index sets);

// Where to cut a sequence so that the largest part is as small as whole entries allow: parts + 1 entries. No part is
// empty where there are as many entries as parts.
std::vector<Index> even_cuts(const std::vector<double>& weights, Index parts);

}  // namespace tradewind::spectral
