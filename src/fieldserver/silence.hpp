// Silence of servers that have work, after which they count as lost.
#pragma once

#include <algorithm>

namespace tradewind::fieldserver {

// The silence of one server. Times are in seconds of any one clock.
class Silence {
  public:
    Silence(double patience_s, double now) : patience_s_(patience_s), received_at_(now) {}

    // A message has come.
    void end(double now) { received_at_ = now; }
    double seconds(double now) const { return now - received_at_; }
    // Whether a server that has work, or none, has been silent for too long: since it has work, or since its last
    // message.
    bool is_too_long(bool has_work, double now) {
        if (has_work && !working_) working_since_ = now;
        working_ = has_work;
        return working_ && now - std::max(working_since_, received_at_) > patience_s_;
    }

  private:
    double patience_s_, received_at_, working_since_ = 0;
    bool working_ = false;
};

}  // namespace tradewind::fieldserver
