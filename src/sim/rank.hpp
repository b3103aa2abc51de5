// Where a rank stands in its program: what its NIC sends, and what it waits for. Two records, since most packets that
// arrive touch only the second, and most that leave only the first.
#pragma once

#include <array>
#include <cstdint>

namespace tradewind::sim {

struct Sender {
    static constexpr std::uint32_t all_sent = ~0u;

    std::int64_t post = 0;      // ps at which the message now being sent was posted
    std::int64_t departed = 0;  // ps at which the last tail left the NIC
    std::int64_t left = 0;      // bytes of the current message that are still to be sent
    std::uint32_t stage = 0;    // of the program
    std::uint32_t message = 0;  // of the stage, or all_sent
};
static_assert(sizeof(Sender) == 32);

// What has arrived for the stages to come: the current one and the next few. One cache line.
struct alignas(64) Receiver {
    static constexpr std::uint32_t ring = 4;  // stages whose early arrivals are counted here; a map holds the rest
    static constexpr std::int64_t sending = -1;

    std::array<std::int64_t, ring> time{};      // [stage % ring] ps: the last tail so far
    std::array<std::uint32_t, ring> missing{};  // [stage % ring]: packets that are still to come; before the stage has
                                                // begun those that came early, as a negative number modulo 2^32
    std::int64_t departed = sending;            // ps at which the last tail of the stage left the NIC
    std::uint32_t stage = 0;                    // of the program
    std::uint32_t early = 0;                    // packets for stages beyond the ring
};
static_assert(sizeof(Receiver) == 64);

// With the 16 of a NIC, and the time until which a CPU is busy where messages cost it any, 120 bytes a rank.
inline constexpr std::size_t rank_bytes = sizeof(Sender) + sizeof(Receiver) + 16 + 8;

}  // namespace tradewind::sim
