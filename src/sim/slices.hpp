// A window's packets, divided by switch.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/huge.hpp"
#include "sim/network.hpp"
#include "sim/outbox.hpp"

namespace tradewind::sim {

// The packets at some of a part's switches.
struct Slice {
    HugeVector<Event> packets;
    std::size_t count = 0;

    void push(const Event& packet) {
        if (count == packets.size()) [[unlikely]]
            packets.resize(std::max<std::size_t>(1024, count * 3 / 2));
        packets[count++] = packet;
    }
};

// A window is dealt with some switches at a time, so that the ports and ranks that its packets need stay in the
// second-level cache from one pass over them to the next. (Slices of time would do as well, but for ranks that send in
// step: a million packets come at one picosecond.) Each slice has many short runs of neighbours, whose ports share
// cache lines and pages: so slices hold equally much where only some of the switches have traffic.
class Slices {
  public:
    // `parts`: how many share the switches.
    Slices(const Network& network, std::uint32_t parts)
        : network_(network), switches_(network.ports() / network.radix() / parts) {}

    // Takes the window's packets from the outboxes of all parts. Returns the number of slices.
    template <class Outboxes>
    std::size_t collect(Outbox& own, const Outboxes& outboxes) {
        // As many as this window needs if it is like the last one, and no more than there are switches.
        int bits = 0;
        while (bits < max_bits && last_count_ >> bits > full && switches_ >> bits > 1) ++bits;
        const std::size_t count = std::size_t{1} << bits;
        const int run = std::min(max_run, static_cast<int>(std::bit_width((switches_ >> bits) | 1)) - 1);
        for (std::size_t i = 0; i < count; ++i) slices_[i].count = 0;
        for (Outbox* from : outboxes)
            own.drain(*from, [&](const Event& packet) {
                slices_[network_.switch_of(packet.where) >> run & (count - 1)].push(packet);
            });
        last_count_ = 0;
        for (std::size_t i = 0; i < count; ++i) last_count_ += slices_[i].count;
        return count;
    }
    Slice& operator[](std::size_t i) { return slices_[i]; }

  private:
    static constexpr int max_bits = 9;
    static constexpr int max_run = 3;  // switches in a row, as a power of two
    static constexpr std::size_t full = 400;

    const Network& network_;
    std::uint32_t switches_;
    std::array<Slice, std::size_t{1} << max_bits> slices_;
    std::size_t last_count_ = 0;
};

}  // namespace tradewind::sim
