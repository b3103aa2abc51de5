// Fat-tree: up until the destination lies below, then the one way down. The routings differ in the port up.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "base/divide.hpp"
#include "machine/routing/packet.hpp"
#include "machine/topology/fattree.hpp"

namespace tradewind::machine {

// No path goes up again, so one virtual channel is enough.
class UpDown {
  public:
    explicit UpDown(const FatTree& tree) : levels_(tree.levels()) {
        std::uint32_t below = 1, parents = 1;
        for (std::uint32_t l = 0; l < tree.levels(); ++l) {
            down_[l] = tree.down_ports(l);
            up_[l] = tree.up_ports(l);
            if (l > 0) {
                below *= down_[l];
                parents *= up_[l - 1];
            }
            at_[l] = {tree.first(l), Divider(below), Divider(parents), Divider(down_[l]),
                      Divider(std::max(1u, up_[l]))};
        }
    }

    int channels() const { return 1; }
    std::uint32_t channel(std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t) const { return 0; }

  protected:
    // Few comparisons, which nothing has to wait for.
    std::uint32_t level(std::uint32_t sw) const {
        std::uint32_t level = 0;
        for (std::uint32_t l = 1; l < levels_; ++l) level += sw >= at_[l].first;
        return level;
    }
    // Level of a switch where the packet must go up from it, with no more than the port up left to choose; else the
    // port down. -1 - port means down.
    int level_or_down(std::uint32_t sw, std::uint32_t dst_sw) const {
        const std::uint32_t level = this->level(sw);
        const Level& at = at_[level];
        const std::uint32_t below = at.by_below.quotient(dst_sw);
        if (at.by_parents.quotient(sw - at.first) != below) return static_cast<int>(level);
        return -1 - static_cast<int>(at.by_down.remainder(at_[level - 1].by_below.quotient(dst_sw)));
    }

    struct Level {
        std::uint32_t first;  // switch
        Divider by_below;     // lowest switches below one of this level
        Divider by_parents;   // ways up to one of this level from a lowest switch below it
        Divider by_down, by_up;
    };
    std::array<std::uint32_t, 16> down_, up_;  // [level]: ports
    std::array<Level, 16> at_;                 // [level]
    std::uint32_t levels_;
};

// D-mod-k (Zahavi, Johnson, Kerbyson & Lang 2010): the uplink is the number of the destination node over the ways up
// to this level, modulo the uplinks; where all switches have k of them, digit l of the node, base k, at level l.
class DModK : public UpDown {
  public:
    static constexpr bool adaptive = false, spreads = false;
    using UpDown::UpDown;

    std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t dst_node, std::uint32_t&) const {
        const int level = level_or_down(sw, dst_sw);
        if (level < 0) return static_cast<std::uint32_t>(-1 - level);
        const Level& at = at_[level];
        return down_[level] + at.by_up.remainder(at.by_parents.quotient(dst_node));
    }
};

// Common part of the routings that choose the uplink.
class ChosenUp : public UpDown {
  public:
    static constexpr bool adaptive = true;
    using UpDown::UpDown;

    bool decided(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t) const { return level_or_down(sw, dst_sw) < 0; }

    std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t, std::uint32_t&) const {
        return static_cast<std::uint32_t>(-1 - level_or_down(sw, dst_sw));
    }
};

// Every switch sends packets to its uplinks in turn.
class RoundRobin : public ChosenUp {
  public:
    static constexpr bool spreads = false;

    // `staggered`: switch i of a level begins at port i, and so on in turn; else all switches begin at their first, as
    // in SST/macro.
    explicit RoundRobin(const FatTree& tree, bool staggered = false) : ChosenUp(tree), next_(tree.switches(), 0) {
        if (!staggered) return;
        for (std::uint32_t sw = 0; sw < tree.switches(); ++sw) {
            const std::uint32_t level = this->level(sw);
            if (up_[level] > 0) next_[sw] = (sw - at_[level].first) % up_[level];
        }
    }

    template <class Queue>
    std::uint32_t choose(std::uint32_t sw, std::uint32_t, std::uint32_t, std::uint32_t&, const Queue&) {
        const std::uint32_t level = this->level(sw), up = next_[sw];
        next_[sw] = up + 1 == up_[level] ? 0 : up + 1;
        return down_[level] + up;
    }
    // The state of a switch, of an adaptive routing that does not spread.
    std::uint32_t turn(std::uint32_t sw) const { return next_[sw]; }

  private:
    std::vector<std::uint32_t> next_;  // [switch], touched only by the thread that owns the switch
};

// The port up at which the fewest bytes wait; of several, the first at or after a random one.
class LeastLoaded : public ChosenUp {
  public:
    static constexpr bool spreads = true;
    using ChosenUp::ChosenUp;

    template <class Queue>
    std::uint32_t choose(std::uint32_t sw, std::uint32_t, std::uint32_t, std::uint32_t& m, const Queue& queue) const {
        const std::uint32_t level = this->level(sw), first = down_[level], ups = up_[level];
        std::uint32_t up = memory::pick(m, level, ups), best = first + up;
        std::uint64_t minimum = queue(best);
        for (std::uint32_t i = 1; i < ups && minimum > 0; ++i) {
            up = up + 1 == ups ? 0 : up + 1;
            const std::uint64_t bytes = queue(first + up);
            if (bytes >= minimum) continue;
            minimum = bytes;
            best = first + up;
        }
        return best;
    }
};

}  // namespace tradewind::machine
