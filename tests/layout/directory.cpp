// Who owns a point that is known by a number: of a directory, of lists and of the columns of a grid.
#include "layout/directory.hpp"

#include <limits>
#include <numeric>
#include <set>

#include "base/error.hpp"
#include "layout/columns.hpp"
#include "layout/lists.hpp"
#include "testing/drawing.hpp"

namespace testing::layout_directory {

using namespace tradewind;

constexpr Index highest = std::numeric_limits<Index>::max();

// Ids in ways that a directory keeps differently, each once.
std::vector<Index> draw_ids(Draw& draw) {
    const auto n = draw.integer(2, 200);
    const auto way = draw.integer(0, 8);
    std::set<Index> ids;
    const auto among = [&](Index first, Index last, Index many) {
        for (Index left = many; left > 0; --left) ids.insert(draw.integer(first, last));
    };
    const Index step = std::array{1, 1, 1, 63, 64, 65, 1, 1, 1}[static_cast<std::size_t>(way)];
    if (way == 0 || (way >= 3 && way <= 5)) {  // without a gap; on either side of where few are
        for (Index i = 0; i < n; ++i) ids.insert(7 + step * i);
    }
    if (way == 1) among(0, n + 3, n);        // a few gaps
    if (way == 2) among(0, 40 * n, n);       // evenly
    if (way == 6) among(0, highest - 1, n);  // far apart
    if (way == 7) {                          // clusters
        for (const Index center : {Index{0}, Index{1000000}, Index{1} << 61}) among(center, center + n, n);
    }
    if (way == 8) {  // all but one, at the end
        for (Index i = 0; i < n; ++i) ids.insert(i);
        ids.insert(draw.boolean() ? highest : Index{1} << 62);
    }
    return draw.shuffled(std::vector(ids.begin(), ids.end()));
}

PROPERTY("owners are those of a table, and unowned ids are not found", 2000) {
    const auto ids = draw_ids(draw);
    layout::Directory directory;
    std::map<Index, layout::Owner> table;
    std::vector<Index> asked{0, highest, Index{1} << 62};
    const auto ranks = draw.integer(1, 4);
    for (Rank rank = 0; rank < ranks; ++rank) {
        const auto begin = ids.size() * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks);
        const auto end = ids.size() * static_cast<std::size_t>(rank + 1) / static_cast<std::size_t>(ranks);
        const std::vector<Index> own(ids.begin() + static_cast<std::ptrdiff_t>(begin),
                                     ids.begin() + static_cast<std::ptrdiff_t>(end));
        directory.add(rank, own);
        for (std::size_t i = 0; i < own.size(); ++i) {
            table[own[i]] = {rank, static_cast<Index>(i)};
            asked.insert(asked.end(), {own[i], own[i] - 1, own[i] == highest ? -5 : own[i] + 1});
        }
    }
    CHECK_EQUAL(directory.finish(), "");
    std::size_t calls = 0;
    directory.find_each(asked, [&](std::size_t i, layout::OwnerWord owner) {
        CHECK_EQUAL(i, calls++);
        const auto known = table.find(asked[i]);
        CHECK_EQUAL(owner.is_none(), known == table.end());
        CHECK_EQUAL(owner.rank(), known == table.end() ? -1 : known->second.rank);
        CHECK(owner.is_none() || owner.index() == known->second.index);
    });
    CHECK_EQUAL(calls, asked.size());
}

TEST("an owner in a word is the same owner, up to the points that a rank may have") {
    constexpr Index last = layout::OwnerWord::points_per_rank - 1;
    for (const auto& [rank, index] : {layout::Owner{0, 0}, layout::Owner{std::numeric_limits<Rank>::max() - 1, last}}) {
        const layout::OwnerWord owner({rank, index});
        CHECK(!owner.is_none());
        CHECK_EQUAL(owner.rank(), rank);
        CHECK_EQUAL(owner.index(), index);
    }
    layout::Directory directory;
    directory.add(3, {0, last + 1});
    CHECK_EQUAL(directory.finish(), "a rank owns 8589934592 points with ids: up to 8589934591 are allowed");
}

