// Routing by shortest paths.
#pragma once

#include "machine/routing/packet.hpp"

namespace tradewind::machine {

// The paths of a topology are a class with
//   port(sw, dst_sw, memory)           the first link of a shortest path
//   length(sw, dst_sw, memory)         its links
//   channels()                         how many virtual channels make these paths free of deadlock
//   channel(sw, dst_sw, port, memory)  of a packet on that link (see packet.hpp)
//   prefetch(sw, dst_sw)               fetches what these look up, some packets before; none where they look up nothing
// all of them the same for the same memory. Straight takes them as they are; ByStop strings two together.
template <class Paths, bool Spreads = false>
class Straight {
  public:
    static constexpr bool adaptive = false, spreads = Spreads;

    template <class Topology>
    explicit Straight(const Topology& topology) : paths_(topology) {}

    std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t, std::uint32_t& m) const {
        return paths_.port(sw, dst_sw, m);
    }
    int channels() const { return paths_.channels(); }
    std::uint32_t channel(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t port, std::uint32_t m) const {
        return paths_.channel(sw, dst_sw, port, m);
    }
    void prefetch(std::uint32_t sw, std::uint32_t dst_sw) const
        requires requires(const Paths& paths) { paths.prefetch(sw, dst_sw); }
    {
        paths_.prefetch(sw, dst_sw);
    }

  private:
    Paths paths_;
};

}  // namespace tradewind::machine
