#include "machine/placement.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "base/random.hpp"
#include "layout/division.hpp"

namespace tradewind::machine {

namespace {

using Table = std::vector<std::uint32_t>;

// The first nodes take ranks_per_node ranks each, one node after another.
Table filled(const Table& nodes, Rank ranks, std::uint32_t ranks_per_node) {
    Table table(ranks);
    for (Rank r = 0; r < ranks; ++r) table[r] = nodes[static_cast<std::uint32_t>(r) / ranks_per_node];
    return table;
}

Table round_robin(Rank ranks, std::uint32_t needed) {
    Table table(ranks);
    for (Rank r = 0; r < ranks; ++r) table[r] = static_cast<std::uint32_t>(r) % needed;
    return table;
}

Table random(Rank ranks, std::uint32_t ranks_per_node, std::uint32_t needed, std::uint32_t nodes, std::uint64_t seed) {
    Table order(nodes);
    std::iota(order.begin(), order.end(), 0u);
    for (std::uint32_t i = 0; i < needed; ++i) {  // Fisher-Yates, as far as it is needed
        const auto random = static_cast<std::uint32_t>(mix(mix(seed, 0x706c616365ULL), i) >> 32);
        std::swap(order[i], order[i + scale_to(random, nodes - i)]);
    }
    return filled(order, ranks, ranks_per_node);
}

// Number i of the nodes that are needed is in group i mod `groups`, or, of fewer, in groups that lie evenly. So are, in
// a group, its switches: each has one node before any has two.
Table scattered(Rank ranks, std::uint32_t ranks_per_node, std::uint32_t needed, std::uint32_t nodes,
                std::array<std::uint32_t, 2> holders) {
    const auto [groups, switches] = holders;
    if (groups < 1 || switches < 1 || nodes % (std::uint64_t{groups} * switches) != 0)
        throw InputError("placement 'scattered' needs groups of switches that hold equally many of the " +
                         std::to_string(nodes) + " nodes");
    const std::uint32_t each = nodes / groups / switches, used_groups = std::min(groups, needed);
    const auto evenly = [](std::uint32_t i, std::uint32_t of, std::uint32_t among) {
        return static_cast<std::uint32_t>(std::uint64_t{i} * among / of);
    };
    Table places(needed);
    for (std::uint32_t i = 0; i < needed; ++i) {
        const std::uint32_t group = i % used_groups, round = i / used_groups;
        const std::uint32_t held = (needed - group + used_groups - 1) / used_groups, used = std::min(switches, held);
        const std::uint32_t holder =
            evenly(group, used_groups, groups) * switches + evenly(round % used, used, switches);
        places[i] = holder * each + round / used;
    }
    return filled(places, ranks, ranks_per_node);
}

// The sides of the box that holds `switches` of a torus: the shortest side grows until they fit, of equally short ones
// that of the smallest dimension, so groups of a few nodes are whole before the box takes a second one.
Table sides_of_box(const Table& torus, std::uint64_t switches) {
    Table sides(torus.size(), 1);
    std::vector<std::size_t> order(torus.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return torus[a] < torus[b]; });
    for (std::uint64_t held = 1; held < switches;) {
        std::size_t shortest = torus.size();
        for (const std::size_t d : order)
            if (sides[d] < torus[d] && (shortest == torus.size() || sides[d] < sides[shortest])) shortest = d;
        held = held / sides[shortest] * (sides[shortest] + 1);
        ++sides[shortest];
    }
    return sides;
}

// The nodes of a box at the first corner of a torus, in the order of the machine.
Table box(Rank ranks, std::uint32_t ranks_per_node, std::uint32_t needed, std::uint32_t nodes, const Table& torus) {
    std::uint64_t switches = 1;
    for (const std::uint32_t side : torus) switches *= side;
    if (torus.empty() || switches < 1 || nodes % switches != 0)
        throw InputError("placement 'box' needs a torus, whose switches hold equally many of the " +
                         std::to_string(nodes) + " nodes");
    const auto each = static_cast<std::uint32_t>(nodes / switches);
    const Table sides = sides_of_box(torus, (needed + each - 1) / each);
    Table places(needed);
    for (std::uint32_t i = 0; i < needed; ++i) {
        std::uint32_t left = i / each, stride = 1, holder = 0;
        for (std::size_t d = 0; d < torus.size(); ++d) {
            holder += left % sides[d] * stride;
            left /= sides[d];
            stride *= torus[d];
        }
        places[i] = holder * each + i % each;
    }
    return filled(places, ranks, ranks_per_node);
}

// The split goes by in bands of about `height` rows, each column by column, forth in one band and back in the next;
// every node takes the next ranks. Where the height divides ranks_per_node and all comes out even, these are
// rectangles.
Table in_bands(std::array<Index, 2> split, std::uint32_t ranks_per_node, Index height) {
    Table table(static_cast<std::size_t>(split[0] * split[1]));
    const layout::Division bands(split[1], (split[1] + height - 1) / height);
    std::uint32_t place = 0;
    for (Index band = 0; band < bands.parts(); ++band)
        for (Index k = 0; k < split[0]; ++k) {
            const Index i = band % 2 == 0 ? k : split[0] - 1 - k;
            for (Index j = bands.begin(band); j < bands.end(band); ++j)
                table[static_cast<std::size_t>(i + j * split[0])] = place++ / ranks_per_node;
        }
    return table;
}

// Pairs of neighbours along either direction that are on two nodes.
Index neighbours_apart(const Table& table, std::array<Index, 2> split) {
    Index apart = 0;
    const Index row = split[0], ranks = split[0] * split[1];
    for (Index r = 0; r < ranks; ++r) {
        if (r + row < ranks) apart += table[r] != table[r + row];
        if ((r + 1) % row != 0) apart += table[r] != table[r + 1];
    }
    return apart;
}

// The bands that leave the fewest neighbours on two nodes. A rectangle higher than twice the square would have a longer
// edge than a flat one, unless the split is so narrow that bands of one row do as well.
Table blocks(Rank ranks, std::uint32_t ranks_per_node, std::array<Index, 2> split) {
    if (split[0] < 1 || split[1] < 1 || split[0] > ranks || split[1] > ranks || split[0] * split[1] != ranks)
        throw InputError(
            "placement 'blocks' needs ranks that divide a grid, CX x CY of them: a halo or a transposition");
    Table best;
    Index minimum = 0;
    for (Index height = 1; height <= split[1] && (height - 1) * (height - 1) < 4 * Index{ranks_per_node}; ++height) {
        Table table = in_bands(split, ranks_per_node, height);
        const Index apart = neighbours_apart(table, split);
        if (!best.empty() && apart >= minimum) continue;
        best = std::move(table);
        minimum = apart;
    }
    return best;
}

}  // namespace

