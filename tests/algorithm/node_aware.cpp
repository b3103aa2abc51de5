// Halos, fetches and gather-scatters for nodes of many ranks: what goes between nodes, against every point and its
// owner, one by one.
#include "algorithm/node_aware.hpp"

#include <algorithm>
#include <set>

#include "pattern/gather_scatter_brick.hpp"
#include "testing/drawing.hpp"

namespace testing::algorithm_node_aware {

using namespace tradewind;
using algorithm::make_schedule, layout::Blocks, layout::Grid, pattern::Halo;

using Nodes = std::array<Rank, 2>;
using Counts = std::map<Nodes, Index>;  // points of the message from node to node

const std::vector<std::string>& families() {
    static const std::vector<std::string> names{"two-level-", "leaders-"};
    return names;
}

// The messages between nodes; a second one between the same nodes is a failure.
Counts between_nodes(const schedule::Schedule& schedule, Rank size) {
    Counts found;
    for (int stage = 0; stage < schedule.stages(); ++stage) {
        for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
            for (const auto& message : sent(schedule, rank, stage)) {
                if (rank / size == message.peer / size) continue;
                CHECK(found.emplace(Nodes{rank / size, message.peer / size}, message.count).second);
                CHECK(!schedule.algorithm().starts_with("leaders") || rank % size == 0);
            }
        }
    }
    return found;
}

// The points of the grid that a rank's halo wants, several times where the halo goes around more than once.
template <class Take>
void for_wanted(const Halo& halo, Rank rank, Take take) {
    const auto& n = halo.layout().grid().points;
    for (const auto& box : halo.expected(rank)) {
        for_points(box, [&](const Point& p) {
            const Point on_grid{(p[0] % n[0] + n[0]) % n[0], (p[1] % n[1] + n[1]) % n[1], p[2]};
            take(p, on_grid, halo.layout().owner(on_grid));
        });
    }
}

PROPERTY("two nodes exchange one message of a halo, with each point once", 500) {
    const auto halo = draw_halo(draw, 24, draw.boolean() ? 4 : 16);
    const auto size = static_cast<Rank>(draw.integer(std::min(2, halo->ranks()), halo->ranks()));
    const auto schedule = make_schedule(halo, draw.from(families()) + std::to_string(size));
    std::map<Nodes, std::set<Point>> wanted;
    for (Rank rank = 0; rank < halo->ranks(); ++rank) {
        for_wanted(*halo, rank, [&](const Point&, const Point& point, Rank owner) {
            if (owner / size != rank / size) wanted[{owner / size, rank / size}].insert(point);
        });
    }
    Counts counts;
    for (const auto& each : wanted) counts[each.first] = static_cast<Index>(each.second.size());
    CHECK(between_nodes(*schedule, size) == counts);
}

PROPERTY("two nodes exchange one message of a fetch, with each point once", 1000) {
    Lists lists;
    const auto fetch = draw_fetch(draw, lists)->with_levels({1, 1});
    const auto size = static_cast<Rank>(draw.integer(std::min(2, fetch->ranks()), fetch->ranks()));
    std::set<std::array<Index, 4>> wanted;  // nodes, owner, index
    for (Rank rank = 0; rank < fetch->ranks(); ++rank) {
        const auto& list = lists.wanted[static_cast<std::size_t>(rank)];
        for (std::size_t i = 0; i < list.owner.size(); ++i) {
            if (list.owner[i] / size == rank / size) continue;
            wanted.insert({list.owner[i] / size, rank / size, list.owner[i], list.index[i]});
        }
    }
    Counts counts;
    for (const auto& each : wanted) ++counts[{static_cast<Rank>(each[0]), static_cast<Rank>(each[1])}];
    CHECK(between_nodes(*make_schedule(fetch, draw.from(families()) + std::to_string(size)), size) == counts);
}

