// Whether a simulation goes on with all of its threads or with one.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tradewind::sim {

// A barrier a window pays where windows are full and every thread has a core. On a busy machine, or in a phase whose
// windows hold little, one thread alone is faster, which cannot be known beforehand. So now and then the other way is
// tried, and kept if it was faster than the usual one just before, twice in a row; older figures do not count,
// as phases change. A way that stands the trials is tried against the other one ever more seldom: where windows take
// tens of milliseconds a trial is long, and a wrong decision must not last. The result of a simulation does not depend
// on it.
class Pace {
  public:
    // How long one way is kept before it is judged. Where a window takes milliseconds, it is judged by several, and not
    // by the first one, for which threads wake, and what one has made moves to the other's cache.
    static constexpr std::chrono::milliseconds stretch{4};
    static constexpr int min_looks = 4;
    static constexpr int soon = 3, seldom = 96;  // stretches from a change, or from a trial, to the next trial

    // Called by the first thread now and then with the events so far: whether it goes on alone.
    bool alone(std::uint64_t events, std::chrono::steady_clock::time_point now) {
        if (++looks_ == 1) begin(events, now);
        if (now - began_ < stretch || looks_ <= min_looks) return alone_;
        const double rate = static_cast<double>(events - before_) / std::chrono::duration<double>(now - began_).count();
        begin(events, now);
        looks_ = 1;
        if (trying_) {
            trying_ = false;
            if (rate <= usual_rate_) {
                won_ = 0;
                until_trial_ = interval_ = std::min(2 * interval_, seldom);
                change();
            } else if (++won_ == 1) {
                until_trial_ = 1;
                change();
            } else {
                won_ = 0;
                until_trial_ = interval_ = soon;
            }
        } else if (--until_trial_ <= 0) {
            usual_rate_ = rate;
            trying_ = true;
            change();
        }
        return alone_;
    }

  private:
    void begin(std::uint64_t events, std::chrono::steady_clock::time_point now) {
        began_ = now;
        before_ = events;
    }
    void change() {
        alone_ = !alone_;
        looks_ = 0;
    }

    std::chrono::steady_clock::time_point began_;
    std::uint64_t before_ = 0;
    double usual_rate_ = 0;  // events per second, before the trial
    int looks_ = 0;          // in this stretch; 0: the way has just changed
    int until_trial_ = 1;    // stretches
    int interval_ = soon;
    int won_ = 0;  // trials in a row
    bool trying_ = false, alone_ = false;
};

}  // namespace tradewind::sim
