// Executor 3: how long a program takes on a machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/peers.hpp"
#include "machine/intranode.hpp"
#include "machine/machine.hpp"
#include "machine/placement.hpp"
#include "program/calls.hpp"
#include "program/program.hpp"
#include "sim/noise.hpp"
#include "sim/statistics.hpp"

namespace tradewind::sim {

// A program whose steps are repetitions of `steps` each, all alike, may end before the last one. Whenever all ranks
// have ended one of `asked` (repetitions so far, ascending), `enough` is called with the time at which each step so far
// was over. Where it returns true, ranks end the repetition that the first of them has begun, and nothing else: as if
// the program had that many repetitions.
struct EarlyEnd {
    int steps = 1;
    std::vector<int> asked;
    std::function<bool(const std::vector<Picoseconds>&)> enough;
};

// When an exchange that is open goes on to its next stage, and what has come is dealt with.
enum class Progress : std::uint8_t {
    calls,   // while its rank waits for it; other calls deal with what has come
    pokes,   // at poke steps as well
    thread,  // at once, by a thread beside the CPU that computes
};

struct SimulationOptions {
    Bytes packet{4096};  // 0: one packet per message (of at most largest_packet)
    int threads = 1;
    std::uint64_t seed = 1;
    // Use fewer threads where windows hold little and one alone where that is faster; false: always all.
    bool adaptive = true;
    // Input buffers of switches have the size of the machine, per virtual channel, and credits announce room; false:
    // they hold any number.
    bool finite_buffers = false;
    // Messages are put into the memory of their receivers: at once, whatever their size, and without their CPUs.
    bool one_sided = false;
    // How the transport and the packing that are simulated carry messages within a node, and what they cost the CPUs;
    // null: none is named, and such messages are copies at the bandwidth of the node's memory.
    std::shared_ptr<const machine::IntranodeTransport> intranode;
    // Delays by pair of blocks of ranks: number of blocks, at most 4096; 0: not kept.
    int blocks = 0;
    // The rank whose packets are followed on their way to it, from switch to switch; -1: none.
    Rank followed = -1;
    // The ranks whose trace events are kept, in ascending order; with all their stages and messages at most
    // `max_trace_events`.
    std::vector<Rank> shown;
    // Called now and then from the thread that called simulate(), with the simulated time, the bytes that have arrived
    // and the packet-hops so far; returns false to stop (then simulate() throws Interrupted).
    std::function<bool(Picoseconds, Bytes, std::int64_t)> progress;
    // Packet model: the processes that share the simulation, each with its part of the machine; null: this one alone.
    std::shared_ptr<Peers> peers;
    // Process 0 alone is asked.
    EarlyEnd early_end;
    // Memory for events of a thread from which on those of packets that wait long are kept in less, which takes time;
    // so often as much for packets that hold a port for long (see Ports::compact_from).
    Bytes compact_from{512 << 20};
    static constexpr std::int64_t long_hold_factor = 4;
    // For programs with an order.
    Progress progress_by = Progress::pokes;
    // Packet model: skip repetitions that are the same as those before but for the time (see Skip). The result is the
    // same.
    bool skip = true;
    // Packet model: at least this much time passes between two calls of `progress`.
    std::chrono::milliseconds between_calls{100};
    // Packet model: in which order packets, and credits, are dealt with that come to a switch at one time. 0: by their
    // input ports, credits last; else at random, by this seed, drawn anew for each switch and time.
    std::uint64_t order_seed = 0;
    // Packet model: of the CPUs of all ranks, where they compute and where messages cost them time.
    NoiseOptions noise{};
    // Packet model: the network is empty but for the message in hand, which takes the latencies of a shortest path and
    // the time of its narrowest link, after what the NIC of its node has sent before. Beside a loaded network this
    // gives the cost of congestion.
    bool unloaded = false;
    // Packet model: copies take no time, be they within a node, of what came early, or those of a named transport.
    bool free_copies = false;
    // Packet model: what ranks follow in place of a program; see simulate_calls.
    std::shared_ptr<const program::Calls> calls;

    static constexpr std::int64_t largest_packet = 1 << 27;
    static constexpr std::int64_t max_trace_events = 500'000;
};

// Packet level with cut-through: a packet's head waits for a port in the order of arrival, and with finite buffers for
// room in the next one, holds the port for size / bandwidth, and goes on after the latency; its tail leaves the slowest
// link of the path last. The same input and seed give the same bits for any number of threads and processes.
// Collective over `peers`; process 0 has the result, the others an empty one. Throws InputError; PeerFailed where
// another process throws.
SimulationResult simulate_packets(const machine::Machine& machine, const program::Program& program,
                                  const machine::Placement& placement, const SimulationOptions& options);

// The same of the calls of a trace. Messages of 0 bytes take one byte on their way. `spent` of the result has the time
// in the calls of each rank.
SimulationResult simulate_calls(const machine::Machine& machine, std::shared_ptr<const program::Calls> calls,
                                const machine::Placement& placement, const SimulationOptions& options);

// LogGP with the latency of each pair's shortest path (Alexandrov, Ionescu, Schauser & Scheiman 1997): a rank's
// messages leave one after another, at the NIC's bandwidth; nothing else is shared, so there is no congestion.
SimulationResult simulate_loggp(const machine::Machine& machine, const program::Program& program,
                                const machine::Placement& placement, const SimulationOptions& options);

// The cost of a simulation, estimated from a sample of the ranks.
struct Forecast {
    double messages = 0, bytes = 0, packet_hops = 0, memory_bytes = 0;
};
Forecast forecast(const machine::Machine& machine, const program::Program& program, const machine::Placement& placement,
                  const SimulationOptions& options);

}  // namespace tradewind::sim
