// Every topology against its own graph, by breadth first search, and against what is published of it.
#include "machine/topology/topology.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "base/error.hpp"
#include "machine/topology/complete.hpp"
#include "machine/topology/crossbar.hpp"
#include "machine/topology/cubemesh.hpp"
#include "machine/topology/dragonfly.hpp"
#include "machine/topology/dragonflyplus.hpp"
#include "machine/topology/fattree.hpp"
#include "machine/topology/graph.hpp"
#include "machine/topology/hypercube.hpp"
#include "machine/topology/links.hpp"
#include "machine/topology/slimfly.hpp"
#include "machine/topology/torus.hpp"
#include "testing/networks.hpp"

namespace testing::topology {

using namespace tradewind;
using namespace tradewind::machine;
using Sizes = std::vector<std::uint32_t>;
using Pair = std::pair<std::uint32_t, std::uint32_t>;

// Links of a shortest path from a switch to all others, with at most `globals` links between groups; -1: none.
std::vector<int> distances(const Topology& topology, const std::vector<Link>& links, std::uint32_t start, int globals) {
    const std::size_t n = topology.switches();
    std::vector<std::vector<const Link*>> from(n);
    for (const auto& link : links) from[link.from].push_back(&link);
    const auto levels = static_cast<std::size_t>(globals) + 1;
    std::vector<int> found(n * levels, -1);  // [global links so far][switch]
    std::vector<std::size_t> queue{start};
    found[start] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
        for (const Link* link : from[queue[i] % n]) {
            const std::size_t level = queue[i] / n + (globals > 0 && link->kind == LinkKind::global ? 1 : 0);
            if (level >= levels || found[level * n + link->to] >= 0) continue;
            found[level * n + link->to] = found[queue[i]] + 1;
            queue.push_back(level * n + link->to);
        }
    }
    std::vector<int> shortest(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(n));
    for (std::size_t i = n; i < found.size(); ++i) {
        int& so_far = shortest[i % n];
        if (found[i] >= 0 && (so_far < 0 || found[i] < so_far)) so_far = found[i];
    }
    return shortest;
}

void check_graph(const Topology& topology) {
    const auto all = links_of(topology);
    CHECK_EQUAL(2 * links(topology), all.size());
    for (const auto& link : all) {
        CHECK(link.to != link.from && link.to < topology.switches() && link.to_port < topology.radix());
        const PortEnd back = topology.port(link.to, link.to_port);
        CHECK(back.kind == link.kind);
        CHECK_EQUAL(back.peer_switch, link.from);
        CHECK_EQUAL(back.peer_port, link.port);
    }
    std::vector<Pair> terminals, expected;
    for (std::uint32_t s = 0; s < topology.switches(); ++s) {
        for (std::uint32_t port = 0; port < topology.radix(); ++port) {
            if (topology.port(s, port).kind == LinkKind::terminal) terminals.emplace_back(s, port);
        }
    }
    for (std::uint32_t node = 0; node < topology.nodes(); ++node) {
        const auto each = topology.nodes_per_switch();
        expected.emplace_back(node / each, topology.first_terminal() + node % each);
    }
    CHECK(terminals == expected);
    // A path of a dragonfly has at most one global link: no minimal routing takes two, even if that is shorter.
    const bool has_groups = topology.name() == "dragonfly" || topology.name() == "dragonflyplus";
    for (std::uint32_t start = 0; start < topology.switches(); ++start) {
        const auto shortest = distances(topology, all, start, has_groups ? 1 : 0);
        for (std::uint32_t to = 0; to < topology.switches(); ++to) {
            const auto distance = topology.distance(start, to);
            CHECK_EQUAL(distance.local + distance.global, shortest[to]);
        }
    }
}

EVERY_NETWORK("links have one reverse, nodes hang on the first switches, distances are those of shortest paths") {
    check_graph(*network.make());
}

TEST("every topology of the registry is among the networks") {
    std::vector<std::string> kinds, known;
    for (const auto& network : networks()) {
        if (network.typical) kinds.push_back(network.kind);
    }
    for (const auto& entry : topologies()) known.push_back(entry.name);
    CHECK_EQUAL(kinds, known);
}

