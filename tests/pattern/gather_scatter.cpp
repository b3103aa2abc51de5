// Which ids are shared, and how they are numbered. tests/testing/executed.cpp holds all values against sums over ids.
#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "pattern/gather_scatter_brick.hpp"
#include "testing/drawing.hpp"

namespace testing::pattern_gather_scatter {

using namespace tradewind;
using pattern::Brick, pattern::BrickGatherScatter, pattern::GatherScatter, pattern::ListedGatherScatter;

PROPERTY("cells are the ids that several ranks have, numbered from 0 without a gap, alike on all of them", 1000) {
    Lists lists;
    const auto pattern = draw_gather_scatter(draw, lists);
    std::map<Index, std::set<Rank>> ranks_of;
    for (Rank rank = 0; rank < pattern->ranks(); ++rank) {
        const auto& ids = lists.ids[static_cast<std::size_t>(rank)];
        CHECK_EQUAL(pattern->values(rank), static_cast<Index>(ids.size()));
        for (const auto id : ids) {
            if (id > 0) ranks_of[id].insert(rank);
        }
    }
    std::erase_if(ranks_of, [](auto& each) { return each.second.size() < 2; });
    CHECK_EQUAL(pattern->shared(), static_cast<Index>(ranks_of.size()));
    std::map<Index, Index> number_of;
    std::set<Index> numbers;
    for (Rank rank = 0; rank < pattern->ranks(); ++rank) {
        std::set<Index> right, found;
        Index received = 0;
        for (const auto& [id, ranks] : ranks_of) {
            if (!ranks.contains(rank)) continue;
            right.insert(id);
            received += static_cast<Index>(ranks.size()) - 1;
        }
        for (Index cell = 0; cell < pattern->cells(rank); ++cell) {
            const auto id = pattern->id(rank, cell), number = pattern->number(rank, cell);
            CHECK(found.insert(id).second);
            CHECK(number >= 0 && number < pattern->shared());
            CHECK_EQUAL(number_of.try_emplace(id, number).first->second, number);
            numbers.insert(number);
        }
        CHECK(found == right);
        CHECK_EQUAL(pattern->received(rank), received);
    }
    CHECK_EQUAL(numbers.size(), ranks_of.size());
}

PROPERTY("the ids of a brick are those of its points, counted element by element", 200) {
    const auto split = draw_points(draw, 4), elements = draw_points(draw, 3);
    const auto n = draw.integer(2, 4);
    const std::array periodic{draw.boolean(), draw.boolean(), draw.boolean()};
    const BrickGatherScatter brick(Brick(elements, n, split, periodic), "add");
    Point widths;
    for (std::size_t a = 0; a < 3; ++a) widths[a] = split[a] * elements[a] * (n - 1) + !periodic[a];
    Rank rank = 0;
    for_points({{0, 0, 0}, split}, [&](const Point& at) {
        std::vector<Index> ids;
        for_points({{0, 0, 0}, elements}, [&](const Point& element) {
            for_points({{0, 0, 0}, {n, n, n}}, [&](const Point& point) {
                Point p;
                for (std::size_t a = 0; a < 3; ++a) {
                    p[a] = ((at[a] * elements[a] + element[a]) * (n - 1) + point[a]) % widths[a];
                }
                ids.push_back(1 + p[0] + widths[0] * (p[1] + widths[1] * p[2]));
            });
        });
        CHECK_EQUAL(brick.ids(rank++), ids);
    });
    // As lists it is the same, number by number.
    const auto lists = pattern::listed(brick);
    for (rank = 0; rank < brick.ranks(); ++rank) {
        std::map<Index, Index> one, other;
        CHECK_EQUAL(brick.cells(rank), lists->cells(rank));
        for (Index cell = 0; cell < brick.cells(rank); ++cell) {
            one[brick.id(rank, cell)] = brick.number(rank, cell);
            other[lists->id(rank, cell)] = lists->number(rank, cell);
        }
        CHECK(one == other);
    }
}

// All places of groups, in the order in which they are combined.
std::vector<std::vector<Index>> groups_of(const pattern::Copies& copies, bool by_cell) {
    std::map<Index, std::vector<Index>> of_cell;
    std::vector<std::vector<Index>> groups;
    const auto add = [&](Index cell, std::vector<Index> places) {
        groups.push_back(places);
        CHECK(!by_cell || of_cell.emplace(cell, std::move(places)).second);
    };
    for (const auto& sweep : copies.sweeps()) {
        for (Index i = 0; i < sweep.count[1]; ++i) {
            for (Index j = 0; j < sweep.count[0]; ++j) {
                std::vector<Index> places;
                for (std::size_t k = 0; k < sweep.size; ++k) {
                    places.push_back(copies.places()[sweep.first + k] + i * sweep.step[1] + j * sweep.step[0]);
                }
                add(sweep.cell + i * sweep.cell_step[1] + j * sweep.cell_step[0], places);
            }
        }
    }
    for (const auto& list : copies.lists()) {
        for (std::size_t i = 0; i < list.count; ++i) {
            std::vector<Index> places;
            for (std::size_t k = 0; k < list.size; ++k)
                places.push_back(copies.places()[list.first + k * list.count + i]);
            add(copies.cells()[list.first_cell + i], places);
        }
    }
    CHECK_EQUAL(groups.size(), copies.groups());
    if (by_cell) {
        groups.clear();
        for (auto& each : of_cell) groups.push_back(std::move(each.second));
    }
    return groups;
}

PROPERTY("groups are kept whole, whether they follow each other at constant distances or not", 1000) {
    std::vector<std::size_t> begins{0};
    std::vector<Index> places;
    Index next = 0;
    for (Index left = draw.integer(0, 4); left > 0; --left) {  // faces of points, or groups of any
        const auto size = draw.integer(1, 4), count = draw.integer(1, 12), step = draw.integer(1, 9);
        const auto apart = draw.integer(1, 50);
        for (Index i = 0; i < count; ++i) {
            for (Index k = 0; k < size; ++k) places.push_back(next + i * step + k * apart * 50);
            begins.push_back(places.size());
        }
        next = draw.integer(0, 1'000'000);
    }
    std::vector<std::vector<Index>> right;
    for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
        right.emplace_back(places.begin() + static_cast<std::ptrdiff_t>(begins[i]),
                           places.begin() + static_cast<std::ptrdiff_t>(begins[i + 1]));
    }
    const bool sweeps = draw.boolean();
    const pattern::Copies copies(begins, places, sweeps);
    CHECK(groups_of(copies, true) == right);
    CHECK(sweeps || copies.sweeps().empty());
}

