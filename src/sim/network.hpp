// The ports of all switches and NICs: the state that packets contend for.
#pragma once

#include <cstdint>
#include <vector>

#include "base/huge.hpp"
#include "machine/machine.hpp"
#include "machine/placement.hpp"

namespace tradewind::sim {

// A port of a switch and the link it drives. 32 bytes: two a cache line.
struct alignas(32) Port {
    static constexpr std::uint32_t none = ~0u;

    std::int64_t busy = 0;         // ps until which it is held
    std::uint64_t bytes = 0;       // sent in all
    std::uint32_t peer = 0;        // `where` of the other end
    std::uint32_t waiting = none;  // the engine's: a packet that will pass in the slice of time in hand
    std::uint8_t rate = 0;         // index of its byte time and latency
    std::uint8_t kind = 0;         // LinkKind
    std::uint16_t owner = 0;       // the part of the simulation that the other end belongs to
};
static_assert(sizeof(Port) == 32);

struct Nic {
    std::int64_t busy = 0;
    std::uint64_t bytes = 0;
};

// Byte times in 2^-16 ps: exact to 1e-5 even at 1 TB/s, and bytes (28 bits) times byte time (36 bits) fit in 64 bits.
struct Rate {
    std::uint64_t byte_time;
    std::int64_t latency;
    std::int64_t duration(std::uint32_t bytes) const {
        return static_cast<std::int64_t>((bytes * byte_time + 0xffff) >> 16);
    }
};

class Network {
  public:
    Network(const Machine& machine, const Placement& placement, Rank ranks, int parts);

    // A receiving switch and its input port in 32 bits; the split follows the radix.
    std::uint32_t where(std::uint32_t sw, std::uint32_t port) const { return sw << port_bits_ | port; }
    std::uint32_t switch_of(std::uint32_t where) const { return port_bits_ == 32 ? 0 : where >> port_bits_; }
    std::uint32_t port_of(std::uint32_t where) const { return where & port_mask_; }
    int port_bits() const { return port_bits_; }
    std::size_t index(std::uint32_t sw, std::uint32_t port) const { return std::size_t{sw} * radix_ + port; }

    std::uint32_t radix() const { return radix_; }
    std::uint16_t owner(std::uint32_t sw) const { return owners_[sw]; }
    // The smallest latency: nothing that happens has an effect elsewhere sooner.
    std::int64_t look_ahead() const { return look_ahead_; }
    std::uint64_t slower(std::uint32_t a, std::uint32_t b) const {
        return rates[a].byte_time >= rates[b].byte_time ? a : b;
    }

    HugeVector<Port> ports;   // [switch][port]
    HugeVector<Nic> nics;     // [node]
    std::vector<Rate> rates;  // local, global, injection, ejection
    static constexpr std::uint32_t local = 0, global = 1, injection = 2, ejection = 3;

  private:
    void divide(const Topology& topology, const Placement& placement, Rank ranks, int parts);

    std::uint32_t radix_;
    int port_bits_;
    std::uint32_t port_mask_;
    std::int64_t look_ahead_;
    std::vector<std::uint16_t> owners_;  // [switch]
};

}  // namespace tradewind::sim
