// Layouts and patterns.
#include "base/error.hpp"
#include "layout/forms.hpp"
#include "levels.hpp"
#include "objects.hpp"
#include "pattern/allreduce.hpp"
#include "pattern/halo.hpp"
#include "pattern/redistribution.hpp"
#include "pattern/region.hpp"

using namespace tradewind;
using namespace tradewind::c;

namespace {

layout::Grid grid_of(const int64_t points[3]) {
    require(points, "points");
    return {points[layout::X], points[layout::Y], points[layout::Z]};
}

// Adds what `make` gives.
template <typename Make>
tw_status add_layout(tw_layout* layout, Make make) {
    if (layout) layout->id = 0;
    return guarded([&] {
        require(layout, "layout");
        layout->id = layouts().add(std::make_shared<decltype(make())>(make()));
    });
}

layout::Blocks blocks(const int64_t points[3], const int64_t split[2], const std::string& axes) {
    const layout::Grid grid = grid_of(points);
    require(split, "split");
    return {grid, {split[0], split[1]}, axes};
}

void write(const layout::Box& box, int64_t begin[3], int64_t end[3]) {
    require(begin, "begin");
    require(end, "end");
    for (const int axis : {layout::X, layout::Y, layout::Z}) {
        begin[axis] = box.begin[axis];
        end[axis] = box.end[axis];
    }
}

void check_rank(int rank, Rank ranks) {
    if (rank < 0 || rank >= ranks)
        throw InputError("rank " + std::to_string(rank) + ": 0.." + std::to_string(ranks - 1) + " are allowed");
}

// The halo of a handle, for the functions that know no other pattern. The caller keeps it.
std::shared_ptr<const pattern::Halo> halo_of(tw_pattern pattern, int rank) {
    auto halo = std::dynamic_pointer_cast<const pattern::Halo>(patterns().at(pattern.id));
    if (!halo) throw InputError("a " + patterns().at(pattern.id)->name() + " has no interior and no rim: a halo has");
    check_rank(rank, halo->ranks());
    return halo;
}

}  // namespace

layout::Box tradewind::c::box_of(const pattern::Pattern& pattern, int side, int rank) {
    check_rank(rank, pattern.ranks());
    if (side != TW_SOURCE && side != TW_TARGET)
        throw InputError("side " + std::to_string(side) + ": TW_SOURCE and TW_TARGET are allowed");
    layout::Box box = side == TW_SOURCE ? pattern.source_box(rank) : pattern.target_box(rank);
    if (pattern.has_levels()) {  // whose source arrays count the points of all ranks, in an order of the core's own
        box.end[layout::X] -= box.begin[layout::X];
        box.begin[layout::X] = 0;
    }
    return box;
}

tw_status tw_blocks(const int64_t points[3], const int64_t split[2], const char* axes, tw_layout* layout) {
    if (layout) layout->id = 0;
    return guarded([&] {
        require(layout, "layout");
        layout->id = layouts().add(std::make_shared<layout::Blocks>(blocks(points, split, axes ? axes : "xy")));
    });
}

tw_status tw_pencils(const int64_t points[3], const int64_t split[2], char along, tw_layout* layout) {
    if (layout) layout->id = 0;
    return guarded([&] {
        require(layout, "layout");
        layout->id = layouts().add(std::make_shared<layout::Blocks>(blocks(points, split, layout::pencil_axes(along))));
    });
}

tw_status tw_bands(int64_t rows, const int64_t* lengths, int64_t levels, int ranks, int64_t level_sets, int shared,
                   tw_layout* layout) {
    return add_layout(layout, [&] {
        if (rows > 0) require(lengths, "lengths");
        const std::vector<Index> all(lengths, lengths + std::max<int64_t>(rows, 0));
        return layout::bands(all, levels, ranks, level_sets, shared != 0);
    });
}

tw_status tw_wavenumbers(const int64_t points[3], int64_t lists, const int* owners, int64_t level_sets,
                         tw_layout* layout) {
    return add_layout(layout, [&] {
        const layout::Grid grid = grid_of(points);
        require(owners, "owners");
        return layout::wavenumbers(grid, {owners, owners + points[layout::X]}, lists, level_sets);
    });
}

