#include "machine/placement.hpp"

#include <numeric>

#include "base/error.hpp"
#include "base/random.hpp"

namespace tradewind {

Placement::Placement(const std::string& kind, Rank ranks, std::uint32_t ranks_per_node, std::uint32_t nodes,
                     std::uint64_t seed)
    : ranks_per_node_(ranks_per_node) {
    if (ranks_per_node < 1) throw InputError("ranks per node: 1 or more are allowed");
    by_node_ = Divider(ranks_per_node);
    const std::uint64_t needed = (static_cast<std::uint64_t>(ranks) + ranks_per_node - 1) / ranks_per_node;
    if (needed > nodes)
        throw InputError(std::to_string(ranks) + " ranks with " + std::to_string(ranks_per_node) + " a node need " +
                         std::to_string(needed) + " nodes; the machine has " + std::to_string(nodes));
    if (kind == "linear") return;
    if (kind == "round-robin") {
        table_.resize(ranks);
        for (Rank r = 0; r < ranks; ++r) table_[r] = static_cast<std::uint32_t>(r % needed);
        return;
    }
    if (kind != "random") throw InputError("placement '" + kind + "' is unknown (known: linear, round-robin, random)");
    std::vector<std::uint32_t> order(nodes);
    std::iota(order.begin(), order.end(), 0u);
    for (std::uint32_t i = 0; i < needed; ++i) {  // Fisher-Yates, as far as it is needed
        const auto random = static_cast<std::uint32_t>(mix(mix(seed, 0x706c616365ULL), i) >> 32);
        std::swap(order[i], order[i + scale_to(random, nodes - i)]);
    }
    table_.resize(ranks);
    for (Rank r = 0; r < ranks; ++r) table_[r] = order[static_cast<std::uint32_t>(r) / ranks_per_node];
}

}  // namespace tradewind
