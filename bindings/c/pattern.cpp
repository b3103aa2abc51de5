// Layouts and patterns.
#include "base/error.hpp"
#include "objects.hpp"
#include "pattern/allreduce.hpp"
#include "pattern/halo.hpp"
#include "pattern/transpose.hpp"

using namespace tradewind;
using namespace tradewind::c;

namespace {

Blocks blocks(const int64_t points[3], const int64_t split[2], const std::string& axes) {
    require(points, "points");
    require(split, "split");
    return {Grid(points[X], points[Y], points[Z]), {split[0], split[1]}, axes};
}

// `make` returns a pattern.
template <typename Make>
tw_status add_pattern(tw_pattern* pattern, Make make) {
    if (pattern) pattern->id = 0;
    return guarded([&] {
        require(pattern, "pattern");
        pattern->id = patterns().add(make());
    });
}

void write(const Box& box, int64_t begin[3], int64_t end[3]) {
    require(begin, "begin");
    require(end, "end");
    for (const int axis : {X, Y, Z}) {
        begin[axis] = box.begin[axis];
        end[axis] = box.end[axis];
    }
}

void check_rank(int rank, Rank ranks) {
    if (rank < 0 || rank >= ranks)
        throw InputError("rank " + std::to_string(rank) + ": 0.." + std::to_string(ranks - 1) + " are allowed");
}

}  // namespace

Box tradewind::c::box_of(const Pattern& pattern, int side, int rank) {
    check_rank(rank, pattern.ranks());
    if (side != TW_SOURCE && side != TW_TARGET)
        throw InputError("side " + std::to_string(side) + ": TW_SOURCE and TW_TARGET are allowed");
    return side == TW_SOURCE ? pattern.source_box(rank) : pattern.target_box(rank);
}

tw_status tw_blocks(const int64_t points[3], const int64_t split[2], const char* axes, tw_layout* layout) {
    if (layout) layout->id = 0;
    return guarded([&] {
        require(layout, "layout");
        layout->id = layouts().add(std::make_shared<Blocks>(blocks(points, split, axes ? axes : "xy")));
    });
}

tw_status tw_pencils(const int64_t points[3], const int64_t split[2], char along, tw_layout* layout) {
    if (layout) layout->id = 0;
    return guarded([&] {
        require(layout, "layout");
        layout->id = layouts().add(std::make_shared<Blocks>(blocks(points, split, pencil_axes(along))));
    });
}

tw_status tw_layout_box(tw_layout layout, int rank, int64_t begin[3], int64_t end[3]) {
    return guarded([&] {
        const auto found = layouts().at(layout.id);
        check_rank(rank, found->ranks());
        write(found->box(rank), begin, end);
    });
}

tw_status tw_layout_free(tw_layout layout) {
    return guarded([&] { layouts().remove(layout.id); });
}

tw_status tw_halo(tw_layout layout, int64_t width, const int periodic[2], tw_pattern* pattern) {
    return add_pattern(pattern, [&] {
        require(periodic, "periodic");
        const std::array<bool, 2> closed{periodic[X] != 0, periodic[Y] != 0};
        return std::make_shared<Halo>(*layouts().at(layout.id), width, closed);
    });
}

tw_status tw_transpose(tw_layout from, tw_layout to, tw_pattern* pattern) {
    return add_pattern(pattern,
                       [&] { return std::make_shared<Transpose>(*layouts().at(from.id), *layouts().at(to.id)); });
}

tw_status tw_allreduce(int ranks, int64_t count, tw_pattern* pattern) {
    return add_pattern(pattern, [&] { return std::make_shared<AllReduce>(ranks, count); });
}

tw_status tw_pattern_box(tw_pattern pattern, int side, int rank, int64_t begin[3], int64_t end[3]) {
    return guarded([&] {
        const auto found = patterns().at(pattern.id);
        write(box_of(*found, side, rank), begin, end);
    });
}

tw_status tw_pattern_free(tw_pattern pattern) {
    return guarded([&] { patterns().remove(pattern.id); });
}
