#include "layout/forms.hpp"

#include <limits>

#include "base/checked.hpp"
#include "base/error.hpp"

namespace tradewind::layout {

namespace {

// Where to cut so that each part ends as near as it can to its share of the points.
std::vector<Index> cuts_of(const std::vector<Index>& ends, Index parts) {
    std::vector<Index> cuts{0};
    std::size_t next = 0;  // the number of rows before the cut
    for (Index part = 1; part < parts; ++part) {
        const double wanted = static_cast<double>(ends.back()) * static_cast<double>(part) / static_cast<double>(parts);
        while (next + 1 < ends.size() && static_cast<double>(ends[next] + ends[next + 1]) / 2 < wanted) ++next;
        cuts.push_back(ends[next]);
    }
    cuts.push_back(ends.back());
    return cuts;
}

}  // namespace

Product bands(const std::vector<Index>& rows, Index levels, Rank ranks, Index level_sets, bool shared) {
    if (rows.empty()) throw InputError("bands of 0 rows: 1 or more are allowed");
    std::vector<Index> ends{0};
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (rows[row] < 1)
            throw InputError("row " + std::to_string(row) + " has " + std::to_string(rows[row]) +
                             " points: 1 or more are allowed");
        ends.push_back(ends.back() + rows[row]);
    }
    if (level_sets < 1 || ranks < 1 || ranks % level_sets != 0)
        throw InputError("bands on " + std::to_string(ranks) + " ranks: " + std::to_string(level_sets) +
                         " sets of levels do not divide the ranks evenly");
    const Grid grid(ends.back(), 1, levels);
    const Index parts = ranks / level_sets;
    return {grid,
            {shared ? Parts::even(ends.back(), parts) : Parts::cut(cuts_of(ends, parts)), Parts::even(1, 1),
             Parts::even(levels, level_sets)},
            {0, -1, 1},
            0,
            ranks,
            shared ? "bands" : "bands of whole rows"};
}

Product wavenumbers(const Grid& grid, const std::vector<std::int32_t>& owners, Index lists, Index level_sets) {
    const auto& [nx, ny, nz] = grid.points;
    return {grid,
            {Parts::dealt(owners, lists), Parts::even(ny, 1), Parts::even(nz, level_sets)},
            {0, -1, 1},
            0,
            static_cast<Rank>(lists * level_sets),
            "wavenumbers"};
}

Product lines(const Grid& grid, std::vector<Index> begins, std::vector<Index> ends, const LineParts& parts) {
    const auto& [nx, ny, nz] = grid.points;
    if (!parts.cuts.empty() && (parts.cuts.front() != 0 || parts.cuts.back() != ny))
        throw InputError("places of lines are cut from " + std::to_string(parts.cuts.front()) + " to " +
                         std::to_string(parts.cuts.back()) + ": cuts from 0 to " + std::to_string(ny) +
                         ", the number of places, are allowed");
    if (!parts.owners.empty() && static_cast<Index>(parts.owners.size()) != nz)
        throw InputError(std::to_string(parts.owners.size()) + " owners of " + std::to_string(nz) +
                         " lines: one for each is allowed");
    const std::array<Parts, 3> divided{
        Parts::even(nx, parts.field_sets), parts.cuts.empty() ? Parts::even(ny, 1) : Parts::cut(parts.cuts),
        parts.owners.empty() ? Parts::even(nz, 1) : Parts::dealt(parts.owners, parts.lists)};
    std::array<int, 3> coordinates{-1, -1, -1};
    int next = 0;
    std::int64_t ranks = 1;
    for (const int axis : {Z, Y, X}) {
        const auto d = static_cast<std::size_t>(axis);
        if (divided[d].parts() == 1) continue;
        if (next == 2) throw InputError("lines whose fields, places and numbers are all divided: two are allowed");
        coordinates[d] = next++;
        ranks = checked_product({ranks, divided[d].parts()}, std::numeric_limits<Rank>::max(), "lines", "ranks");
    }
    return Product(grid, divided, coordinates, 0, static_cast<Rank>(ranks), "lines")
        .in_lines({std::move(begins), std::move(ends)});
}

Product whole(const Grid& grid, Rank ranks, Rank servers) {
    if (servers < 1 || servers > ranks)
        throw InputError("whole fields on " + std::to_string(servers) + " servers: 1.." + std::to_string(ranks) +
                         " are allowed among " + std::to_string(ranks) + " ranks");
    const auto& [nx, ny, nz] = grid.points;
    std::vector<std::int32_t> owners(static_cast<std::size_t>(nz));
    for (std::size_t z = 0; z < owners.size(); ++z) owners[z] = static_cast<std::int32_t>(z) % servers;
    return {grid,        {Parts::even(nx, 1), Parts::even(ny, 1), Parts::dealt(owners, servers)},
            {-1, -1, 0}, ranks - servers,
            ranks,       "whole fields"};
}

}  // namespace tradewind::layout
