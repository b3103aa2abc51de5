// Events of ranks in a simulation, for time lines.
#pragma once

#include <cstdint>
#include <tuple>

#include "base/units.hpp"

namespace tradewind::sim {

enum class TraceEventKind : std::uint32_t {
    stage,    // from its posts until its messages have left and come, and the CPU is free
    post,     // the CPU posts what it sends
    compute,  // the CPU computes
    match,    // the CPU deals with a message, or with the request for one
    send,     // a NIC sends a message: from its first packet's head to its last one's tail
    copy,     // of a message to a rank of the same node
    arrival,  // the last tail of all that `peer` sends in a stage; takes no time
    // Operations of a program with an order, on the CPU; `stage` is the number of their step.
    work,
    start,
    wait,
    poke,
};

struct TraceEvent {
    Rank rank = 0;
    std::uint32_t stage = 0;  // of the program
    Picoseconds begin{0}, end{0};
    TraceEventKind kind = TraceEventKind::stage;
    Rank peer = -1;         // -1: none, or one that packets have no room for
    std::uint32_t nic = 0;  // of the node; of what is posted or matched 1: by a thread beside the CPU
    std::int64_t bytes = 0;

    // By rank, then in order of time; what holds others comes before them.
    friend bool operator<(const TraceEvent& a, const TraceEvent& b) {
        const auto key = [](const TraceEvent& event) {
            return std::tuple(event.rank, event.begin, -event.end.value, event.kind, event.stage, event.peer, event.nic,
                              event.bytes);
        };
        return key(a) < key(b);
    }
};

}  // namespace tradewind::sim
