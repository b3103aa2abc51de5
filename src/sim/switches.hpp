// The switches of one part of a simulation: how packets find their ports, and in which order they come to them.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/prefetch.hpp"
#include "machine/routing/packet.hpp"
#include "sim/delays.hpp"
#include "sim/outbox.hpp"
#include "sim/ports.hpp"
#include "sim/ranks.hpp"
#include "sim/slices.hpp"
#include "sim/sort.hpp"
#include "sim/world.hpp"

namespace tradewind::sim {

template <class Routing, bool finite>
class Switches {
  public:
    Switches(World& world, Routing& routing, Outbox& outbox, Ranks& ranks)
        : world_(world),
          net_(world.network),
          routing_(routing),
          outbox_(outbox),
          ranks_(ranks),
          slices_(world.network, world.parts.all()),
          ports_(world, outbox, ranks) {
        if (world.machine.crossbar_bandwidth.value > 0)
            crossbars_ = LazyArray<std::int64_t>(world.machine.topology->switches());
        in_order_ = Routing::adaptive || !crossbars_.empty() || world.followed != nowhere;
    }

    // Takes the window's packets from the outboxes of all parts. Returns the number of slices to process.
    template <class Outboxes>
    std::size_t collect(const Outboxes& outboxes) {
        return slices_.collect(outbox_, outboxes);
    }

    void process(std::size_t slice) {
        Slice& packets = slices_[slice];
        if (packets.count == 0) return;
        if (in_order_) {
            sort(packets);
            apply_in_order(packets);
        } else {
            hang(packets);
            apply_by_port(packets);
        }
        events_ += packets.count;
    }

    std::int64_t hops() const { return ports_.hops(); }
    std::uint64_t events() const { return events_ - ports_.calls(); }
    const Delays& delays() const { return ports_.delays(); }
    const std::vector<Passage>& passages() const { return passages_; }

  private:
    // Whether what waits long for a port is held in a backlog: the packets of a message must be alike, and not each on
    // a way of its own.
    static constexpr bool shelved = !finite && !Routing::adaptive && !Routing::spreads;
    static constexpr std::uint32_t nowhere = ~0u;  // for Event::where of what takes no port

    struct Arrival {
        std::int64_t time;
        std::uint32_t input, at;
    };
    struct Called {
        std::int64_t time;
        std::uint32_t where;  // index of the port
    };
    // Finds the output port of a packet, and fetches it; what an adaptive routing must decide in order of time is left
    // with its bit set and the index of the switch's port 0.
    [[gnu::always_inline]] void route(Event& event, Claim& claim) {
        const std::uint32_t sw = net_.switch_of(event.where), input = net_.port_of(event.where);
        const std::uint32_t first = sw * net_.radix();
        if (event.kind() == Event::aside) [[unlikely]] {
            if (shelved && event.memory == call_next) {
                claim.input = Claim::call_mark;
                event.where = first + input;
                prefetch_line(&net_.port(event.where));
            } else if (finite && event.memory == freed) {
                claim.input = Claim::credit_mark + event.channel();
                event.where = first + input;
                prefetch_line(&net_.port(event.where));
            } else {
                ranks_.come_past(event);
                event.where = nowhere;
            }
            return;
        }
        claim.input = first + input;
        if constexpr (finite) prefetch_line(&net_.upstreams[claim.input]);
        const std::uint32_t terminal = terminal_of(event), dst_sw = world_.by_switch.quotient(terminal);
        std::uint32_t port = 0;
        if (sw == dst_sw) {
            port = world_.first_terminal + world_.by_switch.remainder(terminal);
            prefetch_line(&world_.receivers[event.rank()]);
        } else if (Routing::adaptive && !decided(sw, dst_sw, event.memory)) {
            event.size |= Event::undecided_bit;
        } else {
            port = routing_.port(sw, dst_sw, terminal, event.memory);
            if constexpr (finite) claim.channel = routing_.channel(sw, dst_sw, port, event.memory);
        }
        event.where = first + port;
        prefetch_line(&net_.port(event.where));
    }
    bool decided(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t memory) const {
        if constexpr (Routing::adaptive) return routing_.decided(sw, dst_sw, memory);
        return true;
    }
    std::uint32_t terminal_of(const Event& event) const {
        if (world_.nics_a_node == 1)
            return world_.placement.identity() ? event.rank() : world_.node(static_cast<Rank>(event.rank()));
        return world_.terminal(world_.node(static_cast<Rank>(event.rank())), event.nic());
    }

