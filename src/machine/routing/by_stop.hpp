// Valiant and UGAL routing by way of a random switch, over the shortest paths of any topology.
#pragma once

#include "machine/routing/packet.hpp"

namespace tradewind::machine {

// Valiant (1982): each packet goes by a shortest path to a random switch and from there by one to its destination (or
// leaves on the way, if the first one passes it). Besides what straight.hpp names, Paths has
//   are_close(sw, dst_sw)          whether a packet between these stays close, such as in their group
//   stop(dst_sw, memory, close)    its random switch
// The stop is drawn again at every switch, from the packet's random bits; its memory has a mark until it is passed.
// The second path has channels of its own, above those of the first, so that neither waits for the other in a circle.
template <class Paths>
class ByStop {
  public:
    static constexpr bool adaptive = false, spreads = true;

    template <class Topology>
    explicit ByStop(const Topology& topology) : paths_(topology) {}

    std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t, std::uint32_t& m) const {
        if (m >= memory::fresh) m = detour(sw, dst_sw, m);
        return follow(sw, dst_sw, m);
    }
    int channels() const { return 2 * paths_.channels(); }
    std::uint32_t channel(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t port, std::uint32_t m) const {
        if (state(m) != direct) return paths_.channel(sw, stop(dst_sw, m), port, m & memory::random_bits);
        return static_cast<std::uint32_t>(paths_.channels()) + paths_.channel(sw, dst_sw, port, m);
    }

  protected:
    enum State : std::uint32_t { direct = 0, far = 1, close = 2 };
    static std::uint32_t state(std::uint32_t m) { return m >> 30; }

    std::uint32_t stop(std::uint32_t dst_sw, std::uint32_t m) const {
        return paths_.stop(dst_sw, m & memory::random_bits, state(m) == close);
    }
    std::uint32_t detour(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t m) const {
        return (m & memory::random_bits) | (paths_.are_close(sw, dst_sw) ? close : far) << 30;
    }
    // The next port of a packet whose way is chosen; forgets the stop once there.
    std::uint32_t follow(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t& m) const {
        const std::uint32_t random = m & memory::random_bits;
        if (state(m) != direct) {
            const std::uint32_t stop = this->stop(dst_sw, m);
            if (sw != stop) return paths_.port(sw, stop, random);
            m = random;
        }
        return paths_.port(sw, dst_sw, random);
    }

    Paths paths_;
};

// UGAL with local queues (Singh 2005): the source switch takes the detour where the bytes that wait at its first port,
// times its links, are fewer than those of the shortest path.
template <class Paths>
class UgalByStop : public ByStop<Paths> {
  public:
    static constexpr bool adaptive = true;
    using ByStop<Paths>::ByStop;

    bool decided(std::uint32_t, std::uint32_t, std::uint32_t m) const { return m < memory::fresh; }

    std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t, std::uint32_t& m) const {
        return this->follow(sw, dst_sw, m);
    }

    template <class Queue>
    std::uint32_t choose(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t, std::uint32_t& m,
                         const Queue& queue) const {
        const std::uint32_t random = m & memory::random_bits, detour = this->detour(sw, dst_sw, m);
        const std::uint32_t stop = this->stop(dst_sw, detour), straight = this->paths_.port(sw, dst_sw, random);
        m = random;
        if (stop == sw) return straight;
        const std::uint32_t aside = this->paths_.port(sw, stop, random);
        const std::uint64_t straight_cost = queue(straight) * this->paths_.length(sw, dst_sw, random);
        const std::uint64_t detour_cost =
            queue(aside) * (this->paths_.length(sw, stop, random) + this->paths_.length(stop, dst_sw, random));
        if (detour_cost >= straight_cost) return straight;
        m = detour;
        return aside;
    }
};

}  // namespace tradewind::machine
