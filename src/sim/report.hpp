// The report of a part of a simulation to the others at the end of a window.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/wheel.hpp"

namespace tradewind::sim {

struct alignas(64) Report {
    std::int64_t next = Wheel::never;  // its first window with events
    std::uint64_t events = 0;          // that it has seen in all
    std::int64_t arrived = 0;          // bytes
    std::int64_t hops = 0;
    std::int64_t ended = 0;             // ranks that the next question about the program's ending does not wait for
    std::int64_t begun = Wheel::never;  // when the first rank began what is watched for
    std::uint32_t furthest = 0;         // the last stage that a rank has begun
    bool stop = false;
    bool alone = false;  // from the first part: it does the next round for all of its process

    void add(const Report& other) {
        next = std::min(next, other.next);
        events += other.events;
        arrived += other.arrived;
        hops += other.hops;
        ended += other.ended;
        begun = std::min(begun, other.begun);
        furthest = std::max(furthest, other.furthest);
        stop = stop || other.stop;
    }
};

}  // namespace tradewind::sim
