// The one record that the simulator moves about.
#pragma once

#include <bit>
#include <cstdint>

namespace tradewind::sim {

// The head of a packet that arrives at a switch, room in a buffer that has come free, or something that a rank does.
// 32 bytes: two a cache line.
struct alignas(32) Event {
    std::int64_t time;     // ps
    std::uint32_t where;   // receiving switch and its input port (Network::where); of a rank's event: what (RankEvent)
    std::uint32_t to;      // destination rank in 28 bits | which NIC of its node; of a rank's event: whose it is
    std::uint32_t size;    // bytes in 28 bits (control packets: payload) | last of its message | undecided | kind
    std::uint32_t stage;   // of the program in 24 bits (pulled packets: record of the pull) | slowest link | channel
    std::uint32_t memory;  // the routing's
    std::uint32_t delay;   // see Delay; of a control packet: the rank it comes from, or a record

    static constexpr int rank_bits = 28;
    static constexpr std::uint32_t rank_mask = (1u << rank_bits) - 1;
    static constexpr std::uint32_t size_mask = (1u << 28) - 1;
    static constexpr std::uint32_t last_bit = 1u << 28;
    static constexpr std::uint32_t undecided_bit = 1u << 29;
    static constexpr int kind_shift = 30;
    static constexpr std::uint32_t stage_mask = (1u << 24) - 1;
    static constexpr int rate_shift = 24, channel_shift = 28;

    enum Kind : std::uint32_t {
        data,     // of a message that was sent at once
        pulled,   // of a message whose receiver has asked for it
        control,  // of a rendezvous: what, and the sender's number of the message, stand in the size (ControlKind)
        aside     // no packet, but what is in its memory (AsideKind)
    };

    std::uint32_t rank() const { return to & rank_mask; }
    std::uint32_t nic() const { return to >> rank_bits; }
    std::uint32_t bytes() const { return size & size_mask; }
    bool last() const { return size & last_bit; }
    Kind kind() const { return static_cast<Kind>(size >> kind_shift); }
    std::uint32_t program_stage() const { return stage & stage_mask; }
    std::uint32_t rate() const { return stage >> rate_shift & 15; }
    std::uint32_t channel() const { return stage >> channel_shift; }
    static std::uint32_t stage_word(std::uint32_t stage, std::uint32_t rate, std::uint32_t channel) {
        return stage | rate << rate_shift | channel << channel_shift;
    }
};
static_assert(sizeof(Event) == 32);

enum AsideKind : std::uint32_t {
    freed,     // room in a buffer
    past,      // a message that bypasses the network
    call_next  // packets that have waited long for a port will take it soon
};

// The delay of a packet so far, and its origin, in 32 bits: a float (ps, never negative) whose 12 lowest
// bits hold the block of ranks of its source. Twelve bits of mantissa are left: delays are exact to 1/8000.
struct Delay {
    static constexpr std::uint32_t block_mask = (1u << 12) - 1;
    static float picoseconds(std::uint32_t word) { return std::bit_cast<float>(word & ~block_mask); }
    static std::uint32_t block(std::uint32_t word) { return word & block_mask; }
    static std::uint32_t longer(std::uint32_t word, std::int64_t by) {
        const float sum = picoseconds(word) + static_cast<float>(by);
        return (std::bit_cast<std::uint32_t>(sum) & ~block_mask) | block(word);
    }
};

// The packets that prepare and end the transfer of a long message; in the bits of an event's size above the message's.
enum ControlKind : std::uint32_t {
    request = 0,      // from the sender: message so-and-so is ready
    pull = 1,         // from the receiver: send it
    acknowledge = 2,  // from the receiver: it has come
};
inline constexpr int control_shift = 26;
inline constexpr std::uint32_t control_mask = (1u << control_shift) - 1;

enum RankEvent : std::uint32_t {
    emit,              // a cursor goes on sending the messages of the stage
    advance,           // the stage has ended
    post,              // the next one begins, once the CPU is free to post its receives
    arrive,            // a message has come by another way than packets, or its last packet has
    credit,            // the switch has room for more from a NIC
    serve,             // a NIC goes on with its jobs
    arbitration,       // a NIC is free for the next in its line
    asked,             // a control packet has come: request, ...
    clear_to_send,     // ... pull, ...
    acknowledged,      // ... acknowledge
    acknowledge_pull,  // all of a message that was asked for has come
    resume,            // a rank goes on with the next operation of its order
};

}  // namespace tradewind::sim
