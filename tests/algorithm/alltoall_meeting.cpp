// All-to-all algorithms between layouts of any closed form: no more messages, points and rounds than needed.
#include <algorithm>
#include <bit>
#include <set>

#include "base/error.hpp"
#include "testing/drawing.hpp"

namespace testing::algorithm_alltoall_meeting {

using namespace tradewind;
using algorithm::make_schedule, layout::Blocks, layout::Grid, layout::Parts, layout::Product, pattern::Redistribution;

RedistributionPtr draw_any(Draw& draw) {
    return draw.boolean() ? draw_redistribution(draw) : draw_closed_redistribution(draw, 20);
}

std::set<std::array<Rank, 2>> pairs_of(const Redistribution& pattern, Index& moved) {
    const auto before = owners_of(pattern.from()), after = owners_of(pattern.to());
    std::set<std::array<Rank, 2>> pairs;
    moved = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (before[i] == after[i]) continue;
        pairs.insert({before[i], after[i]});
        ++moved;
    }
    return pairs;
}

PROPERTY("who sends blocks straight sends each point once, in one message for each pair of ranks", 500) {
    const auto pattern = draw_any(draw);
    Index moved = 0;
    const auto pairs = pairs_of(*pattern, moved);
    for (const auto& name : algorithm_names(*pattern)) {
        if (name.starts_with("bruck") || name.starts_with("two-level")) continue;
        const auto found = verified(*make_schedule(pattern, name));
        CHECK_EQUAL(found.points, moved);
        CHECK_EQUAL(found.messages, static_cast<Index>(pairs.size()));
    }
    CHECK_EQUAL(make_schedule(pattern, "burst")->stages(), 1);
}

PROPERTY("bruck takes ceil(log2 n) stages of one message from each rank", 300) {
    const auto pattern = draw_closed_redistribution(draw);
    CHECK(pattern->closed());
    const auto schedule = make_schedule(pattern, "bruck");
    const auto n = static_cast<unsigned>(pattern->largest_group());
    CHECK_EQUAL(schedule->stages(), std::max(1, static_cast<int>(std::bit_width(n - 1))));
    CHECK(verified(*schedule).messages <= pattern->ranks() * schedule->stages());
}

PROPERTY("two-level sends one message between two nodes of a group", 500) {
    const auto pattern = draw_any(draw);
    const auto size = static_cast<Rank>(draw.integer(1, std::min(12, pattern->ranks())));
    const auto schedule = make_schedule(pattern, "two-level-" + std::to_string(size));
    std::set<std::array<Rank, 3>> between;
    for (int stage = 0; stage < schedule->stages(); ++stage) {
        for (Rank rank = 0; rank < pattern->ranks(); ++rank) {
            for (const auto& message : sent(*schedule, rank, stage)) {
                if (message.peer / size == rank / size) continue;
                const Rank group = pattern->closed() ? pattern->group(rank) : 0;  // on one node each sends its own
                CHECK(between.insert({group, rank / size, message.peer / size}).second);
            }
        }
    }
}

std::shared_ptr<const Product> product(const Blocks& blocks) {
    return std::make_shared<Product>(blocks);
}

TEST("a row of ranks takes as many stages, with the same messages, as between blocks") {
    for (const Rank n : {1, 2, 3, 7, 12}) {
        const auto one = row_of(n, {12, 3, 13});
        const auto other = std::make_shared<Redistribution>(product(one->from()), product(one->to()));
        for (Rank k = 1; k < std::max(2, n); ++k) {
            const auto first = make_schedule(one, "ring-" + std::to_string(k));
            const auto second = make_schedule(other, "ring-" + std::to_string(k));
            CHECK_EQUAL(first->stages(), second->stages());
            for (int stage = 0; stage < first->stages(); ++stage) {
                for (Rank rank = 0; rank < n; ++rank) {
                    std::set<std::array<Index, 2>> mine, theirs;
                    for (const auto& m : sent(*first, rank, stage)) mine.insert({m.peer, m.count});
                    for (const auto& m : sent(*second, rank, stage)) theirs.insert({m.peer, m.count});
                    CHECK(mine == theirs);
                }
            }
        }
    }
}

TEST("fields on servers take as many rounds as there are senders") {
    const Grid grid(8, 6, 10);
    const auto model = std::make_shared<Product>(Product(Blocks(grid, {4, 3})).placed(0, 14));
    const auto deal = Parts::dealt({0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, 2);
    const auto whole = std::make_shared<Product>(grid, std::array{Parts::even(8, 1), Parts::even(6, 1), deal},
                                                 std::array{-1, -1, 0}, 12, 14, "whole fields");
    const auto pattern = std::make_shared<Redistribution>(model, whole);
    CHECK_EQUAL(make_schedule(pattern, "ring-1")->stages(), 12);
    CHECK_EQUAL(make_schedule(pattern, "ring-6")->stages(), 2);
    const auto burst = make_schedule(pattern, "burst");
    for (Rank rank = 0; rank < 14; ++rank) CHECK_EQUAL(received(*burst, rank, 0).size(), rank < 12 ? 0u : 12u);
}

TEST("bands cut elsewhere take about as many rounds as a rank has partners") {
    // Bands of equal numbers of points, whole rows after: neighbours alone meet, however many ranks there are.
    const Rank ranks = 500;
    std::vector<Index> cuts{0};
    for (Index row = 0; row < 250; ++row) cuts.push_back(cuts.back() + 20 + 4 * std::min(row, 249 - row));
    const Grid grid(cuts.back(), 1, 4);
    const auto bands = std::make_shared<Product>(
        grid, std::array{Parts::even(cuts.back(), ranks), Parts::even(1, 1), Parts::even(4, 1)}, std::array{0, -1, -1},
        0, ranks, "bands");
    const auto rows =
        std::make_shared<Product>(grid, std::array{Parts::cut(cuts), Parts::even(1, 1), Parts::even(4, 2)},
                                  std::array{0, -1, 1}, 0, ranks, "rows");
    const auto pattern = std::make_shared<Redistribution>(bands, rows);
    Index moved = 0;
    std::map<Rank, int> senders;
    for (const auto& pair : pairs_of(*pattern, moved)) ++senders[pair[1]];
    int partners = 0;
    for (const auto& each : senders) partners = std::max(partners, each.second + 1);
    CHECK(partners <= 10);
    CHECK(make_schedule(pattern, "ring-1")->stages() <= 3 * partners);
}

TEST("what cannot be is refused, with the reason") {
    const Grid grid(4, 4, 4);
    const auto pattern =
        std::make_shared<Redistribution>(product(Blocks(grid, {2, 2})), product(Blocks(grid, {4, 1}, "zx")));
    CHECK_THROWS(InputError, ({"senders of each group must be its receivers", "use ring-k, pairwise, burst"}),
                 make_schedule(pattern, "bruck"));
    CHECK_THROWS(InputError, ({"radix 9 is out of range, 1..4 are allowed for a transposition of 4 rounds"}),
                 make_schedule(pattern, "ring-9"));
}

}  // namespace testing::algorithm_alltoall_meeting
