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

// Lists of wavenumbers, along x: `owners` has the list of each, one of `lists`. Rank i + j * lists has list i and
// set j of the levels, along z. Throws InputError for a list that is not in 0..lists - 1.
Product wavenumbers(const Grid& grid, const std::vector<std::int32_t>& owners, Index lists, Index level_sets);

// How lines are divided: the fields along x into `field_sets` sets of about as many, the places along y at `cuts`, the
// lines along z into `lists` lists, `owners` has that of each line; two of the three at most. No cuts, or no
// owners: places, or lines, stay whole.
struct LineParts {
    Index field_sets = 1;
    std::vector<Index> cuts;
    std::vector<std::int32_t> owners;
    Index lists = 1;
};

// Lines of different lengths, as the latitudes that keep each wavenumber, or its degrees: fields along x, places along
// y, lines along z, of which line l has the places begins[l]..ends[l] - 1 (see Product::in_lines). Of the directions
// that are divided, lines before places before fields, the first has coordinate 0: rank i + j * (parts of the first)
// has part i of the first and part j of the second. Throws InputError where all three are divided, and where cuts,
// owners and lines do not fit the grid.
Product lines(const Grid& grid, std::vector<Index> begins, std::vector<Index> ends, const LineParts& parts);

// Whole levels or fields, along z, dealt one by one to the last `servers` of all ranks. Throws InputError for other
// numbers of servers than 1..ranks.
Product whole(const Grid& grid, Rank ranks, Rank servers);

}  // namespace tradewind::layout
