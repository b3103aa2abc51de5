// Where a rank stands in its program: what its NIC sends, and what it waits for. Two records, since most packets that
// arrive touch only the second, and most that leave only the first.
#pragma once

#include <array>
#include <cstdint>

namespace tradewind::sim {

// One a rank and NIC: each NIC of a node sends messages of its own.
struct Sender {
    static constexpr std::uint32_t all_sent = ~0u;

    std::int64_t post = 0;      // ps at which the message now being sent was posted
    std::int64_t departed = 0;  // ps at which the last tail left the NIC
    std::int64_t left = 0;      // bytes of the current message that are still to be sent
    std::uint32_t stage = 0;    // of the program
    std::uint32_t message = 0;  // of the stage, or all_sent
};
static_assert(sizeof(Sender) == 32);

// The packets that have arrived for the current stage and the next few. One cache line.
struct alignas(64) Receiver {
    static constexpr std::uint32_t ring = 4;  // stages whose early arrivals are counted here; EarlyPackets has the rest

    std::array<std::int64_t, ring> time{};      // [stage % ring] ps: the last tail so far
    std::array<std::uint32_t, ring> missing{};  // [stage % ring]: packets that are still to come; before the stage has
                                                // begun those that came early, as a negative number modulo 2^32
    static constexpr std::uint32_t max_missing = ~0u >> 1;
    std::int64_t departed = 0;      // ps at which the last tail so far left a NIC of the rank
    std::uint32_t stage = 0;        // of the program
    std::uint32_t early : 27 = 0;   // packets for stages beyond the ring
    std::uint32_t sending : 5 = 0;  // NICs that have not sent all of the stage
};
static_assert(sizeof(Receiver) == 64);

// The state of a rank where long messages wait until they are asked for.
struct Handshake {
    std::uint32_t unacknowledged = 0;  // messages of the stage
    std::uint32_t requests = ~0u;      // list of requests that came before their stage
};

// The progress of one of several open exchanges of a rank.
struct LineState {
    static constexpr std::uint32_t none = ~0u;

    enum What : std::uint32_t {
        closed,     // none is open
        under_way,  // a stage has been posted
        over,       // it has ended, and the next one is not posted
        posting,    // the next one will be posted when the CPU is free
        done        // all have ended
    } what = closed;
    std::uint32_t instance = 0;  // of the program's order
    std::int64_t time = 0;       // ps at which the stage ended
};

// The state of such a rank: its next operation, and the arrivals that a call must deal with.
struct Walker {
    std::uint32_t operation = 0;        // of its group: the next one
    std::uint32_t first = 0, last = 0;  // of the list of what has come; numbers of records + 1, 0: none
    std::uint32_t waits = 0;            // the line that it waits for + 1; 0: it waits for none
};

// A node's access to the network.
struct Nic {
    std::int64_t busy = 0;    // ps until which it sends
    std::uint64_t bytes = 0;  // sent in all
};

// Beside an ordinary rank's 64 + 32 + 16 bytes 8 where messages cost CPU time, 8 for handshakes, 32 for credits.
inline constexpr std::size_t rank_bytes = sizeof(Sender) + sizeof(Receiver) + sizeof(Nic) + 8;

}  // namespace tradewind::sim
