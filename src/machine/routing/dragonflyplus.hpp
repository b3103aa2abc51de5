// Dragonfly+: up to a spine, across to another group, down to the leaf.
#pragma once

#include "machine/routing/packet.hpp"
#include "machine/topology/dragonflyplus.hpp"

namespace tradewind::machine {

// Shortest paths from leaves to leaves, through one fixed spine, or global link, for a pair of nodes. No path goes up
// again, so one virtual channel is enough. Random stops are leaves, in their own group for packets that stay in it.
class DragonflyPlusPaths {
  public:
    explicit DragonflyPlusPaths(const DragonflyPlus& network) : network_(network) {}

    std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t m) const {
        const std::uint32_t here = network_.group(sw), there = network_.group(dst_sw);
        if (here == there) {
            if (!network_.is_leaf(sw)) return network_.place(dst_sw);
            return memory::pick(m, 0, network_.spines());
        }
        const GroupLinks& links = network_.group_links();
        const std::uint32_t link = memory::pick(m, links.ahead(here, there), links.pairs());
        const auto gate = links.gate(link, here, there);
        return network_.is_leaf(sw) ? gate.holder : network_.leaves() + gate.slot;
    }
    std::uint32_t length(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t) const {
        return sw == dst_sw ? 0 : are_close(sw, dst_sw) ? 2 : 3;
    }

    int channels() const { return 1; }
    std::uint32_t channel(std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t) const { return 0; }

    bool are_close(std::uint32_t sw, std::uint32_t dst_sw) const {
        return network_.group(sw) == network_.group(dst_sw);
    }
    std::uint32_t stop(std::uint32_t dst_sw, std::uint32_t m, bool close) const {
        const auto random = static_cast<std::uint32_t>(mix(m) >> 32);
        if (!close) return scale_to(random, network_.all_leaves());
        return network_.group(dst_sw) * network_.leaves() + scale_to(random, network_.leaves());
    }

  private:
    DragonflyPlus network_;
};

}  // namespace tradewind::machine
