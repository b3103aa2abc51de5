// All that the parts of a simulation share: constant while they run, or divided among them by switch, node and rank.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/divide.hpp"
#include "base/lazy.hpp"
#include "base/random.hpp"
#include "program/calls.hpp"
#include "program/program.hpp"
#include "sim/clock.hpp"
#include "sim/computing.hpp"
#include "sim/ending.hpp"
#include "sim/message_cost.hpp"
#include "sim/network.hpp"
#include "sim/noise.hpp"
#include "sim/origins.hpp"
#include "sim/parts.hpp"
#include "sim/rank.hpp"
#include "sim/replay_times.hpp"
#include "sim/simulate.hpp"
#include "sim/tie_order.hpp"

namespace tradewind::sim {

struct World {
    // `channels`: virtual channels of finite buffers; 0: unbounded ones. `spreads`: the routing wants a random number a
    // packet, not one per pair of ranks.
    World(const machine::Machine& machine, const program::Program& program, const machine::Placement& placement,
          const SimulationOptions& options, const Parts& parts, int channels, bool spreads);

    // The smallest latency of all processes, which is the length of a window. Throws InputError where it is 0.
    void look_ahead(std::int64_t minimum);

    std::uint32_t node(Rank rank) const { return placement.node(rank); }
    std::uint32_t terminal(std::uint32_t node, std::uint32_t nic) const { return node * nics_per_node + nic; }
    // The NIC at a port of a switch, by the number of the port among all.
    std::uint32_t terminal_at(std::uint32_t port) const {
        const std::uint32_t sw = by_radix.quotient(port);
        return sw * by_switch.divisor() + (port - sw * network.radix() - first_terminal);
    }
    // Wires the port to a NIC, if no other rank of its node has: room for what it sends is reported there.
    void wire_terminal(std::uint32_t terminal) {
        const std::uint32_t sw = by_switch.quotient(terminal);
        const std::uint32_t index = sw * network.radix() + first_terminal + by_switch.remainder(terminal);
        if (network.port(index).rate == 0) network.wire(index);
    }
    // Both ends of a message use the NIC of one number, and a rank's messages spread over all of them, on either side:
    // those to the rank of its own place on each other node as well.
    std::uint32_t nic_of_message(Rank from, Rank to) const {
        if (nics_per_node == 1) return 0;
        const auto digits = [this](Rank r) {
            const std::uint32_t rank = static_cast<std::uint32_t>(r), each = placement.ranks_per_node();
            return rank / each + rank % each;
        };
        return (digits(from) + digits(to)) % nics_per_node;
    }
    bool rendezvous(std::int64_t bytes) const { return bytes > eager_limit; }
    // CPU time before a message of a stage is on its way, in ps.
    std::int64_t post_time(Rank r, const program::Program::Stage& at, int j, const schedule::Message& message) const {
        if (message.count == 0) return 0;
        return message_cost ? message_cost->send(r, at, j) : send_overhead;
    }
    // When the CPU of a rank is done with what takes it `duration` ps from `time` on.
    std::int64_t done(Rank r, std::int64_t time, std::int64_t duration) const {
        return noise ? noise->after(r, time, duration) : after(time, duration, "a rank computes until");
    }
    // When it has posted message j of a stage, and can post the next.
    std::int64_t posted_at(Rank r, std::int64_t time, const program::Program::Stage& at, int j,
                           const schedule::Message& message) const {
        const std::int64_t cost = post_time(r, at, j, message);
        return cost == 0 ? time : done(r, time, cost);
    }
    // When a rank has done a computation for the n-th time, from `time` on. `place`: its number where its points are
    // known.
    std::int64_t computed(std::uint32_t step, Rank r, Rank place, std::int64_t n, std::int64_t time) {
        const auto takes = time_of(program.steps()[step].compute, machine, placement, place, {seed, r, n});
        const std::int64_t end = done(r, time, takes.value);
        if (!busy.empty()) busy[r] += end - time;
        return end;
    }
    // The number of packets of a message from `peer` to rank r; a message that does not travel as packets counts as
    // one.
    std::uint64_t packets(Rank r, const program::Program::Stage& at, const schedule::Message& message) const {
        const std::int64_t bytes = message.count * at.bytes_per_point;
        if (bytes <= packet || bytes <= bypass) return bytes > 0;
        if (shared_nodes && node(r) == node(message.peer)) return 1;
        return static_cast<std::uint64_t>((bytes - 1) / packet + 1);
    }
    // The index of what a rank sends and receives of one of its open exchanges, by a stage of that.
    std::size_t line(Rank r, std::uint32_t stage) const {
        return lines == 1 ? static_cast<std::size_t>(r)
                          : static_cast<std::size_t>(r) * lines + (stage >> program::Order::line_shift);
    }
    Rank rank_of(std::size_t line) const {
        return lines == 1 ? static_cast<Rank>(line) : static_cast<Rank>(line / lines);
    }
    const machine::Machine& machine;
    const program::Program& program;
    const machine::Placement& placement;
    std::shared_ptr<const program::Calls> calls;  // null: ranks follow the program
    std::shared_ptr<ReplayTimes> replay_times;    // of the calls; each rank has its own
    Ending ending;
    Parts parts;
    Network network;
    std::uint32_t lines;               // exchanges that may be open at once
    Progress progress;                 // who brings exchanges on that are open
    LazyArray<Sender> senders;         // [rank][line][NIC of the node]
    LazyArray<Receiver> receivers;     // [rank][line]
    LazyArray<Walker> walkers;         // [rank]; empty where all ranks do the same steps one after another
    LazyArray<LineState> line_states;  // [rank][line], with walkers
    LazyArray<std::int64_t> helpers;   // [rank] ps until which its thread of communication is busy, if it has one
    LazyArray<Nic> nics;               // [terminal]
    LazyArray<std::int64_t> cpus;      // [rank] ps until which it is busy; empty where nothing costs it time
    LazyArray<Handshake> handshakes;   // [rank][line]; empty where all messages are sent at once
    std::optional<Noise> noise;        // of the operating system
    LazyArray<std::int64_t> busy;      // [rank] ps that it has computed, detours among them; empty without noise
    LazyArray<std::uint32_t> posted;   // [rank][line] stages with posted receives; empty where that is all the same
    LazyArray<std::int64_t> memory;    // [node] ps until which its memory copies; empty for one rank per node
    Divider by_switch, by_radix;
    std::uint32_t first_terminal, nics_per_node;
    bool shared_nodes;  // several ranks per node
    bool finite, spreads;
    // Whether what ranks do within a window must be done in order of time: they share a NIC or its room, or a CPU is
    // busy with one thing when the next comes. Otherwise no action has an effect on another of the same window.
    bool ordered;
    bool arbitrates;  // several senders share a NIC, and take turns, a packet at a time
    std::int64_t packet, send_overhead, receive_overhead, eager_limit, bypass;
    std::uint32_t header;
    double memory_byte_time, copy_byte_time;  // ps; of a node's memory, and of one copy
    double unexpected_byte_time;              // ps; of a copy of what came before its receive; 0: none is made
    bool unloaded;                            // see SimulationOptions
    bool receives_at_start;                   // all of an exchange are posted when it begins
    std::optional<MessageCost> message_cost;  // none where no transport is named; it knows the overheads, then
    std::size_t compact_from;  // bytes of events from which a part holds packets back; large ones from more on
    std::uint32_t blocks;      // of ranks, for the matrix of delays
    std::uint32_t followed;    // rank; ~0: none
    std::vector<Rank> shown;   // whose trace events are kept, in ascending order
    Origins origins;
    std::uint64_t seed;
    TieOrder tie_order;
    int shift = 0;  // a window is 2^shift ps long
    // The stage, or, with an order, the operation of the first group, whose begin is watched for (see Skip).
    static constexpr std::uint32_t nothing = ~0u;
    std::uint32_t watched_stage = nothing, watched_operation = nothing;
};

}  // namespace tradewind::sim