PROPERTY("the halo of blocks as a fetch has the messages of the halo, which knows boxes and no lists", 300) {
    const auto halo = draw_halo(draw, 24, draw.boolean() ? 4 : 12);
    std::vector<Index> sources;
    std::vector<pattern::FetchList> lists;
    for (Rank rank = 0; rank < halo->ranks(); ++rank) {
        sources.push_back(halo->layout().box(rank).volume());
        auto& list = lists.emplace_back();
        for_wanted(*halo, rank, [&](const Point&, const Point& point, Rank owner) {
            const auto box = halo->layout().box(owner);
            const Index row = point[1] - box.begin[1] + box.width(1) * (point[2] - box.begin[2]);
            list.owner.push_back(owner);
            list.index.push_back(point[0] - box.begin[0] + box.width(0) * row);
            list.place.push_back(list.target++);
        });
    }
    const auto fetch = std::make_shared<pattern::Fetch>(sources, lists);
    const auto size = static_cast<Rank>(draw.integer(std::min(2, halo->ranks()), halo->ranks()));
    const auto name = draw.from(families()) + std::to_string(size);
    CHECK(between_nodes(*make_schedule(halo, name), size) == between_nodes(*make_schedule(fetch, name), size));
    std::map<Nodes, Index> one, other;  // by ranks: of wide halos several messages between the same two
    const auto by_boxes = make_schedule(halo, "direct"), by_lists = make_schedule(fetch, "direct");
    for (Rank rank = 0; rank < halo->ranks(); ++rank) {
        for (const auto& message : sent(*by_boxes, rank, 0)) one[{rank, message.peer}] += message.count;
        for (const auto& message : sent(*by_lists, rank, 0)) other[{rank, message.peer}] += message.count;
    }
    CHECK(one == other);
}

std::shared_ptr<const Halo> torus(std::array<Index, 2> split, Index width = 2, Index levels = 3) {
    return std::make_shared<Halo>(Blocks(Grid(split[0] * 6, split[1] * 6, levels), split), width,
                                  std::array{true, true});
}

TEST("a node sends as many messages as there are nodes around it") {
    struct Case {
        std::array<Index, 2> split;
        Rank size;
        int around;
    };
    for (const auto& [split, size, around] : {
             Case{{16, 8}, 4, 8},   // a quarter of a row: nodes on all sides
             Case{{16, 8}, 8, 5},   // half a row: the node to the left is that to the right
             Case{{16, 8}, 16, 2},  // a row: above and below
             Case{{16, 8}, 64, 1},  // half of all rows
             Case{{4, 16}, 8, 2},   // two rows
             Case{{16, 2}, 4, 5},   // above is below
         }) {
        for (const auto& family : families()) {
            std::map<Rank, int> sends;
            for (const auto& each : between_nodes(*make_schedule(torus(split), family + std::to_string(size)), size)) {
                ++sends[each.first[0]];
            }
            CHECK_EQUAL(static_cast<Index>(sends.size()), split[0] * split[1] / size);
            for (const auto& each : sends) CHECK_EQUAL(each.second, around);
        }
    }
}

TEST("the ranks of a node share out the nodes around, and leaders carry all") {
    const Rank first = (4 * 3 + 1) * 8;  // of an inner node, with eight others around
    for (const auto& family : families()) {
        const auto schedule = make_schedule(torus({32, 8}), family + "8");
        std::size_t all = 0, largest = 0, edges = 0;
        for (Rank rank = first; rank < first + 8; ++rank) {
            const auto messages = sent(*schedule, rank, 1);
            all += messages.size();
            largest = std::max(largest, messages.size());
            const Index corner = 2 * 2 * 3;
            edges += std::any_of(messages.begin(), messages.end(), [&](auto& m) { return m.count > corner; });
        }
        CHECK_EQUAL(all, 8u);
        CHECK_EQUAL(largest, family == "leaders-" ? 8u : 2u);
        CHECK_EQUAL(edges, family == "leaders-" ? 1u : 4u);
    }
}

TEST("parts narrower than the halo go to a node once, and not to each rank") {
    // A row of 8 ranks of 6 x 6 points is a node; 13 points up and down are 13 rows of 48, whoever wants them.
    Index found = 0;
    for (const auto& each : between_nodes(*make_schedule(torus({8, 8}, 13, 1), "two-level-8"), 8)) {
        if (each.first[0] == 3) found += each.second;
    }
    CHECK_EQUAL(found, 2 * 13 * 48);
}

TEST("with one rank on each node, or one node, all goes straight") {
    const auto halo = torus({6, 4}, 3);
    const auto messages = [](const schedule::Schedule& schedule, Rank rank) {
        std::multiset<std::array<Index, 2>> all;
        for (const auto& message : sent(schedule, rank, 0)) all.insert({message.peer, message.count});
        return all;
    };
    const auto direct = make_schedule(halo, "direct");
    for (const auto& family : families()) {
        for (const auto* size : {"1", "24"}) {
            const auto schedule = make_schedule(halo, family + size);
            CHECK_EQUAL(schedule->stages(), 1);
            for (Rank rank = 0; rank < 24; ++rank) CHECK(messages(*schedule, rank) == messages(*direct, rank));
        }
    }
}

