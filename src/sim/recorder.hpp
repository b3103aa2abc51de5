// Writes down what some of a part's ranks do, as the engine's ranks tell it.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "sim/trace_event.hpp"

namespace tradewind::sim {

// Ranks that are not shown are passed over.
class Recorder {
  public:
    // `shown`: in ascending order.
    Recorder(const std::vector<Rank>& shown, std::uint32_t nics_per_node);

    void begin_stage(Rank rank, std::uint32_t stage, std::int64_t begin, std::int64_t posted, std::int64_t computed);
    void end_stage(Rank rank, std::int64_t end);
    void match(Rank rank, std::int64_t begin, std::int64_t end);
    void copy(Rank from, Rank to, std::int64_t bytes, std::int64_t begin, std::int64_t end);
    // A NIC is about to send the rest of a message, and has sent all of it. Messages that were asked for leave in an
    // order of their own, between the packets of the others.
    void sending(Rank rank, std::uint32_t nic, bool pulled, std::int64_t left, std::int64_t begin);
    void sent(Rank rank, std::uint32_t nic, bool pulled, Rank peer, std::int64_t end);
    // Bytes of what `peer` sends in a stage.
    void arrive(Rank rank, std::uint32_t stage, Rank peer, std::int64_t bytes, std::int64_t time);

    // Adds all that was written down.
    void add_to(std::vector<TraceEvent>& events) const;

  private:
    struct Sending {
        std::int64_t begin = 0, bytes = 0;
    };
    struct Arrived {
        std::int64_t bytes = 0, time = 0;
    };
    // The state of a rank that is shown: its stage, and the messages of its NICs.
    struct Open {
        std::uint32_t stage = 0;
        std::int64_t begin = 0;
        std::vector<Sending> sending;  // [NIC][pulled]
    };

    Open* open(Rank rank);
    void add(const TraceEvent& event);

    std::vector<Rank> shown_;
    std::vector<Open> open_;  // [shown rank]
    std::vector<TraceEvent> events_;
    std::map<std::tuple<Rank, std::uint32_t, Rank>, Arrived> arrived_;  // [rank, stage, peer]
};

}  // namespace tradewind::sim