TEST("a torus has two links along every dimension of more than one switch") {
    const std::vector<std::pair<Sizes, std::uint32_t>> cases = {{{1}, 1},       {{2}, 1},          {{3}, 1},
                                                                {{8}, 1},       {{1, 4}, 3},       {{4, 1, 3}, 2},
                                                                {{3, 4, 5}, 1}, {{2, 3, 2, 3}, 2}, {{1, 1}, 4}};
    for (const auto& [shape, nodes] : cases) {
        const Torus torus(shape, nodes);
        check_graph(torus);
        const auto expected = 2 * std::count_if(shape.begin(), shape.end(), [](auto n) { return n > 1; });
        std::vector<std::ptrdiff_t> degree(torus.switches());
        for (const auto& link : links_of(torus)) ++degree[link.from];
        CHECK(std::all_of(degree.begin(), degree.end(), [&](auto d) { return d == expected; }));
    }
}

// Ohring et al. 1995: level l of an XGFT(h; m_1 ..; w_1 ..) has prod(m_i, i > l) prod(w_i, i <= l) switches.
TEST("a fat-tree has the published number of switches and uplinks per level") {
    const std::vector<std::pair<Sizes, Sizes>> cases = {
        {{2}, {}},           {{5}, {}},     {{2, 2}, {2}},       {{3, 3}, {3}},       {{3, 3, 3, 3}, {3, 3, 3}},
        {{4, 4, 4}, {4, 4}}, {{4, 2}, {2}}, {{4, 3, 2}, {2, 1}}, {{2, 3, 4}, {3, 5}}, {{18, 36}, {18}}};
    for (const auto& [down, up] : cases) {
        const FatTree tree(down, up);
        if (tree.switches() < 200) check_graph(tree);
        std::vector<std::size_t> level_of;
        std::size_t nodes = 1;
        for (std::size_t level = 0; level < down.size(); ++level) {
            std::size_t width = 1;
            for (std::size_t i = 0; i < down.size(); ++i) width *= i > level ? down[i] : i < level ? up[i] : 1;
            level_of.insert(level_of.end(), width, level);
            nodes *= down[level];
        }
        CHECK_EQUAL(tree.switches(), level_of.size());
        CHECK_EQUAL(tree.nodes(), nodes);
        std::vector<std::uint32_t> ups(tree.switches());
        for (const auto& link : links_of(tree)) {
            const bool is_up = level_of[link.to] == level_of[link.from] + 1;
            CHECK(is_up || level_of[link.to] + 1 == level_of[link.from]);
            ups[link.from] += is_up;
        }
        for (std::size_t s = 0; s < ups.size(); ++s) CHECK_EQUAL(ups[s], level_of[s] < up.size() ? up[level_of[s]] : 0);
    }
}

// Counts the global links from one group to another, and checks that all pairs have `expected`.
template <class Group>
void check_pairs(const Topology& topology, std::uint32_t groups, std::uint32_t expected, const Group& group) {
    std::map<Pair, std::uint32_t> found;
    for (const auto& link : links_of(topology)) {
        if (link.kind == LinkKind::global) ++found[{group(link.from), group(link.to)}];
    }
    for (std::uint32_t a = 0; a < groups; ++a) {
        for (std::uint32_t b = 0; b < groups; ++b) CHECK_EQUAL((found[{a, b}]), a == b ? 0 : expected);
    }
}

TEST("a dragonfly joins all pairs of groups alike, and rows and columns of a group fully") {
    struct Size {
        std::uint32_t rows, columns, groups, nodes, each;
    };
    const std::vector<Size> sizes = {{1, 1, 1, 3, 0}, {3, 4, 1, 2, 2}, {1, 1, 4, 1, 3}, {1, 1, 4, 1, 7},
                                     {1, 5, 2, 2, 1}, {2, 3, 4, 2, 1}, {2, 3, 4, 2, 2}, {2, 2, 9, 1, 2},
                                     {3, 3, 7, 1, 3}, {4, 1, 5, 2, 3}, {2, 5, 11, 1, 1}};
    for (const auto& [rows, columns, groups, nodes, each] : sizes) {
        const Dragonfly dragonfly(rows, columns, groups, nodes, each);
        check_graph(dragonfly);
        const auto size = rows * columns;
        check_pairs(dragonfly, groups, groups > 1 ? size * each / (groups - 1) : 0, [&](auto s) { return s / size; });
        std::vector<std::uint32_t> local(dragonfly.switches()), global(dragonfly.switches());
        for (const auto& link : links_of(dragonfly)) ++(link.kind == LinkKind::local ? local : global)[link.from];
        for (const auto count : local) CHECK_EQUAL(count, rows + columns - 2);
        // No switch has more than one global link more than another.
        const auto [least, most] = std::minmax_element(global.begin(), global.end());
        CHECK(*most - *least <= 1);
    }
}