TEST("a million ranks are asked without storing them") {
    // The middle node of 64 ranks in a row: neighbours above and below it, to its sides and at its corners.
    const auto schedule = make_schedule(torus({1024, 1024}, 2, 1), "two-level-64");
    const Rank first = 512 * 1024 + 512;
    std::multiset<Rank> peers;
    for (Rank rank = first; rank < first + 64; ++rank) {
        for (const auto& message : sent(*schedule, rank, 1)) peers.insert(message.peer / 64 - first / 64);
    }
    CHECK_EQUAL(peers, std::multiset<Rank>{-17, -16, -15, -1, 1, 15, 16, 17});
    const pattern::Brick brick({8, 8, 4}, 10, {128, 128, 64}, {false, false, false});
    const auto gather = std::make_shared<pattern::BrickGatherScatter>(brick, "add");
    const auto planes = sent(*make_schedule(gather, "cartesian"), 500'000, 2);
    CHECK(planes.size() == 2 && planes[0].count == 73 * 73 && planes[1].count == 73 * 73);
    CHECK_EQUAL(sent(*make_schedule(gather, "pairwise"), 500'000, 0).size(), 26u);
}

TEST("a seam through a node that is its own neighbour") {
    // Two nodes of 3 and 2 ranks, 5 ranks around a circle; halos that go around it more than twice.
    const auto halo = std::make_shared<Halo>(Blocks(Grid(10, 4, 2), {5, 1}), 23, std::array{true, true});
    for (const auto& family : families()) CHECK(proved(*make_schedule(halo, family + "3")).messages > 0);
}

PROPERTY("two nodes exchange one message of a gather-scatter, with what each has of cells that the other has", 300) {
    const auto split = draw_points(draw, 4);
    const std::array periodic{draw.boolean(), draw.boolean(), draw.boolean()};
    const pattern::Brick brick(draw_points(draw, 2), 3, split, periodic);
    const auto gather = std::make_shared<pattern::BrickGatherScatter>(brick, "add");
    const auto size = static_cast<Rank>(draw.integer(std::min(2, gather->ranks()), gather->ranks()));
    std::vector<std::set<Index>> ids;
    std::vector<std::set<Index>> of_node(static_cast<std::size_t>((gather->ranks() - 1) / size + 1));
    for (Rank rank = 0; rank < gather->ranks(); ++rank) {
        const auto list = gather->ids(rank);
        ids.emplace_back(list.begin(), list.end());
        of_node[static_cast<std::size_t>(rank / size)].insert(list.begin(), list.end());
    }
    Counts counts;
    for (Rank rank = 0; rank < gather->ranks(); ++rank) {
        for (Rank node = 0; node < static_cast<Rank>(of_node.size()); ++node) {
            if (node == rank / size) continue;
            for (const auto id : ids[static_cast<std::size_t>(rank)]) {
                if (of_node[static_cast<std::size_t>(node)].contains(id)) ++counts[{rank / size, node}];
            }
        }
    }
    CHECK(between_nodes(*make_schedule(gather, draw.from(families()) + std::to_string(size)), size) == counts);
}

TEST("nodes of a brick are worked out once, for ranks in any order") {
    // Stage by stage, ranks of all nodes by turns, as the simulator asks; a third of 900 nodes, three ranks each.
    const Rank size = 40;
    const pattern::Brick brick({1, 1, 2}, 3, {40, 30, 30}, {false, false, false});
    const auto gather = std::make_shared<pattern::BrickGatherScatter>(brick, "add");
    for (const auto& family : families()) {
        const auto schedule = make_schedule(gather, family + std::to_string(size));
        std::set<Rank> nodes;
        for (int stage = 0; stage < 3; ++stage) {
            for (const Rank member : {0, 7, 39}) {
                for (Rank rank = member; rank < 36'000; rank += 3 * size) {
                    nodes.insert(rank / size);
                    sent(*schedule, rank, stage), received(*schedule, rank, stage);
                }
            }
        }
        CHECK_EQUAL(dynamic_cast<const algorithm::NodeAware&>(*schedule).worked_out(),
                    static_cast<Index>(nodes.size()));
    }
}

}  // namespace testing::algorithm_node_aware
