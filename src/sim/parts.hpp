// Which parts of a simulation a process has.
#pragma once

#include <cstdint>

#include "base/peers.hpp"

namespace tradewind::sim {

// Parts are numbered through, one per thread, process after process.
struct Parts {
    std::uint32_t here = 1;   // as many on every process
    std::uint32_t first = 0;  // of this one
    std::uint32_t processes = 1;

    Parts(int threads, const Peers& peers)
        : here(static_cast<std::uint32_t>(threads)),
          first(here * static_cast<std::uint32_t>(peers.process())),
          processes(static_cast<std::uint32_t>(peers.processes())) {}

    std::uint32_t all() const { return here * processes; }
    bool has(std::uint32_t part) const { return part - first < here; }
    std::uint32_t process() const { return first / here; }
    std::uint32_t process_of(std::uint32_t part) const { return part / here; }
};

}  // namespace tradewind::sim
