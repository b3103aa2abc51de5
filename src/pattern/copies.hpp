// Places of one rank's array that hold copies of the same values, and the loops that combine them.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace tradewind::pattern {

// Groups of places; the values of a group are combined with each other. Most numberings of elements have groups that
// follow each other at constant distances, like the points of a face: they are kept as sweeps of two nested loops, the
// others one by one. A group may have a cell of another, denser array besides.
class Copies {
  public:
    // Groups whose places all lie a step further on than those of the group before.
    struct Sweep {
        std::size_t size = 0;              // places of a group
        std::size_t first = 0;             // its places: where they begin in `places`
        std::array<Index, 2> count{1, 1};  // groups, inner loop first
        std::array<Index, 2> step{0, 0};   // places from group to group
        Index cell = 0;                    // of the first group
        std::array<Index, 2> cell_step{0, 0};
        Index groups() const { return count[0] * count[1]; }
    };
    // Groups of one size: place k of group i is places[first + k count + i], its cell cells[first_cell + i].
    struct List {
        std::size_t size = 0, count = 0, first = 0, first_cell = 0;
    };

    Copies() = default;
    // Group i has the places from begins[i] to before begins[i + 1], in ascending order, and the cell i.
    // Without `sweeps` all are kept one by one.
    Copies(std::span<const std::size_t> begins, std::span<const Index> places, bool sweeps = true);

    const std::vector<Sweep>& sweeps() const { return sweeps_; }
    const std::vector<List>& lists() const { return lists_; }
    const Index* places() const { return places_.data(); }
    const Index* cells() const { return cells_.data(); }
    std::size_t groups() const { return groups_; }

  private:
    std::vector<Sweep> sweeps_;
    std::vector<List> lists_;
    std::vector<Index> places_, cells_;
    std::size_t groups_ = 0;
};

// Cells of a rank that the same ranks share: cells [cell, cell + length) of the one array are combined with as many
// elements from each of `parts` of the other one on. The combination goes from the first rank to the last; `own` parts
// come before the cells.
struct Fold {
    Index cell = 0, length = 0;
    std::vector<Index> parts;
    std::size_t own = 0;
};

// One array of a rank along its points: their distance in bytes.
struct Line {
    std::byte* data = nullptr;
    Index stride = 0;
};

// The loops of one element type and one operation. Integers wrap around, as NumPy's do.
struct CopyLoops {
    // Each place becomes the combination of the places of its group, in their order.
    void (*combine)(const Copies& copies, Line array);
    // The combination of the places of each group goes to its cell.
    void (*gather)(const Copies& copies, Line array, std::byte* cells);
    // The cell of each group goes to its places.
    void (*scatter)(const Copies& copies, Line array, const std::byte* cells);
    void (*fold)(std::span<const Fold> folds, std::byte* cells, const std::byte* received);
    // Sets cells to the value that changes nothing in a combination.
    void (*clear)(std::byte* cells, Index count);
};

// `element`: f4, f8, i4, i8, c8 or c16; `operation`: add, mul, min or max. Throws InputError for others, and for the
// minimum and maximum of complex numbers.
const CopyLoops& copy_loops(const std::string& element, const std::string& operation);

}  // namespace tradewind::pattern
