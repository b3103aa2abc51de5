// Whether a simulation goes on with all of its threads or with one.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace tradewind::sim {

// A barrier a window pays where windows are full and every thread has a core. On a busy machine, or in a phase whose
// windows hold little, one thread alone is faster, and nobody can tell beforehand. So both ways are timed, again and
// again: the faster one gets most of the time. The result of a simulation does not depend on it.
class Pace {
  public:
    // How long one way is kept before it is judged, and the share of such stretches that go to the other way.
    static constexpr std::chrono::milliseconds stretch{4};
    static constexpr std::uint64_t stretches_a_trial = 24;

    // Called by the first thread now and then with the events so far: whether it goes on alone.
    bool alone(std::uint64_t events, std::chrono::steady_clock::time_point now) {
        if (now - began_ < stretch) return alone_;
        rates_[alone_] = static_cast<double>(events - before_) / std::chrono::duration<double>(now - began_).count();
        began_ = now;
        before_ = events;
        const bool trial = ++stretches_ % stretches_a_trial == 0 || rates_[!alone_] == 0;
        alone_ = trial ? !alone_ : rates_[true] > rates_[false];
        return alone_;
    }

  private:
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    std::uint64_t before_ = 0, stretches_ = 0;
    std::array<double, 2> rates_{};  // [alone]: events a second
    bool alone_ = false;
};

}  // namespace tradewind::sim