PROPERTY("a point that is owned twice, and a negative one, are named", 500) {
    auto ids = draw_ids(draw);
    layout::Directory directory;
    const auto twice = draw.from(ids);
    const bool negative = draw.boolean();
    ids.push_back(negative ? -3 : twice);
    directory.add(0, draw.shuffled(ids));
    const auto problem = directory.finish();
    CHECK(problem.find(negative ? "rank 0 owns point -3: 0 and more are allowed"
                                : "point " + std::to_string(twice) + " is owned twice: by rank 0 ") != problem.npos);
}

PROPERTY("lists have the points in the order of the arrays", 500) {
    std::vector<Index> order(static_cast<std::size_t>(draw.integer(1, 24)));
    std::iota(order.begin(), order.end(), 0);
    order = draw.shuffled(order);
    std::vector<std::vector<Index>> ids(static_cast<std::size_t>(draw.integer(1, 4)));
    std::vector<Rank> owners(order.size());
    for (const auto id : order) {
        const auto rank = draw.integer(0, static_cast<Index>(ids.size()) - 1);
        ids[static_cast<std::size_t>(rank)].push_back(id);
        owners[static_cast<std::size_t>(id)] = static_cast<Rank>(rank);
    }
    const layout::Lists layout(ids);
    CHECK_EQUAL(owners_of(layout), owners);
    for (Rank rank = 0; rank < layout.ranks(); ++rank) {
        std::vector<Index> found;
        for (const auto& box : layout.boxes(rank)) {
            for_points(box, [&](const Point& point) { found.push_back(point[0]); });
        }
        CHECK_EQUAL(found, ids[static_cast<std::size_t>(rank)]);
        CHECK_EQUAL(layout.ids(rank), ids[static_cast<std::size_t>(rank)]);
    }
    for (const auto id : order) CHECK_EQUAL(layout.owner({id, 0, 0}), owners[static_cast<std::size_t>(id)]);
}

TEST("lists that are no layout are refused") {
    using layout::Lists;
    CHECK_THROWS(InputError, ({"rank 1 owns point 3 of 3: each of 0..2 has one owner"}), Lists({{0, 1}, {3}}));
    CHECK_THROWS(InputError, ({"point 1 is owned twice"}), Lists({{0, 1}, {1}}));
    CHECK_THROWS(InputError, ({"lists of 2 ranks hold no points"}), Lists({{}, {}}));
}

PROPERTY("columns of a grid have the owners of its blocks, and runs as long as they lie behind each other", 1000) {
    auto points = draw_points(draw);
    points[2] = 1;
    const auto blocks = draw_blocks(draw, points, 40, {"xy", "yx"});
    const layout::Columns columns(blocks);
    const layout::Columns::Finder finder(columns);
    const auto nx = points[0];
    std::vector<layout::Owner> truth;
    for (Index id = 0; id < columns.points(); ++id) {
        const auto rank = blocks.owner({id % nx, id / nx, 0});
        const auto box = blocks.box(rank);
        truth.push_back({rank, id % nx - box.begin[0] + box.width(0) * (id / nx - box.begin[1])});
    }
    CHECK_EQUAL(columns.points(), nx * points[1]);
    for (Index id = 0; id < columns.points(); ++id) {
        const auto& [rank, index] = truth[static_cast<std::size_t>(id)];
        Index length = 1;
        while (id + length < columns.points()) {
            const auto& next = truth[static_cast<std::size_t>(id + length)];
            if (next.rank != rank || next.index != index + length) break;
            ++length;
        }
        const auto run = finder.from(id);
        CHECK_EQUAL(run.first.rank, rank);
        CHECK_EQUAL(run.first.index, index);
        CHECK_EQUAL(run.length, length);
        // A run that ends within, at the end and beyond what lies behind each other, and one of no such points.
        const std::vector<Index> begins{0, draw.integer(1, length + 2), length + 3};
        std::array<Rank, 2> owners;
        std::array<Index, 2> sources;
        std::vector<Index> list(static_cast<std::size_t>(begins[2]), -1);
        std::iota(list.begin(), list.begin() + begins[1], id);
        CHECK(!columns.find(list.data(), begins.data(), 2, owners.data(), sources.data()));
        CHECK_EQUAL(owners[0], begins[1] <= length ? rank : -1);
        CHECK(owners[0] == -1 || sources[0] == index);
        CHECK_EQUAL(owners[1], -1);
    }
}

}  // namespace testing::layout_directory
