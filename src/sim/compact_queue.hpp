// Packets that wait long for their ports, in a byte or a few each.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/prefetch.hpp"
#include "sim/event.hpp"
#include "sim/network.hpp"
#include "sim/pool.hpp"
#include "sim/run_pool.hpp"

namespace tradewind::sim {

// Where buffers are unbounded a packet's time on a port is fixed when it arrives; it may lie far ahead, and an event of
// 32 bytes for each packet until then would be tens of gigabytes where a million ranks crowd their links. Those that
// wait for one port are held here in the order in which they take it. They belong to few messages, follow one another
// without a gap and come at even intervals, so that what is next can mostly be predicted from the last packet of its
// message: then it takes a byte, the number of that message; else what differs.
class CompactQueue {
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
    // `likely`: the result of `prefetch`, or any number.
    bool put(Port& port, const Waiting& packet, std::int64_t duration, std::uint32_t likely);

    // Whether any port ever had one.
    bool any() const { return lines_.capacity() > 0; }
    // When the first packet of a port that has a compact queue takes it.
    std::int64_t first(const Port& port) const { return lines_[port.compact_queue].first; }

    // Calls `use` with each packet that takes the port before `end`, in order. Returns whether any are left; else the
    // port has no compact queue any more.
    template <class Duration, class Use>
    bool take(Port& port, std::int64_t end, Duration duration, Use use) {
        Line& line = lines_[port.compact_queue];
        for (std::uint32_t i = 0; i < line.known; ++i) prefetch_line(&line.flows[i]);
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

    // For `put` or `take` at a port with a compact queue. First the line of the port; once that has come, what it has
    // of the message, which is found again faster by the number that is returned.
    void prefetch(const Port& port) const {
        const Line& line = lines_[port.compact_queue];
        prefetch_line(&line);
        prefetch_line(&line.tags);
    }
    std::uint32_t prefetch(const Port& port, std::uint32_t to, std::uint32_t memory) const {
        const Line& line = lines_[port.compact_queue];
        prefetch_line(&blocks_[line.tail].bytes[line.end]);
        return for_likely(line, tag_of(to, memory), [&](std::uint32_t number) {
            prefetch_line(&line.flows[number]);
            return true;
        });
    }

  private:
    // State after the last packet of a message, from which the next one is predicted.
    struct State {
        std::int64_t came = 0;
        std::int32_t step = 0;  // from packet to packet
        std::uint32_t delay = 0, size = 0;
    };
    // A message among those that wait for a port. One cache line.
    struct alignas(64) Flow {
        std::uint32_t to = 0, stage = 0, memory = 0;
        std::uint32_t waiting = 0;  // packets
        State put, take;
    };
    static_assert(sizeof(Flow) == 64);
    static constexpr std::uint32_t max_waiting = ~0u;
    // Minimum and maximum of the packets that were predicted less those that were not; at the minimum a line takes no
    // more of them.
    static constexpr std::int8_t min_gain = -64, max_gain = 64;

    static constexpr std::uint32_t max_flows = 63;
    static_assert(max_flows <= 1u << RunPool<Flow>::maximum);
    // A line with flows has room for at least 2^shortest_run of them.
    static constexpr int shortest_run = 2;

    // Two cache lines: what a packet needs, and where its message is found.
    struct alignas(64) Line {
        Flow* flows = nullptr;
        std::int64_t put_start = 0, take_start = 0;  // when the packet after the last one takes the port, without a gap
        std::int64_t first = 0;                      // when the first one does
        std::uint32_t waiting = 0;                   // packets
        std::uint32_t head = 0, tail = 0;            // blocks
        std::uint32_t next = 0;                      // of the pool
        std::uint8_t begin = 0, end = 0;             // bytes used of the first block, and of the last
        std::uint8_t known = 0;                      // flows
        std::uint8_t run = 0;                        // room for 2^run of them; 0: none
        std::int8_t gain = 0;                        // packets that were predicted less others, of late
        // The tag of flow i is byte i % 8 of word i / 8, so that the cache lines of other messages are not touched.
        alignas(64) std::array<std::uint64_t, 8> tags;
    };
    static_assert(sizeof(Line) == 128);

    struct Block {
        static constexpr std::size_t size = 252;  // what a byte counts
        std::uint32_t next = 0;
        std::uint8_t bytes[size];
    };

    // Encoding of a packet: its message in six bits, the kind of what follows in two.
    enum Mode : std::uint32_t {
        predicted,
        delayed,  // its delay, else as predicted
        shifted,  // how much later or earlier than predicted it came, and its delay
        whole     // all of it: start, came, delay, size
    };
    static constexpr std::uint32_t flow_bits = 6;
    static constexpr std::uint8_t continued = max_flows;  // in place of a message: the next block goes on
    static constexpr std::array<std::size_t, 4> mode_bytes{0, 4, 8, 24};  // after the first byte

    void open(Port& port, const Waiting& packet);
    void close(Port& port);
    std::int64_t first_of(Line& line);
    static std::uint8_t tag_of(std::uint32_t to, std::uint32_t memory) {
        return static_cast<std::uint8_t>((to * 0x9e3779b1u ^ memory) * 0x85ebca6bu >> 24);
    }
    static void set_tag(Line& line, std::uint32_t number, std::uint8_t tag);
    // Calls `is` with the flows that have the tag, until that returns true; returns which, or max_flows.
    template <class Is>
    static std::uint32_t for_likely(const Line& line, std::uint8_t tag, Is is) {
        constexpr std::uint64_t ones = 0x0101010101010101, low = 0x7f * ones;
        for (std::uint32_t i = 0; i < line.known; i += 8) {
            const std::uint64_t differ = line.tags[i / 8] ^ tag * ones;
            // The highest bit of each byte that is 0.
            for (std::uint64_t same = ~(((differ & low) + low) | differ | low); same != 0; same &= same - 1) {
                const std::uint32_t number = i + static_cast<std::uint32_t>(std::countr_zero(same)) / 8;
                if (number < line.known && is(number)) return number;
            }
        }
        return max_flows;
    }
    static bool is(const Flow& flow, const Waiting& packet) {
        return flow.to == packet.to && flow.stage == packet.stage && flow.memory == packet.memory;
    }
    static std::uint32_t find(const Line& line, const Waiting& packet, std::uint32_t likely);
    std::uint32_t add(Line& line, const Waiting& packet);
    void make_room(Line& line);
    static Mode mode_of(const State& state, std::int64_t start, const Waiting& packet);
    static void go_on(State& state, Mode mode, std::int64_t came, std::uint32_t delay, std::uint32_t size);
    void write(Line& line, std::uint32_t flow, Mode mode, const Waiting& packet);
    const std::uint8_t* head_of(Line& line);
    Waiting read(Line& line);

    Pool<Line> lines_;
    Pool<Block> blocks_;
    // In large pages: they lie all over a gigabyte, and to walk the page table for each would cost more than the line.
    RunPool<Flow> runs_;
};

}  // namespace tradewind::sim