// By hand, from the definitions of Camarero et al. (2014) and Hastings et al. (2015): where ports 0 and 1 of switch 0
// and of switch 1 lead, of group 2 of 5.
TEST("global links are arranged as published, and join all pairs of groups alike") {
    const std::vector<std::pair<std::string, Sizes>> arranged = {
        {"spread", {3, 0, 4, 1}}, {"relative", {3, 4, 0, 1}}, {"absolute", {0, 1, 3, 4}}, {"circulant", {3, 1, 4, 0}}};
    for (const auto& [name, expected] : arranged) {
        const auto arrangement = arrangement_of(name);
        const Dragonfly dragonfly(1, 2, 5, 1, 2, arrangement);
        Sizes there;
        for (const std::uint32_t s : {4u, 5u}) {
            for (const std::uint32_t port : {3u, 4u}) there.push_back(dragonfly.port(s, port).peer_switch / 2);
        }
        CHECK_EQUAL(there, expected);
        for (const auto& [groups, each] : std::vector<Pair>{{2, 3}, {4, 2}, {5, 3}, {7, 5}}) {
            const auto wanted = 6 * each / (groups - 1);
            const Dragonfly plain(2, 3, groups, 1, each, arrangement);
            check_pairs(plain, groups, wanted, [](auto s) { return s / 6; });
            const DragonflyPlus plus(1, 6, groups, 1, each, arrangement);
            check_pairs(plus, groups, wanted, [&](auto s) { return (s - groups) / 6; });
            for (const Topology* network :
                 {static_cast<const Topology*>(&plain), static_cast<const Topology*>(&plus)}) {
                std::map<std::uint32_t, std::uint32_t> used;
                for (const auto& link : links_of(*network)) used[link.from] += link.kind == LinkKind::global;
                for (const auto& [s, count] : used) CHECK(count <= each);
            }
        }
    }
}

TEST("a dragonfly+ is groups of two levels") {
    struct Size {
        std::uint32_t leaves, spines, groups, nodes, each;
    };
    for (const auto& [leaves, spines, groups, nodes, each] :
         std::vector<Size>{{3, 2, 5, 2, 2}, {2, 4, 3, 1, 3}, {1, 1, 3, 1, 2}, {4, 3, 1, 2, 0}, {2, 3, 4, 1, 2}}) {
        const DragonflyPlus plus(leaves, spines, groups, nodes, each);
        const auto all_leaves = groups * leaves;
        const auto group = [&](auto s) { return s < all_leaves ? s / leaves : (s - all_leaves) / spines; };
        std::set<Pair> local;
        for (const auto& link : links_of(plus)) {
            const bool both = link.from >= all_leaves && link.to >= all_leaves;
            CHECK(both == (link.kind == LinkKind::global));
            if (link.kind != LinkKind::local) continue;
            CHECK((link.from < all_leaves) != (link.to < all_leaves) && group(link.from) == group(link.to));
            CHECK(local.emplace(link.from, link.to).second);
        }
        CHECK_EQUAL(local.size(), 2 * all_leaves * spines);
        check_pairs(plus, groups, groups > 1 ? spines * each / (groups - 1) : 0, group);
        CHECK_EQUAL(plus.nodes(), all_leaves * nodes);
    }
}

