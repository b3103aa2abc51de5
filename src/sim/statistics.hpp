// Results of a simulation.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "sim/busy_time.hpp"
#include "sim/clock.hpp"
#include "sim/replay_times.hpp"
#include "sim/trace_event.hpp"

namespace tradewind::sim {

// Counts of packets by delay (arrival minus arrival on an empty network), in four bins an octave of picoseconds;
// bin 0 holds what waited less than one.
struct DelayHistogram {
    static constexpr std::size_t bins = 256;
    std::array<std::uint64_t, bins> counts{};

    void add(float picoseconds) {
        // The leading bits of a float are its exponent and two bits of mantissa: four bins an octave.
        constexpr std::uint32_t one = std::bit_cast<std::uint32_t>(1.0f) >> 21;
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(picoseconds) >> 21;
        const std::uint32_t bin = bits < one ? 0 : bits - one + 1;
        ++counts[bin < bins ? bin : bins - 1];
    }
    // The lower edge of a bin, in seconds; the upper one is the next bin's lower.
    static double lower_edge(std::size_t bin) {
        if (bin == 0) return 0;
        const auto octave = static_cast<double>((bin - 1) / 4), quarter = static_cast<double>((bin - 1) % 4);
        return std::exp2(octave) * (1 + quarter / 4) * 1e-12;
    }
    void merge(const DelayHistogram& other) {
        for (std::size_t i = 0; i < bins; ++i) counts[i] += other.counts[i];
    }
};

// A sum of delays. They are whole numbers of picoseconds (as floats, of 12 bits), so that an integer holds their sum to
// the last one, whatever the order in which they are added: a double would round it.
class DelaySum {
  public:
    void add(float picoseconds) { sum_ += static_cast<std::uint64_t>(picoseconds); }
    void add(DelaySum other) { sum_ += other.sum_; }
    void remove(DelaySum other) { sum_ -= other.sum_; }
    template <class Tally>
    void tally(Tally& count) {
        count(sum_);
    }
    double picoseconds() const { return static_cast<double>(sum_); }

  private:
    unsigned __int128 sum_ = 0;
};

// Packets and their delays.
struct Delayed {
    std::uint64_t packets = 0;
    DelaySum delay;

    void add(float picoseconds) {
        ++packets;
        delay.add(picoseconds);
    }
    void add(const Delayed& other) {
        packets += other.packets;
        delay.add(other.delay);
    }
    void remove(const Delayed& other) {
        packets -= other.packets;
        delay.remove(other.delay);
    }
};

// Delays of packets by the time at which they arrive, in at most `bins` bins of equal width, a power of two of
// picoseconds that doubles when the run outlasts them.
struct DelaySeries {
    static constexpr std::size_t bins = 512;
    int shift = 20;  // about a microsecond
    std::vector<Delayed> values = std::vector<Delayed>(bins);

    void add(std::int64_t time, float delay) {
        if (static_cast<std::size_t>(time >> shift) >= bins) [[unlikely]]
            return add_beyond(time, delay);
        values[static_cast<std::size_t>(time >> shift)].add(delay);
    }
    [[gnu::noinline]] void add_beyond(std::int64_t time, float delay) {
        while (static_cast<std::size_t>(time >> shift) >= bins) widen_to(time);
        values[static_cast<std::size_t>(time >> shift)].add(delay);
    }
    // Throws InputError for a time that 64 bits did not hold: what waits for the port of a rank is no event that would
    // be refused before.
    void widen_to(std::int64_t time) {
        if (time < 0)
            sim::refuse_time("a packet arrives at", static_cast<double>(static_cast<std::uint64_t>(time)) * 1e-12);
        widen();
    }
    void widen() {
        for (std::size_t i = 0; i < bins; ++i) {
            Delayed both = 2 * i < bins ? values[2 * i] : Delayed{};
            if (2 * i + 1 < bins) both.add(values[2 * i + 1]);
            values[i] = both;
        }
        ++shift;
    }
    void merge(DelaySeries other) {
        while (shift < other.shift) widen();
        while (other.shift < shift) other.widen();
        for (std::size_t i = 0; i < bins; ++i) values[i].add(other.values[i]);
    }
};

// Delays of packets by the blocks of ranks that they come from and go to; empty unless asked for.
struct DelayPairs {
    std::uint32_t blocks = 0;
    std::vector<Delayed> values;  // [source block][destination block]

    void resize(std::uint32_t n) {
        blocks = n;
        values.assign(std::size_t{n} * n, {});
    }
    void merge(const DelayPairs& other) {
        if (blocks == 0) resize(other.blocks);
        for (std::size_t i = 0; i < values.size(); ++i) values[i].add(other.values[i]);
    }
};

// Bytes of ports or NICs: only of those that have sent any, since most cases use few of a machine's.
struct SentBytes {
    std::size_t size = 0;                                       // ports or NICs
    std::vector<std::pair<std::uint32_t, std::uint64_t>> used;  // number, bytes; in any order

    // Return those of each, by its number.
    std::vector<std::uint64_t> all() const {
        std::vector<std::uint64_t> bytes(size);
        for (const auto& [number, sent] : used) bytes[number] = sent;
        return bytes;
    }
};

// A packet's head at a switch: when it came, and the port by which it goes on.
struct Passage {
    std::uint32_t switch_id, port;
    std::int64_t bytes;
    Picoseconds time;
};

struct SimulationResult {
    Picoseconds time;                   // until the last rank has ended its last stage
    std::vector<Picoseconds> step_end;  // [step], over all ranks
    BusyTime busy;                      // computing and the detours that it met; of no rank without noise
    std::int64_t messages = 0, bytes = 0;
    std::int64_t unexpected_bytes = 0;  // that came before their receive was posted, where that is asked about
    std::int64_t packet_hops = 0;       // one packet through one port, injection and ejection included
    std::uint64_t events = 0;
    std::uint64_t windows = 0, solo_windows = 0;  // visited in all, and by one thread for all parts
    // Repetitions of a program that were simulated, and were skipped as they are the same as others; events and windows
    // are those of the first. Where none could be skipped: why.
    std::int64_t steps_simulated = 0, steps_skipped = 0;
    std::string no_skip;
    DelayHistogram delay;
    DelaySeries delay_series;
    DelayPairs delay_pairs;
    SentBytes port_bytes;                       // [switch * radix + port]
    SentBytes nic_bytes;                        // [node]
    Picoseconds bound;                          // the time that the busiest link or NIC needs for its bytes
    std::string bound_by;                       // which
    double imbalance = 1;                       // maximum over mean load of the links between switches that were used
    std::vector<Passage> passages;              // in order of time; empty unless asked for
    std::vector<TraceEvent> trace_events;       // by rank, in order of time; empty unless asked for
    std::vector<std::int64_t> spent;            // [rank][label] ps; of calls that are replayed, else empty
    std::shared_ptr<const ReplayTimes> replay;  // the same; else null
};

}  // namespace tradewind::sim
