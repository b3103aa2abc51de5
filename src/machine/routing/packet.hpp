// What a routing sees of a packet, and what it may keep in it.
#pragma once

#include <cstdint>

namespace tradewind {

// A routing is a class with
//   static constexpr bool adaptive
//       some of its decisions look at queues or keep state, so they are made in order of time
//   static constexpr bool spreads
//       its random number differs from packet to packet, not only from pair to pair
//   port(sw, dst_sw, dst_node, memory)           the output port
// and where adaptive
//   decided(sw, dst_sw, memory)                  whether port() can tell; else
//   choose(sw, dst_sw, dst_node, memory, queue)  does; queue(port) = bytes that wait there
// called only where sw != dst_sw. `memory` are 32 bits that travel with the packet: at the source 30 random ones below
// the two of `fresh`.
namespace memory {
inline constexpr std::uint32_t fresh = 3u << 30;
inline constexpr std::uint32_t random_bits = (1u << 30) - 1;
}  // namespace memory

}  // namespace tradewind
