#include "testing/drawing.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "pattern/allreduce.hpp"
#include "pattern/fetch_adjoint.hpp"
#include "pattern/gather_scatter_brick.hpp"
#include "schedule/transport.hpp"
#include "verify/deadlock.hpp"

namespace testing {

using namespace tradewind;
using layout::Blocks, layout::Box, layout::Grid, layout::Parts, layout::Product;

namespace {

Grid grid_of(const Point& points) {
    return Grid(points[0], points[1], points[2]);
}

// All splits of `ranks` that leave no part of a grid of `points` empty.
std::vector<std::array<Index, 2>> splits(const Point& points, Rank ranks, const std::string& axes) {
    std::vector<std::array<Index, 2>> found;
    for (Index a = 1; a <= points[axes[0] - 'x']; ++a) {
        if (ranks % a == 0 && ranks / a <= points[axes[1] - 'x']) found.push_back({a, ranks / a});
    }
    return found;
}

const std::vector<std::string>& all_axes() {
    static const std::vector<std::string> axes{"xy", "yx", "xz", "zx", "yz", "zy"};
    return axes;
}

std::array<bool, 2> draw_periods(Draw& draw) {
    return {draw.boolean(), draw.boolean()};
}

std::array<Index, 2> draw_split(Draw& draw, Rank max_ranks) {
    const auto a = draw.integer(1, max_ranks);
    return {a, draw.integer(1, max_ranks / a)};
}

Parts draw_dealt(Draw& draw, Index points, Index parts) {
    std::vector<std::int32_t> owners;
    for (Index i = 0; i < points; ++i) owners.push_back(static_cast<std::int32_t>(i % parts));
    owners = draw.shuffled(owners);
    if (draw.boolean()) std::sort(owners.begin(), owners.end());
    return Parts::dealt(owners, parts);
}

RedistributionPtr draw_redistribution_of(Draw& draw, const Point& points, Product before, Product after) {
    if (draw.boolean()) {
        const auto lines = draw_lines(draw, points);
        before = before.in_lines(lines), after = after.in_lines(lines);
    }
    return std::make_shared<pattern::Redistribution>(std::make_shared<Product>(before),
                                                     std::make_shared<Product>(after));
}

}  // namespace

Point draw_points(Draw& draw, Index maximum) {
    return {draw.integer(1, maximum), draw.integer(1, maximum), draw.integer(1, maximum)};
}

Blocks draw_blocks(Draw& draw, const Point& points, Rank max_ranks, const std::vector<std::string>& axes, Rank ranks) {
    std::vector<std::string> fitting = axes.empty() ? all_axes() : axes;
    std::erase_if(fitting, [&](auto& each) { return ranks != 0 && splits(points, ranks, each).empty(); });
    const auto& chosen = draw.from(fitting);
    if (ranks != 0) return Blocks(grid_of(points), draw.from(splits(points, ranks, chosen)), chosen);
    const auto a = draw.integer(1, std::min<Index>(max_ranks, points[chosen[0] - 'x']));
    return Blocks(grid_of(points), {a, draw.integer(1, std::min(max_ranks / a, points[chosen[1] - 'x']))}, chosen);
}

TransposePtr draw_transpose(Draw& draw, Rank max_ranks) {
    const auto points = draw_points(draw);
    const auto before = draw_blocks(draw, points, max_ranks);
    return std::make_shared<pattern::Transpose>(before, draw_blocks(draw, points, max_ranks, {}, before.ranks()));
}

TransposePtr draw_slab_transpose(Draw& draw, Rank max_ranks) {
    static const std::vector<std::array<std::string, 2>> pairs{
        {"xy", "zy"}, {"zy", "zx"}, {"zx", "yx"}, {"xy", "xz"}, {"xz", "yz"}};
    const auto& [before, after] = draw.from(pairs);
    const auto split = draw_split(draw, max_ranks);
    const auto widest = std::max(split[0], split[1]);
    Point points;
    for (auto& each : points) each = draw.integer(widest, widest + 30);
    return std::make_shared<pattern::Transpose>(Blocks(grid_of(points), split, before),
                                                Blocks(grid_of(points), split, after));
}

Parts draw_parts(Draw& draw, Index points, Index parts) {
    const auto kind = draw.integer(0, 2);
    if (kind == 0) return Parts::even(points, parts);
    if (kind == 1) {
        std::vector<Index> cuts{0, points};
        for (Index i = 1; i < parts; ++i) cuts.push_back(draw.integer(0, points));
        std::sort(cuts.begin(), cuts.end());
        return Parts::cut(cuts);
    }
    std::vector<std::int32_t> owners;
    for (Index i = 0; i < points; ++i) owners.push_back(static_cast<std::int32_t>(draw.integer(0, parts - 1)));
    return Parts::dealt(owners, parts);
}

Product draw_product(Draw& draw, const Point& points, Rank ranks) {
    const auto split = draw_split(draw, ranks);
    const auto first = static_cast<Rank>(draw.integer(0, ranks - split[0] * split[1]));
    std::array parts{Parts::even(points[0], 1), Parts::even(points[1], 1), Parts::even(points[2], 1)};
    std::array<int, 3> coordinates{-1, -1, -1};
    const auto axes = draw.shuffled(std::vector<std::size_t>{0, 1, 2});
    for (int coordinate : {0, 1}) {
        const auto axis = axes[static_cast<std::size_t>(coordinate)];
        coordinates[axis] = coordinate;
        parts[axis] = draw_parts(draw, points[axis], split[static_cast<std::size_t>(coordinate)]);
    }
    return Product(grid_of(points), parts, coordinates, first, ranks, "a layout");
}

layout::Lines draw_lines(Draw& draw, const Point& points) {
    std::vector<Index> begins, ends;
    for (Index line = 0; line < points[2]; ++line) {
        begins.push_back(draw.integer(0, points[1]));
        ends.push_back(draw.integer(begins.back(), points[1]));
    }
    if (begins == ends) begins[0] = 0, ends[0] = points[1];
    return {begins, ends};
}

RedistributionPtr draw_redistribution(Draw& draw, Rank max_ranks) {
    const auto points = draw_points(draw, 9);
    const auto ranks = static_cast<Rank>(draw.integer(1, max_ranks));
    const auto before = draw_product(draw, points, ranks);
    return draw_redistribution_of(draw, points, before, draw_product(draw, points, ranks));
}

RedistributionPtr draw_closed_redistribution(Draw& draw, Rank max_ranks) {
    const auto split = draw_split(draw, max_ranks);
    const auto widest = std::max(split[0], split[1]);
    Point points;
    for (auto& each : points) each = draw.integer(widest, widest + 8);
    const auto axes = draw.shuffled(std::vector<std::size_t>{0, 1, 2});  // divided before, after, and all the time
    const auto moving = draw.integer(0, 1), staying = 1 - moving;
    const auto dealt = [&](std::size_t axis, Index coordinate) {
        return draw_dealt(draw, points[axis], split[static_cast<std::size_t>(coordinate)]);
    };
    const auto stays = dealt(axes[2], staying);
    const auto made = [&](std::size_t axis) {
        std::array parts{Parts::even(points[0], 1), Parts::even(points[1], 1), Parts::even(points[2], 1)};
        std::array<int, 3> coordinates{-1, -1, -1};
        parts[axis] = dealt(axis, moving), coordinates[axis] = static_cast<int>(moving);
        parts[axes[2]] = stays, coordinates[axes[2]] = static_cast<int>(staying);
        const auto ranks = static_cast<Rank>(split[0] * split[1]);
        return Product(grid_of(points), parts, coordinates, 0, ranks, "a layout");
    };
    const auto before = made(axes[0]);
    return draw_redistribution_of(draw, points, before, made(axes[1]));
}

std::shared_ptr<const pattern::Halo> draw_halo(Draw& draw, Rank max_ranks, Index max_width) {
    const auto layout = draw_blocks(draw, draw_points(draw), max_ranks, {"xy", "xy", "yx", "xz", "zy"});
    const auto width = draw.boolean() ? draw.integer(0, max_width) : draw.integer(0, std::min<Index>(4, max_width));
    return std::make_shared<pattern::Halo>(layout, width, draw_periods(draw));
}

std::shared_ptr<const pattern::Fetch> draw_fetch(Draw& draw, Lists& lists, Rank max_ranks) {
    const auto ranks = draw.integer(1, max_ranks);
    std::vector<Index> sources;
    std::vector<std::array<Index, 2>> every;  // rank, index
    for (Index rank = 0; rank < ranks; ++rank) {
        sources.push_back(draw.integer(0, 9));
        for (Index i = 0; i < sources.back(); ++i) every.push_back({rank, i});
    }
    const bool one_array = draw.boolean();
    for (Index rank = 0; rank < ranks; ++rank) {
        auto& list = lists.wanted.emplace_back();
        for (Index left = every.empty() ? 0 : draw.integer(0, 8); left > 0; --left) {  // runs of points that follow
            const auto begin = draw.integer(0, static_cast<Index>(every.size()) - 1);
            const auto end = std::min(begin + draw.integer(1, 4), static_cast<Index>(every.size()));
            for (Index i = begin; i < end; ++i) {
                list.owner.push_back(static_cast<Rank>(every[static_cast<std::size_t>(i)][0]));
                list.index.push_back(every[static_cast<std::size_t>(i)][1]);
            }
        }
        const auto begin = one_array ? sources[static_cast<std::size_t>(rank)] : 0;
        std::vector<Index> places(list.owner.size() + static_cast<std::size_t>(draw.integer(0, 3)));
        std::iota(places.begin(), places.end(), begin);
        list.target = begin + static_cast<Index>(places.size());
        if (draw.boolean()) places = draw.shuffled(places);
        list.place.assign(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(list.owner.size()));
        if (one_array) sources[static_cast<std::size_t>(rank)] = list.target;
    }
    return std::make_shared<pattern::Fetch>(sources, lists.wanted, one_array)
        ->with_levels({draw.integer(1, 2), draw.integer(1, 3)});
}

std::shared_ptr<const pattern::GatherScatter> draw_gather_scatter(Draw& draw, Lists& lists, Rank max_ranks) {
    const std::array levels{draw.integer(1, 2), draw.integer(1, 2)};
    if (draw.boolean()) {
        const Point split = draw_points(draw, 3), elements = draw_points(draw, 2);
        const std::array periodic{draw.boolean(), draw.boolean(), draw.boolean()};
        const pattern::Brick brick(elements, draw.integer(2, 3), split, periodic);
        const pattern::BrickGatherScatter made(brick, "add");
        for (Rank rank = 0; rank < made.ranks(); ++rank) lists.ids.push_back(made.ids(rank));
        return made.with_levels(levels);
    }
    constexpr auto highest = std::numeric_limits<Index>::max();
    std::vector<Index> pool{1, highest, 0, -5, highest - 1};
    for (Index left = draw.integer(0, 11); left > 0; --left) pool.push_back(draw.integer(1, highest));
    lists.ids.resize(static_cast<std::size_t>(draw.integer(1, max_ranks)));
    for (auto& list : lists.ids) {
        for (Index left = draw.integer(0, 20); left > 0; --left) list.push_back(draw.from(pool));
    }
    return pattern::ListedGatherScatter(lists.ids, draw.boolean() ? "min" : "add").with_levels(levels);
}

PatternPtr draw_pattern(Draw& draw, const std::string& name) {
    Lists lists;
    return draw_pattern(draw, name, lists);
}

PatternPtr draw_pattern(Draw& draw, const std::string& name, Lists& lists) {
    if (name == "halo") return draw_halo(draw);
    if (name == "gather-scatter") return draw_gather_scatter(draw, lists);
    if (name == "allreduce") {
        static const std::vector<Index> counts{1, 2, 3, 7, 40, 100};
        const auto ranks = static_cast<Rank>(draw.boolean() ? draw.integer(1, 140) : draw.integer(1, 20));
        return std::make_shared<pattern::AllReduce>(ranks, draw.from(counts));
    }
    if (name == "fetch") {
        auto fetch = draw_fetch(draw, lists);
        if (draw.boolean()) return std::make_shared<pattern::FetchAdjoint>(std::move(fetch));
        return fetch;
    }
    if (name != "transpose") throw std::logic_error("tests/testing/drawing.cpp draws no pattern '" + name + "'");
    switch (draw.integer(0, 3)) {
        case 0: return draw_transpose(draw);
        case 1: return draw_slab_transpose(draw);
        case 2: return draw_redistribution(draw);
        default: return draw_closed_redistribution(draw);
    }
}

std::vector<std::string> names_of(const algorithm::AlgorithmEntry& entry, const pattern::Pattern& pattern) {
    if (entry.pattern != pattern.name()) return {};
    // Bruck passes blocks on within closed groups; two-level does, too, and between other layouts through all nodes.
    const auto* const blocks = dynamic_cast<const pattern::Transpose*>(&pattern);
    const auto* const any = dynamic_cast<const pattern::Redistribution*>(&pattern);
    const bool store_and_forward = entry.name == "bruck" || entry.name == "two-level-k";
    if (blocks && store_and_forward && !blocks->complete()) return {};
    if (any && entry.name == "bruck" && !any->closed()) return {};
    if (entry.name == "cartesian" && !dynamic_cast<const pattern::BrickGatherScatter*>(&pattern)) return {};
    if (!entry.has_radix) return {entry.name};
    std::vector<std::string> names;
    const auto [minimum, maximum] = entry.radices(pattern);
    for (Index k = minimum; k <= std::min<Index>(maximum, 64); ++k) {
        names.push_back(entry.name.substr(0, entry.name.size() - 1) + std::to_string(k));
    }
    return names;
}

std::vector<std::string> algorithm_names(const pattern::Pattern& pattern) {
    std::vector<std::string> names;
    for (const auto& entry : algorithm::algorithms()) {
        for (auto& name : names_of(entry, pattern)) names.push_back(std::move(name));
    }
    return names;
}

SchedulePtr draw_schedule(Draw& draw, const PatternPtr& pattern) {
    const auto names = algorithm_names(*pattern);
    const auto& name = draw.from(names);
    draw.note(name + ": " + pattern->describe());
    return algorithm::make_schedule(pattern, name);
}

TransposePtr row_of(Rank ranks, const Point& points) {
    const std::array<Index, 2> split{ranks, 1};
    return std::make_shared<pattern::Transpose>(Blocks(grid_of(points), split, "xy"),
                                                Blocks(grid_of(points), split, "zy"));
}

verify::Verified verified(const schedule::Schedule& schedule, const std::string& transport) {
    return verify::prove(schedule, {transport}, [](int) {});
}

verify::Verified proved(const schedule::Schedule& schedule) {
    const auto found = verified(schedule);
    for (int stage = 0; stage < schedule.stages(); ++stage) {
        const auto matches = verify::match_stage(schedule, stage);
        std::vector<schedule::PostingOrder> known;
        for (const auto& entry : schedule::transports()) {
            if (std::find(known.begin(), known.end(), entry.posting) != known.end()) continue;
            verify::check_deadlock(schedule, stage, matches, entry);
            known.push_back(entry.posting);
        }
    }
    return found;
}

std::map<Point, int> count_points(const std::vector<Box>& boxes) {
    std::map<Point, int> count;
    for (const auto& box : boxes) for_points(box, [&](const Point& point) { ++count[point]; });
    return count;
}

std::vector<Rank> owners_of(const layout::Layout& layout) {
    const auto& n = layout.grid().points;
    std::vector<Rank> owners(static_cast<std::size_t>(layout.grid().volume()), -1);
    for (Rank rank = 0; rank < layout.ranks(); ++rank) {
        for (const auto& box : layout.boxes(rank)) {
            for_points(box, [&](const Point& p) {
                auto& owner = owners.at(static_cast<std::size_t>(p[0] + n[0] * (p[1] + n[1] * p[2])));
                check(owner == -1, "a point has one owner: that");
                owner = rank;
            });
        }
    }
    check(std::find(owners.begin(), owners.end(), -1) == owners.end(), "each point has an owner: that");
    return owners;
}

std::vector<schedule::Message> sent(const schedule::Schedule& schedule, Rank rank, int stage) {
    std::vector<schedule::Message> messages;
    for (int j = 0; j < schedule.sends(rank, stage); ++j) {
        if (const auto message = schedule.send(rank, stage, j); message.count > 0) messages.push_back(message);
    }
    return messages;
}

std::vector<schedule::Message> received(const schedule::Schedule& schedule, Rank rank, int stage) {
    std::vector<schedule::Message> messages;
    for (int j = 0; j < schedule.receives(rank, stage); ++j) {
        if (const auto message = schedule.receive(rank, stage, j); message.count > 0) messages.push_back(message);
    }
    return messages;
}

}  // namespace testing