Placement::Placement(const std::string& kind, Rank ranks, std::uint32_t ranks_per_node, std::uint32_t nodes,
                     std::uint64_t seed, std::array<Index, 2> split, std::array<std::uint32_t, 2> holders,
                     const std::vector<std::uint32_t>& torus)
    : ranks_(ranks), ranks_per_node_(ranks_per_node) {
    if (ranks < 1) throw InputError("placement of " + std::to_string(ranks) + " ranks: 1 or more are allowed");
    if (ranks_per_node < 1) throw InputError("ranks per node: 1 or more are allowed");
    by_node_ = Divider(ranks_per_node);
    const std::uint64_t needed = (static_cast<std::uint64_t>(ranks) + ranks_per_node - 1) / ranks_per_node;
    if (needed > nodes)
        throw InputError(std::to_string(ranks) + " ranks with " + std::to_string(ranks_per_node) + " per node need " +
                         std::to_string(needed) + " nodes; the machine has " + std::to_string(nodes));
    if (kind == "linear") return;
    if (kind == "round-robin")
        table_ = round_robin(ranks, static_cast<std::uint32_t>(needed));
    else if (kind == "random")
        table_ = random(ranks, ranks_per_node, static_cast<std::uint32_t>(needed), nodes, seed);
    else if (kind == "scattered")
        table_ = scattered(ranks, ranks_per_node, static_cast<std::uint32_t>(needed), nodes, holders);
    else if (kind == "blocks")
        table_ = blocks(ranks, ranks_per_node, split);
    else if (kind == "box")
        table_ = box(ranks, ranks_per_node, static_cast<std::uint32_t>(needed), nodes, torus);
    else
        throw InputError("placement '" + kind +
                         "' is unknown (known: linear, round-robin, random, scattered, blocks, box)");
}

const std::vector<std::string>& placements() {
    static const std::vector<std::string> kinds{"linear", "round-robin", "random", "scattered", "blocks", "box"};
    return kinds;
}

}  // namespace tradewind::machine
