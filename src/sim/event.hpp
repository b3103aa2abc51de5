// The one record that the simulator moves about.
#pragma once

#include <cstdint>

namespace tradewind::sim {

// The head of a packet that arrives at a switch, or something that a rank does. 32 bytes: two a cache line.
struct alignas(32) Event {
    std::int64_t time;     // ps
    std::uint32_t where;   // receiving switch and its input port (Network::where); of a rank's event: what (RankEvent)
    std::uint32_t rank;    // destination, or the rank that acts
    std::uint32_t size;    // bytes in 28 bits | last of its message | slowest link so far in 2 bits | port not chosen
    std::uint32_t stage;   // of the program
    std::uint32_t memory;  // the routing's
    float delay;           // ps waited at ports so far

    static constexpr std::uint32_t size_bits = (1u << 28) - 1;
    static constexpr std::uint32_t last_bit = 1u << 28;
    static constexpr int rate_shift = 29;
    static constexpr std::uint32_t undecided_bit = 1u << 31;

    std::uint32_t bytes() const { return size & size_bits; }
    bool last() const { return size & last_bit; }
    std::uint32_t rate() const { return size >> rate_shift & 3; }
    void set_rate(std::uint32_t rate) { size = (size & (size_bits | last_bit)) | rate << rate_shift; }
};
static_assert(sizeof(Event) == 32);

enum RankEvent : std::uint32_t {
    emit,     // go on sending the messages of the stage
    advance,  // the stage has ended
    arrive    // a message from a rank on the same node
};

}  // namespace tradewind::sim
