// The messages of LogGP: what the NICs of sender and receiver and the path between them take, on an empty network.
#pragma once

#include <cstdint>

#include "machine/machine.hpp"
#include "machine/placement.hpp"
#include "program/members.hpp"
#include "schedule/schedule.hpp"
#include "sim/statistics.hpp"

namespace tradewind::sim {

// Messages of one stage that a rank has received.
struct LogGpReceived {
    std::int64_t messages = 0, bytes = 0;  // bytes from other nodes
    std::int64_t last = 0;                 // arrival of the last tail, ps
};

// A stage of a schedule, and which ranks of the program are those of the schedule.
struct LogGpStage {
    const schedule::Schedule& schedule;
    int stage;
    std::int64_t bytes_per_point;
    const program::Members& members;
};

class LogGpMessages {
  public:
    // `one_sided`: as SimulationOptions has it.
    LogGpMessages(const machine::Machine& machine, const machine::Placement& placement, bool one_sided);

    // Sends the messages of a rank, posted from `begin` on, by a NIC that is free from `free` on, which becomes later:
    // each is added to `received`(peer). Returns when the last one has left, `begin` if there is none. Times in ps.
    template <class Received>
    std::int64_t send(const LogGpStage& at, Rank rank, std::int64_t begin, std::int64_t& free, SimulationResult& result,
                      Received received) const {
        std::int64_t post = begin, left = begin;
        const Rank place = at.members.place(rank);
        for (int j = 0, n = at.schedule.sends(place, at.stage); j < n; ++j) {
            const schedule::Message message = at.schedule.send(place, at.stage, j);
            if (message.count == 0) continue;
            const Rank peer = at.members.at(message.peer);
            post += machine_.send_overhead.value;
            left = deliver(rank, peer, message.count * at.bytes_per_point, post, free, result, received(peer));
        }
        return left;
    }

    // When a stage ends for its receiver, which began it at `begin` and whose own messages have left at `left`.
    std::int64_t end(const LogGpReceived& received, std::int64_t begin, std::int64_t left) const;

  private:
    // A path without traffic: its latency, and the byte time (ps) of its slowest link.
    struct Path {
        std::int64_t latency = 0;
        double byte_time = 0;
    };
    Path between(Rank a, Rank b) const;
    std::int64_t deliver(Rank from, Rank to, std::int64_t bytes, std::int64_t post, std::int64_t& free,
                         SimulationResult& result, LogGpReceived& received) const;
    std::int64_t arrival(std::int64_t left, Rank from, Rank to, std::int64_t bytes) const;

    const machine::Machine& machine_;
    const machine::Placement& placement_;
    double receive_overhead_;  // ps
    bool asks_;                // long messages wait until they are asked for
};

}  // namespace tradewind::sim
