// The view of a packet that a routing has, and the memory that it may keep in it.
#pragma once

#include <cstdint>

#include "base/random.hpp"

namespace tradewind::machine {

// A routing is a class with
//   static constexpr bool adaptive
//       some of its decisions look at queues or keep state, so they are made in order of time
//   static constexpr bool spreads
//       its random number differs from packet to packet, not only from pair to pair
//   port(sw, dst_sw, dst_node, memory)           the output port
//   channels()                                   how many virtual channels make it free of deadlock, 1 to 16
//   channel(sw, dst_sw, port, memory)            0 .. channels() - 1: the packet's on the link of `port`, which it
//   takes
//                                                from `sw`; a pure function, asked after port() or choose(), with the
//                                                memory as these left it
// and where adaptive
//   decided(sw, dst_sw, memory)                  whether port() suffices; else
//   choose(sw, dst_sw, dst_node, memory, queue)  does; queue(port) = bytes that wait there
// called only where sw != dst_sw. `memory` are 32 bits that travel with the packet: at the source 30 random ones below
// the two of `fresh`.
//
// Free of deadlock: a packet that holds room on (link, channel) may wait for room on the next (link, channel) of its
// path; no chain of such waits leads round a circle (Dally & Seitz 1987). Leaving the network needs no channel.
namespace memory {

inline constexpr std::uint32_t fresh = 3u << 30;
inline constexpr std::uint32_t random_bits = (1u << 30) - 1;

// One of n things alike, by the packet's 16 lowest bits; `salt` distinguishes the choices of a packet.
inline std::uint32_t pick(std::uint32_t m, std::uint32_t salt, std::uint32_t n) {
    const std::uint32_t random = ((m & 0xffff) * 0x9e3779b1u) ^ (salt * 0x85ebca6bu);
    return scale_to(random * 0xc2b2ae35u, n);
}

}  // namespace memory

}  // namespace tradewind::machine
