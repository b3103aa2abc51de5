// Fat-tree: up until the destination lies below, then the one way down. The two routings differ in the port up.
#pragma once

#include <array>
#include <vector>

#include "base/divide.hpp"
#include "machine/routing/packet.hpp"
#include "machine/topology/fattree.hpp"

namespace tradewind {

class UpDown {
  public:
    explicit UpDown(const FatTree& tree) : k_(tree.down_ports()), by_width_(tree.width()), by_k_(k_) {
        std::uint32_t power = 1;
        for (std::uint32_t l = 0; l < tree.levels(); ++l, power *= k_) by_power_[l] = Divider(power);
    }

  protected:
    // Level of a switch where the packet must go up from it, with no more than the port up left to choose; else the
    // port down. -1 - port means down.
    int level_or_down(std::uint32_t sw, std::uint32_t dst_sw) const {
        const std::uint32_t level = by_width_.quotient(sw), w = sw - level * by_width_.divisor();
        if (by_power_[level].quotient(w) != by_power_[level].quotient(dst_sw)) return static_cast<int>(level);
        return -1 - static_cast<int>(by_k_.remainder(by_power_[level - 1].quotient(dst_sw)));
    }

    std::uint32_t k_;
    Divider by_width_, by_k_;
    std::array<Divider, 17> by_power_;
};

// D-mod-k (Zahavi, Johnson, Kerbyson & Lang 2010): at level l the port up is digit l of the destination node.
class DModK : public UpDown {
  public:
    static constexpr bool adaptive = false, spreads = false;
    using UpDown::UpDown;

    std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t dst_node, std::uint32_t&) const {
        const int level = level_or_down(sw, dst_sw);
        if (level < 0) return static_cast<std::uint32_t>(-1 - level);
        return k_ + by_k_.remainder(by_power_[level].quotient(dst_node));
    }
};

// Every switch deals packets to its ports up in turn.
class RoundRobin : public UpDown {
  public:
    static constexpr bool adaptive = true, spreads = false;

    explicit RoundRobin(const FatTree& tree) : UpDown(tree), next_(tree.switches(), 0) {}

    bool decided(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t) const { return level_or_down(sw, dst_sw) < 0; }

    std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t, std::uint32_t&) const {
        return static_cast<std::uint32_t>(-1 - level_or_down(sw, dst_sw));
    }

    template <class Queue>
    std::uint32_t choose(std::uint32_t sw, std::uint32_t, std::uint32_t, std::uint32_t&, const Queue&) {
        const std::uint32_t up = next_[sw];
        next_[sw] = up + 1 == k_ ? 0 : up + 1;
        return k_ + up;
    }

  private:
    std::vector<std::uint32_t> next_;  // [switch], touched only by the thread that owns the switch
};

}  // namespace tradewind
