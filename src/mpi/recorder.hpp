// Where the time of a plan goes.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace tradewind::mpi {

enum class Recording : std::uint8_t { none, totals, events };

// Operations of a rank in a plan.
enum class Activity : std::uint8_t { pack, post, copy, wait, unpack };
inline constexpr std::array<const char*, 5> activity_names{"pack", "post", "copy", "wait", "unpack"};

struct TraceEvent {
    Activity activity;
    int stage;
    int peer;  // -1: of no single one
    Index bytes;
    std::int64_t begin, end;  // ns of the system's steady clock
};

// Adds up activities, and keeps each one where asked to. Where nothing is recorded no clock is read.
class Recorder {
  public:
    explicit Recorder(Recording recording) : recording_(recording) {}

    template <typename Work>
    void during(Activity activity, int stage, int peer, Index bytes, Work work) {
        if (recording_ == Recording::none) return work();
        const std::int64_t begin = now();
        work();
        add({activity, stage, peer, bytes, begin, now()});
    }

    double seconds(Activity activity) const { return 1e-9 * static_cast<double>(total_[static_cast<int>(activity)]); }
    const std::vector<TraceEvent>& events() const { return events_; }
    void clear() {
        total_.fill(0);
        events_.clear();
    }

  private:
    static std::int64_t now() {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }
    void add(const TraceEvent& event) {
        total_[static_cast<int>(event.activity)] += event.end - event.begin;
        if (recording_ == Recording::events) events_.push_back(event);
    }

    Recording recording_;
    std::array<std::int64_t, 5> total_{};
    std::vector<TraceEvent> events_;
};

}  // namespace tradewind::mpi
