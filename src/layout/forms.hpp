// Layouts of models and their servers, by what they are for.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/product.hpp"

namespace tradewind::layout {

// Bands of a grid of rows, whose points lie one row after another along x: by the ranks of each of `level_sets` sets of
// levels, rank i + j * bands has band i and set j. `shared`: of equal numbers of points, where ranks share rows; else
// of whole rows, with numbers of points as equal as these allow. Throws InputError for no rows, a row without points,
// and sets that do not divide the ranks.
Product bands(const std::vector<Index>& rows, Index levels, Rank ranks, Index level_sets, bool shared);

// Lists of wavenumbers, along x: `owners` says in which of `lists` lists each is. Rank i + j * lists has list i and
// set j of the levels, along z. Throws InputError for a list that is not in 0..lists - 1.
Product wavenumbers(const Grid& grid, const std::vector<std::int32_t>& owners, Index lists, Index level_sets);

// Whole levels or fields, along z, dealt one by one to the last `servers` of all ranks. Throws InputError for other
// numbers of servers than 1..ranks.
Product whole(const Grid& grid, Rank ranks, Rank servers);

}  // namespace tradewind::layout