// Besta & Hoefler 2014, section II.B: 2 q^2 switches of (3 q - d) / 2 links, diameter 2. With q = 5 these are 50
// switches of 7 links, of which there is one graph alone, that of Hoffman and Singleton; q = 19 is the paper's example.
TEST("a slim fly has the published size and diameter") {
    for (const std::uint32_t q : {3u, 4u, 5u, 7u, 8u, 9u, 11u, 13u}) {
        const SlimFly fly(q, 1);
        const int delta = static_cast<int>((q + 1) % 4) - 1;
        CHECK_EQUAL(fly.switches(), 2 * q * q);
        const auto all = links_of(fly);
        std::set<Pair> pairs;
        std::vector<int> degree(fly.switches());
        for (const auto& link : all) {
            pairs.emplace(link.from, link.to);
            ++degree[link.from];
        }
        CHECK_EQUAL(pairs.size(), all.size());
        for (const int count : degree) CHECK_EQUAL(count, (static_cast<int>(3 * q) - delta) / 2);
        for (std::uint32_t start = 0; start < fly.switches(); start += q) {
            const auto shortest = distances(fly, all, start, 0);
            CHECK_EQUAL(*std::max_element(shortest.begin(), shortest.end()), 2);
        }
    }
    const SlimFly large(19, 15);
    CHECK_EQUAL(large.switches(), 722u);
    CHECK_EQUAL(large.first_terminal(), 29u);
    CHECK_EQUAL(large.nodes(), 10830u);
}

TEST("in a hypercube the distance is the number of bits that differ; in a complete graph it is one") {
    const Hypercube cube(5, 2, 1);
    for (std::uint32_t a = 0; a < 32; ++a) {
        for (std::uint32_t b = 0; b < 32; ++b) CHECK_EQUAL(cube.distance(a, b).local, std::popcount(a ^ b));
    }
    check_graph(cube);
    CHECK_EQUAL(links_of(cube).size(), 32u * 5 * 2);
    const Complete complete(7, 3, 2);
    std::map<Pair, int> found;
    for (const auto& link : links_of(complete)) ++found[{link.from, link.to}];
    CHECK_EQUAL(found.size(), 42u);
    for (const auto& [pair, count] : found) CHECK_EQUAL(count, 3);
}

// Dally & Towles 2004, section 3.2, and Ahn et al. 2009, section 3: S^2 / 4 links, times parallel ones, in each row.
TEST("bisections are the published ones") {
    const auto cut = [](const Topology& topology, std::uint32_t half) {
        const auto all = links_of(topology);
        return std::count_if(all.begin(), all.end(), [&](auto& link) { return link.from < half && link.to >= half; });
    };
    CHECK_EQUAL(cut(Hypercube(6, 1, 1), 32), 32);
    CHECK_EQUAL(cut(Complete(10, 2, 1), 5), 50);
    CHECK_EQUAL(cut(Torus({4, 4, 6}, 1), 48), 32);
    CHECK_EQUAL(cut(HyperX({3, 6}, {1, 2}, 1), 9), 6 * 6 / 4 * 2 * 3);
}

// `nvidia-smi topo -m` of a DGX-1 with V100 GPUs, its NVLinks; with P100 GPUs each is one.
TEST("a cube mesh has the published NVLinks, and the rest joins all switches") {
    const int volta[8][8] = {{0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0},
                             {2, 1, 2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1},
                             {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0}};
    for (const std::uint32_t boxes : {1u, 2u}) {
        for (const bool is_volta : {false, true}) {
            const CubeMesh mesh(is_volta ? CubeMesh::Gpu::v100 : CubeMesh::Gpu::p100, boxes);
            std::map<Pair, int> found, expected;
            std::vector<Link> rest;
            for (const auto& link : links_of(mesh)) {
                if (link.kind == LinkKind::local) ++found[{link.from, link.to}];
                if (link.kind == LinkKind::global) rest.push_back(link);
            }
            for (std::uint32_t i = 0; i < boxes * 64; ++i) {
                const int count = volta[i / 8 % 8][i % 8];
                if (count > 0) expected[{i / 64 * 8 + i / 8 % 8, i / 64 * 8 + i % 8}] = is_volta ? count : 1;
            }
            CHECK(found == expected);
            // Without NVLink what is left is a tree, or two with a ring through host and InfiniBand switch.
            for (const int links : distances(mesh, rest, 0, 0)) CHECK(links >= 0);
            CHECK_EQUAL(mesh.switches(), boxes == 1 ? 13u : 27u);
            CHECK_EQUAL(rest.size(), boxes == 1 ? 24u : 64u);
        }
    }
}

