// Ranks that follow the calls of a trace: sends, receives and waits for them in any order. They share NICs, switches
// and the memory of nodes with each other as ranks of a program do.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "program/calls.hpp"
#include "sim/event.hpp"
#include "sim/replay_times.hpp"
#include "sim/world.hpp"

namespace tradewind::sim {

class Ranks;

class Replay {
  public:
    Replay(const World& world, Ranks& ranks, const program::Calls& calls);

    void start(Rank r);
    // A rank goes on with its calls.
    void go_on(Rank r);
    // A packet whose tail comes at `time`, in a later window.
    void take_packet(const Event& event, std::int64_t time);
    // All of a message has come.
    void end_message(Rank r, std::uint32_t message, std::int64_t time);
    // A sender announces a long message. `request`: of the sender.
    void take_request(Rank r, std::uint32_t message, std::uint32_t request);
    // A message can be sent: it is short, or its receiver has asked for it.
    void depart(Rank r, std::uint32_t request);
    // The last packet of a message leaves the NIC of its rank until `time`.
    void end_departure(Rank r, std::uint32_t request, std::int64_t time);
    // A request ends: its message has come, has left, or has been acknowledged.
    void end(Rank r, std::uint32_t request, std::int64_t time);

    void add_to(SimulationResult& result) const;
    // The first rank here that waits for what does not come, in words; empty: none does.
    std::string stuck() const;

  private:
    static constexpr std::int64_t open = ReplayTimes::open;
    static constexpr std::uint32_t none = ReplayTimes::none;

    // A message that is to come.
    struct Incoming {
        std::int64_t left;           // bytes
        std::uint32_t request;       // of its receive
        std::uint32_t asker = none;  // the request of a sender that waits to be asked for it
        bool posted = false, acknowledges = false;
    };
    struct State {
        std::size_t next = 0;                              // call
        std::uint32_t requests = 0;                        // begun so far
        std::int64_t cpu = 0;                              // ps until which it is busy
        std::int64_t begin = 0;                            // ps at which the call in hand began
        std::uint32_t waits = none;                        // request
        bool begun = false;                                // the CPU has begun with the call in hand
        std::vector<Incoming> incoming;                    // [message]
        std::vector<std::uint32_t> announced;              // messages whose requests wait for a call
        std::vector<std::int64_t> spent;                   // [label] ps
        std::vector<std::deque<std::uint32_t>> departing;  // [NIC] requests; the first one is being sent
    };
    State& state(Rank r) { return states_[static_cast<std::size_t>(r)]; }
    // Carry out a call at its time. Whether the rank goes on.
    bool carry_out(Rank r, State& rank, const program::Call& call);
    bool post(Rank r, State& rank, const program::Call& call);
    static constexpr std::int64_t packets_ahead = 4;  // of a message: the memory of their events is there at once

    bool waits_its_turn(const program::Call& call) const {
        return !foresees_ || call.kind == program::Call::send || call.kind == program::Call::receive;
    }
    bool is_announced(const program::Call& call) const { return call.synchronous || world_.rendezvous(call.size()); }
    void send_first(Rank r, std::uint32_t nic);
    void hand_over(Rank r, const program::Call& call, std::uint32_t request, std::uint32_t nic);
    void send(Rank r, const program::Call& call, std::uint32_t request);
    void copy(Rank r, const program::Call& call, std::uint32_t request);
    bool wait(Rank r, State& rank, const program::Call& call);
    // `in_call`: a call of the receiver has to come first.
    void ask_for(Rank r, std::uint32_t message, bool in_call);
    ReplayTimes::Message& message_times(Rank r, std::uint32_t message) {
        return times_.messages[static_cast<std::size_t>(r)][message];
    }
    std::int64_t& ended(Rank r, std::uint32_t request) { return times_.ended[static_cast<std::size_t>(r)][request]; }

    const World& world_;
    Ranks& ranks_;
    const program::Calls& calls_;
    // No message is announced, or copied again where it comes: nothing that comes to a rank changes what it does before
    // it waits for just that. So it goes on at once through computations, and through waits for what will have ended at
    // a time that is known.
    bool foresees_;
    // The same, and NICs are not shared and wait for no room: messages, which are short, are on their way when they are
    // posted, at the times at which they will leave.
    bool sends_ahead_;
    ReplayTimes& times_;
    std::vector<State> states_;  // [rank]; of those of other parts empty
};

}  // namespace tradewind::sim
