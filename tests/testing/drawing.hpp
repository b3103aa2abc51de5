// Random layouts, patterns and schedules, for properties; and who owns what, counted point by point.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "algorithm/registry.hpp"
#include "pattern/fetch.hpp"
#include "pattern/gather_scatter.hpp"
#include "pattern/halo.hpp"
#include "pattern/redistribution.hpp"
#include "pattern/transpose.hpp"
#include "testing/testing.hpp"
#include "verify/verify.hpp"

namespace testing {

using tradewind::Index, tradewind::Rank;
using PatternPtr = std::shared_ptr<const tradewind::pattern::Pattern>;
using SchedulePtr = std::shared_ptr<const tradewind::schedule::Schedule>;
using TransposePtr = std::shared_ptr<const tradewind::pattern::Transpose>;
using RedistributionPtr = std::shared_ptr<const tradewind::pattern::Redistribution>;
using Point = std::array<Index, 3>;

Point draw_points(Draw& draw, Index maximum = 14);

// Blocks of a grid along two of its directions; of given `ranks`, there must be a split. `axes`: none for any.
tradewind::layout::Blocks draw_blocks(Draw& draw, const Point& points, Rank max_ranks = 40,
                                      const std::vector<std::string>& axes = {}, Rank ranks = 0);
// Any two blocks of one grid.
TransposePtr draw_transpose(Draw& draw, Rank max_ranks = 40);
// The transpositions within rows or columns of ranks that spectral models make.
TransposePtr draw_slab_transpose(Draw& draw, Rank max_ranks = 40);

// One direction divided in any way; parts may hold nothing.
tradewind::layout::Parts draw_parts(Draw& draw, Index points, Index parts);
// Layouts that have a closed form, on some of the ranks: uneven, of several runs, with empty parts.
tradewind::layout::Product draw_product(Draw& draw, const Point& points, Rank ranks);
// Lines of different lengths along z with places along y; not all are empty.
tradewind::layout::Lines draw_lines(Draw& draw, const Point& points);
// Between any two layouts that have a closed form, of a grid or of lines of different lengths.
RedistributionPtr draw_redistribution(Draw& draw, Rank max_ranks = 12);
// Between layouts whose groups are rows or columns of ranks: any lists, of a grid or of lines.
RedistributionPtr draw_closed_redistribution(Draw& draw, Rank max_ranks = 30);

// Widths within the neighbour, beyond it and beyond the grid.
std::shared_ptr<const tradewind::pattern::Halo> draw_halo(Draw& draw, Rank max_ranks = 40, Index max_width = 40);
// Lists of which a pattern was made, by rank.
struct Lists {
    std::vector<tradewind::pattern::FetchList> wanted;
    std::vector<std::vector<Index>> ids;
};
// Any points of any ranks, some of them several times; between two arrays, or a halo within one.
std::shared_ptr<const tradewind::pattern::Fetch> draw_fetch(Draw& draw, Lists& lists, Rank max_ranks = 14);
// Any ids, near 2^63 too, of one rank or of all; or a brick of elements.
std::shared_ptr<const tradewind::pattern::GatherScatter> draw_gather_scatter(Draw& draw, Lists& lists,
                                                                             Rank max_ranks = 9);

// A pattern by its name in the registry, whatever it may be. A new pattern needs a line in this function.
PatternPtr draw_pattern(Draw& draw, const std::string& name, Lists& lists);
PatternPtr draw_pattern(Draw& draw, const std::string& name);

// The names of an algorithm that a pattern allows: one for each radix up to 64; none where it is not for such patterns.
std::vector<std::string> names_of(const tradewind::algorithm::AlgorithmEntry& entry,
                                  const tradewind::pattern::Pattern& pattern);
// The same of all its algorithms.
std::vector<std::string> algorithm_names(const tradewind::pattern::Pattern& pattern);
// A schedule of one of its algorithms, with a note of what it is.
SchedulePtr draw_schedule(Draw& draw, const PatternPtr& pattern);

// A transposition within one row of ranks, from "xy" to "zy".
TransposePtr row_of(Rank ranks, const Point& points);
tradewind::verify::Verified verified(const tradewind::schedule::Schedule& schedule,
                                     const std::string& transport = "isend-irecv");
// Verifies a schedule, and that it is free of deadlock in the posting order of every transport.
tradewind::verify::Verified proved(const tradewind::schedule::Schedule& schedule);

// Calls take(point) for each point of a box, x fastest.
template <class Take>
void for_points(const tradewind::layout::Box& box, Take take) {
    for (Index z = box.begin[2]; z < box.end[2]; ++z)
        for (Index y = box.begin[1]; y < box.end[1]; ++y)
            for (Index x = box.begin[0]; x < box.end[0]; ++x) take(Point{x, y, z});
}
// The number of the boxes that each point lies in.
std::map<Point, int> count_points(const std::vector<tradewind::layout::Box>& boxes);
// The owner of each point by a layout's boxes, x fastest; a point without an owner, or with two, is a failure.
std::vector<Rank> owners_of(const tradewind::layout::Layout& layout);

// The messages of one side of a stage that are not empty.
std::vector<tradewind::schedule::Message> sent(const tradewind::schedule::Schedule& schedule, Rank rank, int stage);
std::vector<tradewind::schedule::Message> received(const tradewind::schedule::Schedule& schedule, Rank rank, int stage);

}  // namespace testing