tw_status tw_lines(const int64_t points[3], const int64_t* begins, const int64_t* ends, int64_t lists,
                   const int* owners, int64_t parts, const int64_t* cuts, int64_t field_sets, tw_layout* layout) {
    return add_layout(layout, [&] {
        const layout::Grid grid = grid_of(points);
        const Index count = points[layout::Z];
        require(begins, "begins");
        require(ends, "ends");
        if (cuts && parts < 1) throw InputError(std::to_string(parts) + " parts of places: 1 or more are allowed");
        layout::LineParts divided{field_sets, {}, {}, lists};
        if (owners) divided.owners.assign(owners, owners + count);
        if (cuts) divided.cuts.assign(cuts, cuts + parts + 1);
        return layout::lines(grid, {begins, begins + count}, {ends, ends + count}, divided);
    });
}

tw_status tw_whole(const int64_t points[3], int ranks, int servers, tw_layout* layout) {
    return add_layout(layout, [&] { return layout::whole(grid_of(points), ranks, servers); });
}

tw_status tw_placed(tw_layout layout, int first, int ranks, tw_layout* placed) {
    return add_layout(placed, [&] {
        const auto found = layouts().at(layout.id);
        if (const auto* form = dynamic_cast<const layout::Product*>(found.get())) return form->placed(first, ranks);
        return layout::Product(*blocks_of(layout, "a place")).placed(first, ranks);
    });
}

tw_status tw_layout_box(tw_layout layout, int rank, int64_t begin[3], int64_t end[3]) {
    return guarded([&] {
        const auto found = layouts().at(layout.id);
        check_rank(rank, found->ranks());
        const auto boxes = found->boxes(rank);
        if (boxes.size() > 1)
            throw InputError("rank " + std::to_string(rank) + " of " + found->describe() + " owns " +
                             std::to_string(boxes.size()) + " boxes of points: one is allowed here");
        write(boxes.empty() ? layout::Box() : boxes[0], begin, end);
    });
}

tw_status tw_layout_free(tw_layout layout) {
    return guarded([&] { layouts().remove(layout.id); });
}

tw_status tw_halo(tw_layout layout, int64_t width, const int periodic[2], tw_pattern* pattern) {
    return add_pattern(pattern, [&] {
        require(periodic, "periodic");
        const std::array<bool, 2> closed{periodic[layout::X] != 0, periodic[layout::Y] != 0};
        return std::make_shared<pattern::Halo>(*blocks_of(layout, "a halo"), width, closed);
    });
}

tw_status tw_transpose(tw_layout from, tw_layout to, tw_pattern* pattern) {
    return add_pattern(pattern, [&] { return pattern::transposition(*layouts().at(from.id), *layouts().at(to.id)); });
}

tw_status tw_allreduce(int ranks, int64_t count, tw_pattern* pattern) {
    return add_pattern(pattern, [&] { return std::make_shared<pattern::AllReduce>(ranks, count); });
}

tw_status tw_pattern_box(tw_pattern pattern, int side, int rank, int64_t begin[3], int64_t end[3]) {
    return guarded([&] {
        const auto found = patterns().at(pattern.id);
        write(box_of(*found, side, rank), begin, end);
    });
}

tw_status tw_halo_interior(tw_pattern halo, int rank, int64_t reach, int64_t begin[3], int64_t end[3]) {
    return guarded([&] { write(pattern::interior(*halo_of(halo, rank), rank, reach), begin, end); });
}

tw_status tw_halo_rim(tw_pattern halo, int rank, int64_t reach, int* boxes, int64_t begin[4][3], int64_t end[4][3]) {
    return guarded([&] {
        const std::vector<layout::Box> found = pattern::rim(*halo_of(halo, rank), rank, reach);
        require(boxes, "boxes");
        require(begin, "begin");
        require(end, "end");
        for (std::size_t i = 0; i < found.size(); ++i) write(found[i], begin[i], end[i]);
        *boxes = static_cast<int>(found.size());
    });
}

tw_status tw_halo_widened(tw_pattern halo, int rank, int64_t by, int64_t begin[3], int64_t end[3]) {
    return guarded([&] { write(pattern::widened(*halo_of(halo, rank), rank, by), begin, end); });
}

tw_status tw_pattern_free(tw_pattern pattern) {
    return guarded([&] { patterns().remove(pattern.id); });
}