PROPERTY("loops of every element type and operation combine groups in their order", 500) {
    static const std::vector<std::string> elements{"f4", "f8", "i4", "i8"}, operations{"add", "mul", "min", "max"};
    const auto& element = draw.from(elements);
    const auto& operation = draw.from(operations);
    const auto& loops = pattern::copy_loops(element, operation);
    const auto run = [&]<class T>(T) {
        const auto stride = static_cast<std::size_t>(draw.integer(1, 3));  // of a line among others
        std::vector<Index> ids(static_cast<std::size_t>(draw.integer(1, 40)));
        for (auto& id : ids) id = draw.integer(0, 12);
        std::vector<T> values(ids.size() * stride, T{99});
        std::map<Index, T> right;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const T value = values[i * stride] = static_cast<T>(draw.integer(-2, 2));
            if (ids[i] < 1) continue;
            const auto [at, is_new] = right.try_emplace(ids[i], value);
            if (is_new) continue;
            at->second = operation == "add"   ? at->second + value
                         : operation == "mul" ? at->second * value
                         : operation == "min" ? std::min(at->second, value)
                                              : std::max(at->second, value);
        }
        const auto before = values;
        const pattern::Line line{reinterpret_cast<std::byte*>(values.data()), static_cast<Index>(stride * sizeof(T))};
        loops.combine(pattern::OwnIds(ids).split({}).inner, line);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const bool takes_part = i % stride == 0 && ids[i / stride] > 0;
            CHECK_EQUAL(values[i], takes_part ? right[ids[i / stride]] : before[i]);
        }
    };
    if (element == "f4") run(float{});
    if (element == "f8") run(double{});
    if (element == "i4") run(std::int32_t{});
    if (element == "i8") run(std::int64_t{});
}

TEST("what cannot be is refused") {
    const std::vector<std::vector<Index>> ids{{1}, {1}};
    CHECK_THROWS(InputError, ({"operation \"sum\": add, mul, min and max are allowed"}),
                 ListedGatherScatter(ids, "sum"));
    CHECK_THROWS(InputError, ({"element type \"f2\""}), pattern::copy_loops("f2", "add"));
    CHECK_THROWS(InputError, ({"complex numbers"}), pattern::copy_loops("c8", "min"));
    CHECK_THROWS(InputError, ({"the ids of one rank or more are allowed"}), ListedGatherScatter({}, "add"));
    const auto brick = [](const Point& elements, Index points) {
        return Brick(elements, points, {1, 1, 1}, {false, false, false});
    };
    CHECK_THROWS(InputError, ({"1 points per direction of an element: 2 or more"}), brick({1, 1, 1}, 1));
    CHECK_THROWS(InputError, ({"a brick of 1x0x1 elements on each of 1x1x1 ranks"}), brick({1, 0, 1}, 3));
    CHECK_THROWS(InputError, ({"can be counted"}), brick({1 << 20, 1 << 20, 1 << 20}, 3));
    CHECK_THROWS(InputError, ({"cartesian: the ids of a brick of elements are allowed"}),
                 algorithm::make_schedule(std::make_shared<ListedGatherScatter>(ids, "add"), "cartesian"));
}

}  // namespace testing::pattern_gather_scatter
