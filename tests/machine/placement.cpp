// Which node a rank runs on.
#include "machine/placement.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "machine/topology/torus.hpp"
#include "testing/testing.hpp"

namespace testing::placement {

using namespace tradewind;
using machine::Placement;
using Nodes = std::vector<std::uint32_t>;

Nodes nodes(const Placement& placement) {
    Nodes found;
    for (Rank rank = 0; rank < placement.ranks(); ++rank) found.push_back(placement.node(rank));
    return found;
}

// Pairs of neighbours along a row or a column of ranks that are on two nodes.
int apart(const Nodes& place, Rank columns, Rank rows) {
    int pairs = 0;
    for (Rank j = 0; j < rows; ++j) {
        for (Rank i = 0; i < columns; ++i) {
            const auto rank = static_cast<std::size_t>(i + j * columns);
            pairs += i + 1 < columns && place[rank] != place[rank + 1];
            pairs += j + 1 < rows && place[rank] != place[rank + static_cast<std::size_t>(columns)];
        }
    }
    return pairs;
}

TEST("linear fills node after node; round-robin deals to the nodes it needs") {
    CHECK_EQUAL(nodes(Placement("linear", 7, 3, 3, 1)), Nodes{0, 0, 0, 1, 1, 1, 2});
    CHECK_EQUAL(nodes(Placement("round-robin", 7, 3, 9, 1)), Nodes{0, 1, 2, 0, 1, 2, 0});
}

TEST("random uses each node once, is repeated by its seed, and reaches all nodes") {
    for (const std::uint32_t each : {1u, 3u}) {
        const auto found = nodes(Placement("random", 90, each, 100, 4)),
                   linear = nodes(Placement("linear", 90, each, 100, 4));
        std::map<std::uint32_t, std::uint32_t> held;
        int alike = 0;
        for (std::size_t rank = 0; rank < found.size(); ++rank) {
            ++held[found[rank]];
            CHECK(found[rank] < 100);
            alike += found[rank] == linear[rank];
        }
        for (const auto& [node, ranks] : held) CHECK_EQUAL(ranks, each);
        CHECK(alike < 15);
        CHECK(found == nodes(Placement("random", 90, each, 100, 4)));
        CHECK(found != nodes(Placement("random", 90, each, 100, 5)));
    }
    std::vector<int> hits(20);
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        for (const auto node : nodes(Placement("random", 5, 1, 20, seed))) ++hits[node];
    }
    for (const int count : hits) CHECK(count > 50);  // of 100 each
}

TEST("blocks are rectangles where all comes out even") {
    // 8 x 4 ranks, 8 per node: four nodes of 4 x 2; the second band goes back.
    Nodes wanted;
    for (const std::uint32_t node : {0u, 1u, 0u, 1u, 3u, 2u, 3u, 2u}) wanted.insert(wanted.end(), 4, node);
    CHECK_EQUAL(nodes(Placement("blocks", 32, 8, 4, 1, {8, 4})), wanted);
    // Pairs of neighbours apart, of 16 x 16 ranks in nodes of 4 x 4: three lines of 16 each way.
    CHECK_EQUAL(apart(nodes(Placement("blocks", 256, 16, 256, 1, {16, 16})), 16, 16), 2 * 3 * 16);
    // Nodes of 6 x 4 of 24 x 12 ranks: 3 lines of 12, 2 of 24.
    CHECK_EQUAL(apart(nodes(Placement("blocks", 288, 24, 288, 1, {24, 12})), 24, 12), 3 * 12 + 2 * 24);
}

PROPERTY("blocks fill the nodes that linear needs, and part no more neighbours", 200) {
    const auto columns = static_cast<Rank>(draw.integer(1, 30)), rows = static_cast<Rank>(draw.integer(1, 30));
    const auto each = static_cast<std::uint32_t>(draw.integer(1, 40));
    const auto ranks = static_cast<std::uint32_t>(columns * rows), needed = (ranks + each - 1) / each;
    const auto found = nodes(Placement("blocks", columns * rows, each, needed, 1, {columns, rows}));
    std::vector<std::uint32_t> held(needed);
    for (const auto node : found) ++held.at(node);
    for (std::uint32_t node = 0; node < needed; ++node) {
        CHECK_EQUAL(held[node], node + 1 < needed ? each : ranks - (needed - 1) * each);
    }
    CHECK(apart(found, columns, rows) <=
          apart(nodes(Placement("linear", columns * rows, each, needed, 1)), columns, rows));
}

TEST("scattered deals ranks to groups and their switches") {
    struct Case {
        Rank ranks;
        std::uint32_t each;
        std::array<std::uint32_t, 2> holders;
        std::uint32_t count;
        Nodes expected;
    };
    const std::vector<Case> cases = {
        {6, 1, {3, 2}, 12, {0, 4, 8, 2, 6, 10}},     // a node of each switch
        {7, 1, {3, 2}, 12, {0, 4, 8, 2, 6, 10, 1}},  // and then a second
        {2, 1, {4, 1}, 8, {0, 4}},                   // groups that lie evenly
        {2, 1, {1, 8}, 16, {0, 8}},                  // switches that do
        {6, 2, {3, 2}, 12, {0, 0, 4, 4, 8, 8}},
        {5, 1, {1, 1}, 9, {0, 1, 2, 3, 4}},
    };
    for (const auto& [ranks, each, holders, count, expected] : cases) {
        CHECK_EQUAL(nodes(Placement("scattered", ranks, each, count, 1, {0, 0}, holders)), expected);
    }
}

