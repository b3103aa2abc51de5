// Packets that wait long for their ports, in a byte or a few each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "sim/event.hpp"
#include "sim/network.hpp"
#include "sim/pool.hpp"

namespace tradewind::sim {

// Where buffers are unbounded a packet's time on a port is fixed when it arrives; it may lie far ahead, and an event of
// 32 bytes for each packet until then would be tens of gigabytes where a million ranks crowd their links. Those that
// wait for one port are held here in the order in which they take it. They belong to few messages, follow one another
// without a gap and come at even intervals, so that what is next can mostly be foretold from the last packet of its
// message: then it takes a byte, which says which message that is; else what is new about it.
class Backlog {
  public:
    // A packet as it arrives at the next switch, but for its time and its delay.
    struct Waiting {
        std::uint32_t to, size, stage, memory;
        std::int64_t start;   // when it takes the port, ps
        std::int64_t came;    // when it arrived here
        std::uint32_t delay;  // before that; see Delay
    };

    // `duration`: how long it holds the port. Packets of one port are put in the order of `start`. Returns false, and
    // holds nothing, where that would save little: of a message of one packet, or one of too many at the port.
    bool put(Port& port, const Waiting& packet, std::int64_t duration);

    // When the first packet of a port that has a backlog takes it.
    std::int64_t first(const Port& port) const { return lines_[port.backlog].first; }

    // Calls `use` with each packet that takes the port before `end`, in order. Returns whether any are left; else the
    // port has no backlog any more.
    template <class Duration, class Use>
    bool take(Port& port, std::int64_t end, Duration duration, Use use) {
        Line& line = lines_[port.backlog];
        while (line.first < end) {
            const Waiting packet = read(line);
            use(packet);
            if (--line.waiting == 0) {
                close(port);
                return false;
            }
            line.take_start = packet.start + duration(packet.size);
            line.first = first_of(line);
        }
        return true;
    }

    void prefetch(const Port& port) const {
        if (port.backlog != Port::none) __builtin_prefetch(&lines_[port.backlog], 1);
    }
    // What `prefetch` has fetched says what else is needed.
    void prefetch_more(const Port& port) const {
        if (port.backlog == Port::none) return;
        const Line& line = lines_[port.backlog];
        __builtin_prefetch(&line.flows[line.then], 1);
        __builtin_prefetch(&blocks_[line.tail].bytes[line.end], 1);
    }

  private:
    // What is known of the last packet of a message, from which the next one is foretold.
    struct State {
        std::int64_t came = 0;
        std::int32_t step = 0;  // from packet to packet
        std::uint32_t delay = 0, size = 0;
    };
    // A message among those that wait for a port. One cache line.
    struct alignas(64) Flow {
        std::uint32_t to = 0, stage = 0, memory = 0;
        std::uint32_t waiting : 26 = 0;  // packets
        std::uint32_t then : 6 = 0;      // whose packet came after this one's
        State put, take;
    };
    static_assert(sizeof(Flow) == 64);
    static constexpr std::uint32_t most_waiting = (1u << 26) - 1;
    // Where so many more packets were not foretold than were, a line takes no more of them.
    static constexpr std::int8_t least_gain = -64, most_gain = 64;

    // One cache line.
    struct alignas(64) Line {
        static constexpr std::uint32_t most_flows = 63;

        std::unique_ptr<std::uint32_t[]> keys;  // of flows: to look through these touches few lines
        std::unique_ptr<Flow[]> flows;
        std::int64_t put_start = 0, take_start = 0;  // when the packet after the last one takes the port, without a gap
        std::int64_t first = 0;                      // when the first one does
        std::uint32_t waiting = 0;                   // packets
        std::uint32_t head = 0, tail = 0;            // blocks
        std::uint32_t next = 0;                      // of the pool
        std::uint8_t begin = 0, end = 0;             // bytes used of the first block, and of the last
        std::uint8_t known = 0, room = 0;            // flows
        std::uint8_t last = 0, then = 0;             // whose packet was put last, and whose came after it the last time
        std::int8_t gain = 0;                        // packets that were foretold less others, of late
    };
    static_assert(sizeof(Line) == 64);

    struct Block {
        static constexpr std::size_t size = 252;  // what a byte counts
        std::uint32_t next = 0;
        std::uint8_t bytes[size];
    };

    // What stands of a packet: its message in six bits, what follows in two.
    enum Mode : std::uint32_t {
        foretold,
        delayed,  // its delay, else as foretold
        shifted,  // how much later or earlier than foretold it came, and its delay
        whole     // all of it: start, came, delay, size
    };
    static constexpr std::uint32_t flow_bits = 6;
    static constexpr std::uint8_t continued = Line::most_flows;  // in place of a message: the next block goes on
    static constexpr std::array<std::size_t, 4> mode_bytes{0, 4, 8, 24};  // after the first byte

    void open(Port& port, const Waiting& packet);
    void close(Port& port);
    std::int64_t first_of(Line& line);
    static std::uint32_t key_of(const Waiting& packet);
    static std::uint32_t find(const Line& line, const Waiting& packet);
    static std::uint32_t add(Line& line, const Waiting& packet);
    static Mode mode_of(const State& state, std::int64_t start, const Waiting& packet);
    static void go_on(State& state, Mode mode, std::int64_t came, std::uint32_t delay, std::uint32_t size);
    void write(Line& line, std::uint32_t flow, Mode mode, const Waiting& packet);
    const std::uint8_t* head_of(Line& line);
    Waiting read(Line& line);

    Pool<Line> lines_;
    Pool<Block> blocks_;
};

}  // namespace tradewind::sim
