// The ports of all switches: the state that packets contend for. Of several processes each has all places for them, and
// memory for those of its own switches.
#pragma once

#include <cstdint>
#include <vector>

#include "base/lazy.hpp"
#include "machine/machine.hpp"
#include "machine/placement.hpp"
#include "sim/parts.hpp"

namespace tradewind::sim {

// A port of a switch and the link it drives. 32 bytes: two a cache line.
struct alignas(32) Port {
    static constexpr std::uint32_t none = ~0u;

    std::int64_t busy = 0;               // ps until which it is held
    std::uint64_t bytes = 0;             // sent in all
    std::uint32_t peer = 0;              // `where` of the other end
    std::uint32_t pending = none;        // the engine's: a packet that will pass in the slice in hand
    std::uint32_t compact_queue = none;  // packets that will pass much later
    std::uint8_t rate = 0;               // index of its byte time and latency; 0: not wired
    std::uint8_t kind = 0;               // LinkKind
    std::uint16_t owner = 0;             // the part of the simulation that the other end belongs to
};
static_assert(sizeof(Port) == 32);

// With finite buffers: what a port knows of one virtual channel of the buffer at the other end, and who waits for it.
struct Channel {
    std::uint32_t credit = 0;  // bytes that are free there
    std::uint32_t first = Port::none, last = Port::none;
    std::uint32_t first_bytes = 0;  // of the packet that waits first: to look at it would cost a cache miss
};
static_assert(sizeof(Channel) == 16);

// With output buffers: the room of one channel behind the crossbar, and who comes and goes there.
struct Exit {
    std::uint32_t free = 0;                               // bytes, once all that were let in have found their room
    std::uint32_t first = Port::none, last = Port::none;  // packets in it whose time on the port is fixed
    std::uint32_t outside = Port::none;                   // the first packet that waits in an input buffer to come in
    std::int64_t entered = 0;                             // ps at which the last one came in
};

// Where room is reported to when a packet leaves an input buffer: the other end of the port's link.
struct Upstream {
    std::uint32_t where = 0;
    std::uint16_t owner = 0;
    std::uint8_t rate = 0, kind = 0;
};

// Byte times in 2^-16 ps: exact to 1e-5 even at 1 TB/s, and bytes (28 bits) times byte time (36 bits) fit in 64 bits.
struct Rate {
    std::uint64_t byte_time = 0;
    std::int64_t latency = 0;
    std::int64_t duration(std::uint32_t bytes) const {
        return static_cast<std::int64_t>((bytes * byte_time + 0xffff) >> 16);
    }
};

class Network {
  public:
    // `channels` at each input port; 0: unbounded buffers. `nics` a node, which are what the topology calls nodes.
    Network(const machine::Machine& machine, const machine::Placement& placement, Rank ranks, const Parts& parts,
            int channels);

    // A receiving switch and its input port in 32 bits; the split follows the radix.
    std::uint32_t where(std::uint32_t sw, std::uint32_t port) const { return sw << port_bits_ | port; }
    std::uint32_t switch_of(std::uint32_t where) const { return port_bits_ == 32 ? 0 : where >> port_bits_; }
    std::uint32_t port_of(std::uint32_t where) const { return where & port_mask_; }
    int port_bits() const { return port_bits_; }

    std::uint32_t radix() const { return radix_; }
    std::uint32_t ports() const { return count_; }
    std::uint16_t owner(std::uint32_t sw) const { return owners_[sw]; }
    // Calls `use` with each switch of a process, in order.
    template <class Use>
    void for_switches_of(std::uint32_t process, Use use) const {
        for (std::uint32_t sw = 0; sw < owners_.size(); ++sw)
            if (parts_.process_of(owners_[sw]) == process) use(sw);
    }
    template <class Use>
    void for_switches_of_part(std::uint32_t part, Use use) const {
        for (std::uint32_t sw = 0; sw < owners_.size(); ++sw)
            if (owners_[sw] == part) use(sw);
    }
    int channels() const { return channels_; }
    // The smallest latency of this process's switches: nothing that happens there has an effect elsewhere sooner.
    std::int64_t look_ahead() const { return look_ahead_; }
    std::uint32_t slower(std::uint32_t a, std::uint32_t b) const {
        return rates[a].byte_time >= rates[b].byte_time ? a : b;
    }

    // [switch * radix + port]. The channels of a port stand behind it, in the same cache line where there are two.
    Port& port(std::uint32_t index) { return *reinterpret_cast<Port*>(&blocks_[std::size_t{index} * stride_]); }
    const Port& port(std::uint32_t index) const {
        return *reinterpret_cast<const Port*>(&blocks_[std::size_t{index} * stride_]);
    }
    Channel* channels(std::uint32_t index) {
        return reinterpret_cast<Channel*>(&blocks_[std::size_t{index} * stride_ + 1]);
    }

    // Wires a port that a packet takes first: most simulations use few of a machine's ports. Where a port is wired, the
    // other end of its link knows where to report room. Called by the thread that the port's switch belongs to.
    void wire(std::uint32_t index);
    // Calls `use` with each port of this process that has been wired.
    template <class Use>
    void for_wired(Use use) const {
        for (const std::vector<std::uint32_t>& ports : wired_)
            for (const std::uint32_t index : ports) use(index);
    }
    // The same of one of its parts, in the order of their first use.
    template <class Use>
    void for_wired_of(std::uint32_t part, Use use) const {
        for (const std::uint32_t index : wired_[part - parts_.first]) use(index);
    }

    // The output buffer of a port and one of its channels; a port to a node has only one.
    Exit& exit(std::uint32_t index, std::uint32_t channel) {
        return exits_[std::size_t{index} * static_cast<std::size_t>(channels_) + channel];
    }
    bool has_exits() const { return !exits_.empty(); }
    const machine::BufferSizes& buffer_sizes() const { return buffer_sizes_; }

    std::vector<Rate> rates;        // injection, local, global, ejection, crossbar
    LazyArray<Upstream> upstreams;  // [switch * radix + port]; empty where buffers are unbounded
    // No port of a switch has the rate of an injection: 0 marks those that are not wired.
    static constexpr std::uint32_t injection = 0, local = 1, global = 2, ejection = 3, crossbar = 4;

  private:
    struct alignas(32) Block {
        char bytes[32];
    };

    std::size_t switch_bytes() const { return radix_ * stride_ * sizeof(Block); }
    bool scattered() const;
    void divide(const machine::Topology& topology, const machine::Placement& placement, std::uint32_t nics, Rank ranks);
    std::uint32_t owner_of_passing(std::uint32_t sw, std::uint32_t passing) const;
    // The smallest latency of the links that the machine has.
    std::int64_t smallest_latency() const;

    const machine::Topology& topology_;
    Parts parts_;
    std::uint32_t radix_, count_ = 0;
    int port_bits_;
    std::uint32_t port_mask_;
    int channels_;
    std::size_t stride_;  // blocks per port
    std::int64_t look_ahead_ = 0;
    machine::BufferSizes buffer_sizes_{};  // of finite buffers
    LazyArray<Block> blocks_;
    LazyArray<Exit> exits_;              // [(switch * radix + port) * channels + channel]; empty without output buffers
    std::vector<std::uint16_t> owners_;  // [switch]
    std::vector<std::vector<std::uint32_t>> wired_;  // [part of this process] ports, in the order of their first use
};

}  // namespace tradewind::sim
