// Executor 3: how long a program takes on a machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "machine/machine.hpp"
#include "machine/placement.hpp"
#include "sim/program.hpp"
#include "sim/statistics.hpp"

namespace tradewind {

struct SimulationOptions {
    Bytes packet{4096};  // 0: one packet a message (of at most largest_packet)
    int threads = 1;
    std::uint64_t seed = 1;
    // Use fewer threads where windows hold little and one alone where that is faster; false: always all.
    bool adaptive = true;
    // Called now and then from the thread that called simulate(), with the simulated time and the bytes that have
    // arrived; returns false to stop (then simulate() throws Interrupted).
    std::function<bool(Picoseconds, Bytes)> progress;

    static constexpr std::int64_t largest_packet = 1 << 27;
};

// Packet level with cut-through and unbounded buffers: a packet's head waits for a port in the order of arrival, holds
// it for size / bandwidth, and goes on after the latency; its tail leaves the slowest link of the path last. The same
// input and seed give the same bits for any number of threads. Throws InputError.
SimulationResult simulate_packets(const Machine& machine, const Program& program, const Placement& placement,
                                  const SimulationOptions& options);

// LogGP with the latency of each pair's shortest path (Alexandrov, Ionescu, Schauser & Scheiman 1997): a rank's
// messages leave one after another, at the NIC's bandwidth; nothing else is shared, so there is no congestion.
SimulationResult simulate_loggp(const Machine& machine, const Program& program, const Placement& placement,
                                const SimulationOptions& options);

// What a simulation will cost, from a sample of the ranks.
struct Forecast {
    double messages = 0, bytes = 0, packet_hops = 0, memory_bytes = 0;
};
Forecast forecast(const Machine& machine, const Program& program, const Placement& placement,
                  const SimulationOptions& options);

}  // namespace tradewind
