// Dragonfly: valiant, UGAL and PAR routing by way of a random group.
#pragma once

#include "machine/routing/dragonfly.hpp"

namespace tradewind::machine {

// The channels of the routings by group: 0 in the source group of a detour, 1 in the intermediate group and in the
// source group of a minimal path, 2 in the last group. (The global link that leaves a group belongs to it.)
class DragonflyByGroup : public DragonflyPaths {
  public:
    using DragonflyPaths::DragonflyPaths;

    int channels() const { return 3; }
    std::uint32_t channel(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t, std::uint32_t m) const {
        if (state(m) != to_destination) return 0;
        return are_close(sw, dst_sw) ? 2 : 1;
    }
};

// Valiant (Valiant 1982; Kim et al. 2008): by way of a random group, within a group by way of a random switch.
class DragonflyValiant : public DragonflyByGroup {
  public:
    static constexpr bool adaptive = false, spreads = true;
    using DragonflyByGroup::DragonflyByGroup;

    std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t, std::uint32_t& m) const {
        if (m >= memory::fresh) m = draw(at(sw), at(dst_sw), m);
        return follow(at(sw), at(dst_sw), m);
    }
};

// UGAL with local queues (Singh 2005; Kim et al. 2008): the source switch takes the valiant path where the bytes that
// wait at its first port, times its links, are fewer than those of the minimal path.
class DragonflyUgal : public DragonflyByGroup {
  public:
    static constexpr bool adaptive = true, spreads = true;
    using DragonflyByGroup::DragonflyByGroup;

    bool decided(std::uint32_t, std::uint32_t, std::uint32_t m) const { return m < memory::fresh; }

    std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t, std::uint32_t& m) const {
        return follow(at(sw), at(dst_sw), m);
    }

    template <class Queue>
    std::uint32_t choose(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t, std::uint32_t& m,
                         const Queue& queue) const {
        const Position &here = at(sw), &there = at(dst_sw);
        const std::uint32_t detour = draw(here, there, m);
        m = detour_is_better(here, there, m, detour, queue) ? detour : pack(to_destination, 0, m);
        return follow(here, there, m);
    }

  protected:
    template <class Queue>
    bool detour_is_better(const Position& here, const Position& there, std::uint32_t m, std::uint32_t detour,
                          const Queue& queue) const {
        const std::uint32_t links = length(here, there, detour);
        const std::uint64_t direct_cost = queue(minimal(here, there, m)) * minimal_length(here, there, m);
        return queue(follow(here, there, detour)) * links < direct_cost;
    }
};

// Progressive adaptive routing (Jiang, Kim & Dally 2009): a packet that UGAL has sent the minimal way is decided anew
// at every switch of its source group that it comes to. Its memory stays fresh until it takes the detour or leaves the
// group, so that minimal hops in the source group have a channel of their own below the detour's.
class DragonflyPar : public DragonflyUgal {
  public:
    using DragonflyUgal::DragonflyUgal;

    int channels() const { return 4; }
    std::uint32_t channel(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t port, std::uint32_t m) const {
        return m >= memory::fresh ? 0 : 1 + DragonflyUgal::channel(sw, dst_sw, port, m);
    }

    template <class Queue>
    std::uint32_t choose(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t, std::uint32_t& m,
                         const Queue& queue) const {
        const Position &here = at(sw), &there = at(dst_sw);
        const std::uint32_t detour = draw(here, there, m), port = minimal(here, there, m);
        if (detour_is_better(here, there, m, detour, queue)) {
            m = detour;
            return follow(here, there, m);
        }
        if (here.group == there.group || port >= first_global_) m = pack(to_destination, 0, m);
        return port;
    }
};

}  // namespace tradewind::machine