TEST("a crossbar has no links, whatever its nodes") {
    for (const std::uint32_t nodes : {1u, 2u, 7u}) check_graph(Crossbar(nodes));
}

TEST("sizes that cannot be built are refused") {
    const auto dragonfly = [](std::uint32_t a, std::uint32_t b, std::uint32_t groups, std::uint32_t each) {
        Dragonfly(a, b, groups, 1, each);
    };
    const auto plus = [](std::uint32_t a, std::uint32_t b, std::uint32_t groups, std::uint32_t each) {
        DragonflyPlus(a, b, groups, 1, each);
    };
    const std::vector<std::pair<std::function<void()>, std::string>> cases = {
        {[] { Torus({}, 1); }, "1 to 6 dimensions"},
        {[] { Torus(Sizes(7, 2), 1); }, "1 to 6 dimensions"},
        {[] { Torus({1025}, 1); }, "1 to 1024"},
        {[] { Torus({0, 3}, 1); }, "1 to 1024"},
        {[] { Torus({2}, 0); }, "nodes per switch"},
        {[] { Torus({1024, 1024, 1024}, 8); }, "too large"},
        {[] { FatTree({}, {}); }, "levels"},
        {[] { FatTree(Sizes(17, 2), Sizes(16, 2)); }, "levels"},
        {[] { FatTree({2, 1}, {1}); }, "downlinks"},
        {[] { FatTree({2, 2}, {0}); }, "uplinks"},
        {[] { FatTree({2, 2}, {1, 1}); }, "all 2 but the top"},
        {[] { FatTree(Sizes(10, 100), Sizes(9, 100)); }, "too large"},
        {[] { FatTree({2, 2}, {1u << 31}); }, "too large"},
        {[&] { dragonfly(2, 2, 9, 1); }, "do not reach"},
        {[&] { dragonfly(1024, 2, 2, 1); }, "at most"},
        {[&] { dragonfly(0, 2, 2, 1); }, "1 or more"},
        {[&] { dragonfly(1, 1, 3, 20000); }, "global links"},
        {[] { arrangement_of("palm"); }, "'palm': spread, relative, absolute, circulant are allowed"},
        {[] { Crossbar(0); }, "1 or more"},
        {[&] { plus(2, 2, 6, 2); }, "do not reach"},
        {[&] { plus(2, 0, 1, 2); }, "1 or more"},
        {[&] { plus(2, 20000, 1, 2); }, "at most 16384"},
        {[&] { plus(1 << 20, 1 << 14, 1 << 20, 1 << 14); }, "too large"},
        {[] { HyperX({}, {}, 1); }, "1 to 24 dimensions"},
        {[] { HyperX(Sizes(25, 2), Sizes(25, 1), 1); }, "1 to 24 dimensions"},
        {[] { HyperX({2, 3}, {1}, 1); }, "parallel links for 1 dimensions, but it has 2"},
        {[] { HyperX({2, 3}, {1, 0}, 1); }, "1 to 1024 parallel"},
        {[] { HyperX({2, 0}, {1, 1}, 1); }, "1 to 65536 switches"},
        {[] { HyperX({2}, {1}, 0); }, "nodes per switch"},
        {[] { HyperX({4096, 4096, 4096}, {1, 1, 1}, 1); }, "too large"},
        {[] { Complete(0, 1, 1); }, "complete: 1 to 65536 switches"},
        {[] { Complete(60000, 1, 20000); }, "complete: too large"},
        {[] { Hypercube(0, 1, 1); }, "hypercube: 1 to 24 dimensions"},
        {[] { Hypercube(1u << 31, 1, 1); }, "hypercube: 1 to 24 dimensions"},
        {[] { SlimFly(6, 1); }, "q = 6: a power of a prime"},
        {[] { SlimFly(2, 1); }, "q = 2: a power of a prime"},
        {[] { SlimFly(257, 1); }, "from 3 to 256"},
        {[] { SlimFly(5, 0); }, "nodes per switch"},
        {[] { SlimFly(256, 1 << 15); }, "too large"},
        {[] { CubeMesh(CubeMesh::Gpu::v100, 0); }, "1 to 256 boxes"},
    };
    for (const auto& [make, text] : cases) CHECK_THROWS(InputError, ({text}), make());
}

}  // namespace testing::topology
