#include "sim/delays.hpp"

#include <algorithm>

#include "sim/clock.hpp"

namespace tradewind::sim {

bool Delays::can_repeat(std::int64_t later) const {
    return log_is_whole_ && std::all_of(log_.begin(), log_.end(),
                                        [&](const Logged& packet) { return packet.time <= latest.value - later; });
}

void Delays::repeat(std::int64_t period, std::int64_t times) {
    ahead_ += period * times;
    if (log_.empty()) return;
    std::sort(log_.begin(), log_.end(), [](const Logged& a, const Logged& b) { return a.time < b.time; });
    std::vector<Delayed> before(log_.size() + 1);  // [packet] the sum of those before it
    for (std::size_t i = 0; i < log_.size(); ++i) {
        before[i + 1] = before[i];
        before[i + 1].add(log_[i].delay);
    }
    while (static_cast<std::size_t>((log_.back().time + ahead_) >> series_.shift) >= DelaySeries::bins) series_.widen();
    for (std::int64_t later = period; later <= ahead_; later += period)
        for (std::size_t i = 0; i < log_.size();) {
            const std::int64_t bin = (log_[i].time + later) >> series_.shift;
            const auto end = static_cast<std::size_t>(
                std::lower_bound(log_.begin() + static_cast<std::ptrdiff_t>(i), log_.end(),
                                 ((bin + 1) << series_.shift) - later,
                                 [](const Logged& packet, std::int64_t time) { return packet.time < time; }) -
                log_.begin());
            Delayed some = before[end];
            some.remove(before[i]);
            series_.values[static_cast<std::size_t>(bin)].add(some);
            i = end;
        }
}

}  // namespace tradewind::sim