    void reserve_claims(const Slice& slice) {
        if (claims_.size() < slice.count) claims_.resize(slice.packets.size());
    }

    // First pass, where packets of different ports do not depend on each other: routes the packets of a slice and hangs
    // each one on its port, once that has come into the cache. Sorting them all by time would cost a quarter of all
    // time; most ports have one packet in a slice.
    void hang(Slice& slice) {
        constexpr std::size_t ahead = finite ? 28 : 32;
        const std::size_t count = slice.count;
        reserve_claims(slice);
        used_.clear();
        Event* const packets = slice.packets.data();
        Claim* const claims = claims_.data();
        for (std::size_t i = 0; i < count + ahead; ++i) {
            if (i < count) route(packets[i], claims[i]);
            if (i < ahead) continue;
            const auto done = static_cast<std::uint32_t>(i - ahead);
            if (done >= count) break;
            const std::uint32_t where = packets[done].where;
            if (where == nowhere) [[unlikely]]
                continue;
            Port& port = net_.port(where);
            if (shelved && claims[done].call()) [[unlikely]] {
                ports_.prefetch_backlog(port);
                called_.push_back({packets[done].time, where});
                continue;
            }
            claims[done].next = port.pending;
            if (port.pending == Port::none) used_.push_back(where);
            port.pending = done;
            if constexpr (finite) ports_.prefetch_waiting(where, claims[done]);
        }
        for (const Called& called : called_) ports_.call(called.where, called.time);
        called_.clear();
    }

    // Second pass: the packets of each port take it in order of time, then input port; credits after packets.
    void apply_by_port(Slice& slice) {
        constexpr std::size_t ahead = 8;
        Event* const packets = slice.packets.data();
        const std::size_t count = used_.size();
        for (std::size_t i = 0; i < count; ++i) {
            if (i + 2 * ahead < count) prefetch_line(&net_.port(used_[i + 2 * ahead]));
            if (i + ahead < count) {
                const Port& soon = net_.port(used_[i + ahead]);
                prefetch_line(&packets[soon.pending]);
                if (shelved && soon.backlog != Port::none) ports_.prefetch_backlog(soon);
            }
            if (shelved && i + ahead / 2 < count) prefetch_backlog(used_[i + ahead / 2], packets);
            const std::uint32_t where = used_[i];
            Port& port = net_.port(where);
            const std::uint32_t first = std::exchange(port.pending, Port::none);
            if (claims_[first].next == Port::none) {
                ports_.pass(port, where, packets[first], claims_[first]);
                continue;
            }
            order_.clear();
            for (std::uint32_t at = first; at != Port::none; at = claims_[at].next)
                order_.push_back({packets[at].time, claims_[at].input, at});
            std::sort(order_.begin(), order_.end(), [](const Arrival& a, const Arrival& b) {
                return a.time != b.time ? a.time < b.time : a.input < b.input;
            });
            for (const Arrival& arrival : order_) ports_.pass(port, where, packets[arrival.at], claims_[arrival.at]);
        }
    }

    void prefetch_backlog(std::uint32_t where, const Event* packets) {
        const Port& port = net_.port(where);
        if (port.backlog == Port::none) return;
        for (std::uint32_t at = port.pending; at != Port::none; at = claims_[at].next)
            claims_[at].likely = ports_.prefetch_backlog(port, packets[at]);
    }

    // Of the input port in a key; credits come after packets, by their channels.
    int input_bits() const { return net_.port_bits() + (finite ? 5 : 0); }