PROPERTY("scattered is as even as can be", 100) {
    const auto groups = static_cast<std::uint32_t>(draw.integer(1, 7)),
               switches = static_cast<std::uint32_t>(draw.integer(1, 9));
    const auto of_switch = static_cast<std::uint32_t>(draw.integer(1, 4)),
               each = static_cast<std::uint32_t>(draw.integer(1, 3));
    const auto count = groups * switches * of_switch;
    const auto ranks = static_cast<Rank>(draw.integer(1, count * each));
    std::vector<std::uint32_t> on_node(count), on_switch(groups * switches), on_group(groups);
    for (const auto node : nodes(Placement("scattered", ranks, each, count, 1, {0, 0}, {groups, switches})))
        ++on_node.at(node);
    int partly = 0;
    for (std::uint32_t node = 0; node < count; ++node) {
        CHECK(on_node[node] <= each);
        partly += on_node[node] > 0 && on_node[node] < each;
        on_switch[node / of_switch] += on_node[node] > 0;
        on_group[node / of_switch / switches] += on_node[node] > 0;
    }
    CHECK(partly <= 1);  // the last node
    const auto spread = [](auto begin, auto end) {
        return *std::max_element(begin, end) - *std::min_element(begin, end);
    };
    CHECK(spread(on_group.begin(), on_group.end()) <= 1);
    for (std::uint32_t group = 0; group < groups; ++group) {
        const auto begin = on_switch.begin() + group * switches, end = begin + switches;
        CHECK(spread(begin, end) <= 1);
        if (on_group[group] == 0 || on_group[group] >= switches) continue;
        // Switches that hold a node are no further apart than they must be.
        std::vector<std::uint32_t> used, gaps;
        for (std::uint32_t s = 0; s < switches; ++s) {
            if (begin[s] > 0) used.push_back(s);
        }
        for (std::size_t i = 0; i < used.size(); ++i) {
            gaps.push_back((i + 1 < used.size() ? used[i + 1] : used[0] + switches) - used[i]);
        }
        CHECK(spread(gaps.begin(), gaps.end()) <= 1);
    }
}

TEST("a box has whole groups of a torus before it takes another, in the order of the machine") {
    // Dimensions of 4 x 2, two nodes on each switch: x fastest, so switch 4 is the neighbour of switch 0 along y.
    CHECK_EQUAL(nodes(Placement("box", 6, 1, 16, 1, {0, 0}, {0, 0}, {4, 2})), Nodes{0, 1, 2, 3, 8, 9});
    CHECK_EQUAL(nodes(Placement("box", 7, 3, 16, 1, {0, 0}, {0, 0}, {4, 2})), Nodes{0, 0, 0, 1, 1, 1, 8});
}

PROPERTY("a box is no larger than it must be, and as compact as the torus lets it be", 100) {
    Nodes torus;
    std::uint32_t switches = 1;
    for (auto dimensions = draw.integer(1, 4); dimensions > 0; --dimensions) {
        torus.push_back(static_cast<std::uint32_t>(draw.integer(1, 7)));
        switches *= torus.back();
    }
    const auto each = static_cast<std::uint32_t>(draw.integer(1, 3)), count = switches * each;
    const auto ranks = static_cast<Rank>(draw.integer(1, count));
    const auto found = nodes(Placement("box", ranks, 1, count, 1, {0, 0}, {0, 0}, torus));
    CHECK(std::is_sorted(found.begin(), found.end()));
    CHECK(std::adjacent_find(found.begin(), found.end()) == found.end());
    // Torus, a class of its own, knows where a switch is. Sides are those that the nodes reach.
    const machine::Torus built(torus, each);
    Nodes sides(torus.size(), 1);
    for (const auto node : found)
        for (std::size_t d = 0; d < torus.size(); ++d)
            sides[d] = std::max(sides[d], built.coordinate(node / each, d) + 1);
    const auto needed = (static_cast<std::uint32_t>(ranks) + each - 1) / each;
    std::uint32_t held = 1, less = switches;
    for (const auto side : sides) held *= side;
    for (std::size_t d = 0; d < torus.size(); ++d) {
        less = std::min(less, held / sides[d] * (sides[d] - 1));
        // One side is longer by two or more only where the other is as long as the torus.
        for (std::size_t e = 0; e < torus.size(); ++e) CHECK(sides[d] <= sides[e] + 1 || sides[e] == torus[e]);
    }
    CHECK(held >= needed);
    CHECK(less < needed);
}

TEST("placements that cannot be are refused") {
    const auto refused = [](const std::string& text, const std::string& kind, Rank ranks, std::uint32_t each,
                            std::array<std::uint32_t, 2> holders = {0, 0}) {
        CHECK_THROWS(InputError, ({text}), Placement(kind, ranks, each, 10, 1, {0, 0}, holders));
    };
    refused("11 ranks with 1 per node need 11 nodes; the machine has 10", "linear", 11, 1);
    refused("31 ranks with 3 per node need 11 nodes; the machine has 10", "random", 31, 3);
    refused("linear, round-robin, random, scattered, blocks, box", "liner", 1, 1);
    refused("groups of switches that hold equally many of the 10 nodes", "scattered", 1, 1);
    refused("groups of switches", "scattered", 1, 1, {2, 3});
    refused("needs ranks that divide a grid", "blocks", 6, 2);
    refused("needs a torus", "box", 6, 2);
    refused("ranks per node", "linear", 1, 0);
}

}  // namespace testing::placement
