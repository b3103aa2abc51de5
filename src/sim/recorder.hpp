// Writes down trace events of some of a part's ranks, which the engine's ranks report.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "program/order.hpp"
#include "sim/trace_event.hpp"

namespace tradewind::sim {

// Ranks that are not shown are passed over.
class Recorder {
  public:
    // `shown`: in ascending order. `lines`: exchanges that may be open at once.
    Recorder(const std::vector<Rank>& shown, std::uint32_t lines, std::uint32_t nics_per_node);

    // `by_thread`: a thread beside the CPU posts and matches.
    void begin_stage(Rank rank, std::uint32_t stage, std::int64_t begin, std::int64_t posted, std::int64_t computed,
                     bool by_thread);
    void end_stage(Rank rank, std::uint32_t stage, std::int64_t end);
    void match(Rank rank, std::uint32_t stage, std::int64_t begin, std::int64_t end, bool by_thread);
    void copy(Rank from, Rank to, std::uint32_t stage, std::int64_t bytes, std::int64_t begin, std::int64_t end);
    // A NIC is about to send the rest of a message, and has sent all of it. Messages that were asked for leave in an
    // order of their own, between the packets of the others.
    void sending(Rank rank, std::uint32_t stage, std::uint32_t nic, bool pulled, std::int64_t left, std::int64_t begin);
    void sent(Rank rank, std::uint32_t stage, std::uint32_t nic, bool pulled, Rank peer, std::int64_t end);
    // The operations of a program with an order. One that is begun again goes on.
    void begin_operation(Rank rank, std::int64_t begin);
    void end_operation(Rank rank, std::uint32_t step, TraceEventKind kind, std::int64_t end);
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
    // The state of a rank that is shown: when its stages and its operation began, and the messages of its NICs.
    struct Open {
        std::vector<std::int64_t> begin;  // [line]
        std::vector<Sending> sending;     // [line][NIC][pulled]
        std::int64_t operation = none;    // ps
    };
    static constexpr std::int64_t none = -1;

    Open* open(Rank rank);
    std::size_t line(std::uint32_t stage) const { return lines_ == 1 ? 0 : stage >> program::Order::line_shift; }
    Sending& sending(Open& open, std::uint32_t stage, std::uint32_t nic, bool pulled) const {
        return open.sending[2 * (line(stage) * nics_ + nic) + pulled];
    }
    void add(const TraceEvent& event);

    std::vector<Rank> shown_;
    std::uint32_t lines_, nics_;
    std::vector<Open> open_;  // [shown rank]
    std::vector<TraceEvent> events_;
    std::map<std::tuple<Rank, std::uint32_t, Rank>, Arrived> arrived_;  // [rank, stage, peer]
};

}  // namespace tradewind::sim