    // First pass, where what a packet does at a switch depends on others: finds ports as far as that is known, and
    // orders all packets by time, then input port.
    void sort(Slice& slice) {
        const int time_bits = outbox_.shift(), port_bits = input_bits();
        const int index_bits = 64 - time_bits - port_bits;
        const std::uint64_t within = (std::uint64_t{1} << time_bits) - 1;
        if (slice.count >> index_bits != 0)
            throw std::runtime_error("more packets in one window than can be numbered: name a larger packet");
        reserve_claims(slice);
        if (keys_.size() < slice.count) {
            keys_.resize(slice.packets.size());
            other_keys_.resize(slice.packets.size());
        }
        for (std::size_t i = 0; i < slice.count; ++i) {
            Event& event = slice.packets[i];
            std::uint64_t input = net_.port_of(event.where);
            if (finite && event.kind() == Event::aside)
                input |= (std::uint64_t{16} | event.channel()) << net_.port_bits();
            keys_[i] = ((static_cast<std::uint64_t>(event.time) & within) << port_bits | input) << index_bits | i;
            route(event, claims_[i]);
        }
        radix_sort(keys_, other_keys_, slice.count, index_bits, time_bits + port_bits);
    }

    // Second pass there: packets take their ports in order.
    void apply_in_order(Slice& slice) {
        constexpr std::size_t ahead = 12;
        const std::size_t count = slice.count;
        HugeVector<Event>& packets = slice.packets;
        const std::uint64_t mask = (std::uint64_t{1} << (64 - outbox_.shift() - input_bits())) - 1;
        for (std::size_t i = 0; i < count; ++i) {
            if (i + 2 * ahead < count) prefetch_line(&packets[keys_[i + 2 * ahead] & mask]);
            if (i + ahead < count)
                if (const std::uint32_t soon = packets[keys_[i + ahead] & mask].where; soon != nowhere)
                    prefetch_line(&net_.port(soon));
            Event& event = packets[keys_[i] & mask];
            Claim& claim = claims_[keys_[i] & mask];
            if (event.where == nowhere) continue;
            if (shelved && claim.call()) [[unlikely]] {
                ports_.call(event.where, event.time);
                continue;
            }
            if (!claim.credit()) {
                if (!crossbars_.empty()) cross(event);
                if (event.size & Event::undecided_bit) decide(event, claim);
                if (event.rank() == world_.followed && !claim.credit()) follow(event);
            }
            ports_.pass(net_.port(event.where), event.where, event, claim);
        }
    }

    // Through the switch itself, where that has a limit: one packet after another, in order of arrival.
    void cross(Event& event) {
        std::int64_t& busy = crossbars_[world_.by_radix.quotient(event.where)];
        const std::int64_t start = std::max(event.time, busy);
        busy = start + net_.rates[Network::crossbar].duration(ports_.size_of(event));
        if (event.kind() != Event::control) event.delay = Delay::longer(event.delay, start - event.time);
        event.time = start;
        event.stage =
            Event::stage_word(event.program_stage(), net_.slower(event.rate(), Network::crossbar), event.channel());
    }

    void decide(Event& event, Claim& claim) {
        if constexpr (Routing::adaptive) {
            const std::uint32_t first = event.where, sw = world_.by_radix.quotient(first);
            const std::uint32_t terminal = terminal_of(event), dst_sw = world_.by_switch.quotient(terminal);
            const auto waiting_bytes = [&](std::uint32_t port) { return ports_.queue(first + port, event.time); };
            const std::uint32_t port = routing_.choose(sw, dst_sw, terminal, event.memory, waiting_bytes);
            if constexpr (finite) claim.channel = routing_.channel(sw, dst_sw, port, event.memory);
            event.where += port;
            event.size &= ~Event::undecided_bit;
        }
    }

    void follow(const Event& event) {
        const std::uint32_t sw = world_.by_radix.quotient(event.where);
        passages_.push_back({sw, event.where - sw * net_.radix(), ports_.size_of(event), {event.time}});
    }

    World& world_;
    Network& net_;
    Routing& routing_;
    Outbox& outbox_;
    Ranks& ranks_;
    bool in_order_;  // packets of a slice are dealt with in order of time, not port by port
    Slices slices_;
    Ports<finite, shelved> ports_;
    HugeVector<Claim> claims_;                     // [packet of the slice]
    std::vector<std::uint32_t> used_;              // ports with packets in the slice
    std::vector<Arrival> order_;                   // packets of one port
    std::vector<Called> called_;                   // of the slice
    HugeVector<std::uint64_t> keys_, other_keys_;  // where all packets of a slice are sorted
    LazyArray<std::int64_t> crossbars_;            // [switch] ps until which it is held; empty: no limit
    std::uint64_t events_ = 0;
    std::vector<Passage> passages_;
};

}  // namespace tradewind::sim
