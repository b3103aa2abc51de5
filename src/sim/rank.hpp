// Where a rank stands in its program.
#pragma once

#include <array>
#include <cstdint>

namespace tradewind::sim {

// What has arrived for one stage.
struct Arrival {
    std::int64_t bytes = 0;
    std::int64_t time = 0;  // of the last tail, ps
};

// 112 bytes; with the 16 of a NIC a rank costs 128 bytes beside ports and packets in flight.
struct RankState {
    static constexpr std::uint32_t all_sent = ~0u;
    static constexpr std::uint32_t ring = 4;  // stages whose early arrivals are counted here; a map holds the rest

    std::int64_t post = 0;               // ps at which the message now being sent was posted
    std::int64_t departed = 0;           // ps at which the last tail left the NIC
    std::int64_t cpu = 0;                // ps until which the CPU is busy with messages
    std::int64_t expected = 0;           // bytes to be received in this stage
    std::int64_t left = 0;               // bytes of the current message that are still to be sent
    std::uint32_t stage = 0;             // of the program
    std::uint32_t message = 0;           // of the stage, or all_sent
    std::array<Arrival, ring> arrivals;  // [stage % ring]

    Arrival& arrival() { return arrivals[stage % ring]; }
};
static_assert(sizeof(RankState) == 112);

}  // namespace tradewind::sim
