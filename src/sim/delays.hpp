// How long packets have waited on their way.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/event.hpp"
#include "sim/statistics.hpp"
#include "sim/world.hpp"

namespace tradewind::sim {

// Delays of the packets that arrive at the ranks of one part.
class Delays {
  public:
    explicit Delays(const World& world) : world_(world) {
        if (world.blocks > 0) pairs_.resize(world.blocks);
    }

    // A packet that arrives at `time`; `delay`: see Delay.
    void record(const Event& event, std::uint32_t delay, std::int64_t time) {
        const float picoseconds = Delay::picoseconds(delay);
        histogram_.add(picoseconds);
        if (pairs_.blocks > 0) [[unlikely]]
            record_pair(event, delay);
        if (keeps_log_) [[unlikely]]
            log(time, picoseconds);
        series_.add(time + ahead_, picoseconds);
    }
    // Begins a log of what is recorded, or ends it; what there is of one is forgotten.
    void keep_log(bool keeps) {
        keeps_log_ = keeps;
        log_is_whole_ = true;
        log_ = {};
    }
    // Whether the log holds all that was recorded, and it can be so much later.
    bool can_repeat(std::int64_t later) const;
    // Adds what the log holds `times` times more over time, each later by a period; all that comes after it is later.
    void repeat(std::int64_t period, std::int64_t times);
    template <class Tally>
    void tally(Tally& count) {
        for (std::uint64_t& packets : histogram_.counts) count(packets);
        for (Delayed& pair : pairs_.values) {
            count(pair.packets);
            pair.delay.tally(count);
        }
    }
    void add_to(SimulationResult& result) const {
        result.delay.merge(histogram_);
        result.delay_series.merge(series_);
        result.delay_pairs.merge(pairs_);
    }

  private:
    struct Logged {
        std::int64_t time;
        float delay;
    };

    // A log of a hundred megabytes is given up: memory is for the simulation.
    static constexpr std::size_t longest_log = std::size_t{1} << 22;
    [[gnu::noinline]] void log(std::int64_t time, float delay) {
        if (log_.size() < longest_log) {
            log_.push_back({time, delay});
            return;
        }
        keep_log(false);
        log_is_whole_ = false;
    }
    [[gnu::noinline]] void record_pair(const Event& event, std::uint32_t delay) {
        const std::uint32_t from = world_.origins.block(Delay::block(delay)),
                            to = world_.origins.block_of(static_cast<Rank>(event.rank()));
        pairs_.values[std::size_t{from} * pairs_.blocks + to].add(Delay::picoseconds(delay));
    }

    const World& world_;
    std::int64_t ahead_ = 0;  // ps that were skipped
    bool keeps_log_ = false, log_is_whole_ = true;
    std::vector<Logged> log_;
    DelayHistogram histogram_;
    DelaySeries series_;
    DelayPairs pairs_;
};

}  // namespace tradewind::sim
