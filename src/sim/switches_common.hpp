// The switches of one part of a simulation, but for their routing: in which order packets come to their ports.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/prefetch.hpp"
#include "sim/ports.hpp"
#include "sim/slices.hpp"
#include "sim/sort.hpp"
#include "sim/switches.hpp"

namespace tradewind::sim {

// Compiled once for each kind of ports (see there), not once for each routing: that takes a compiler seconds.
template <bool finite, bool compact>
class CommonSwitches : public Switches {
  public:
    std::size_t collect(const std::vector<Outbox*>& outboxes) override { return slices_.collect(outbox_, outboxes); }

    std::int64_t hops() const override { return ports_.hops(); }
    std::uint64_t events() const override { return events_ - ports_.calls(); }
    Delays& delays() override { return ports_.delays(); }
    void write(StateWriter& out) const override;
    void tally(Tally& count) override;
    const std::vector<Passage>& passages() const override { return passages_; }

  protected:
    static constexpr std::uint32_t nowhere = ~0u;  // for Event::where of what takes no port
    static constexpr auto all_decided = [](Event&, Claim&) {};

    // `adaptive`: whether the routing may look at queues.
    CommonSwitches(World& world, Outbox& outbox, Ranks& ranks, bool adaptive)
        : world_(world),
          net_(world.network),
          outbox_(outbox),
          ranks_(ranks),
          slices_(world.network, world.parts.all()),
          ports_(world, outbox, ranks, adaptive) {
        if (world.machine.crossbar_bandwidth.value > 0)
            crossbars_ = LazyArray<std::int64_t>(
                world.machine.topology->switches(),
                is_dense(world.machine.topology->switches() * sizeof(std::int64_t), world.program.ranks()));
    }

    // A packet at a switch depends on others, even if it does not look at queues. Where ties are drawn it does not, but
    // to ask for that at each port with several packets took 1 to 2 % of simulations that draw none.
    bool one_after_another() const {
        return !crossbars_.empty() || world_.followed != nowhere || world_.tie_order.is_drawn();
    }

    std::uint32_t terminal_of(const Event& event) const {
        if (world_.nics_per_node == 1)
            return world_.placement.identity() ? event.rank() : world_.node(static_cast<Rank>(event.rank()));
        return world_.terminal(world_.node(static_cast<Rank>(event.rank())), event.nic());
    }

    void reserve_claims(const Slice& slice) {
        if (claims_.size() < slice.count) claims_.resize(slice.packets.size());
    }

    // Second pass: the packets of each port take it in order of time, then input port; credits after packets.
    void apply_by_port(Slice& slice) {
        constexpr std::size_t ahead = 8;
        Event* const packets = slice.packets.data();
        const std::size_t count = used_.size();
        const bool queues = compact && ports_.has_queues();
        for (std::size_t i = 0; i < count; ++i) {
            if (i + 2 * ahead < count) prefetch_line(&net_.port(used_[i + 2 * ahead]));
            if (i + ahead < count) {
                const Port& soon = net_.port(used_[i + ahead]);
                prefetch_line(&packets[soon.pending]);
                if (queues && soon.compact_queue != Port::none) ports_.prefetch_queue(soon);
            }
            if (queues && i + ahead / 2 < count) prefetch_queue(used_[i + ahead / 2], packets);
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

    // Where what a packet does at a switch depends on others: orders all packets of a slice, whose ports are not known
    // yet, by time, then input port.
    void sort(const Slice& slice) {
        const int time_bits = outbox_.shift(), port_bits = input_bits();
        const int index_bits = 64 - time_bits - port_bits;
        if (slice.count >> index_bits != 0)
            throw std::runtime_error("more packets in one window than can be numbered: name a larger packet");
        if (keys_.size() < slice.count) {
            keys_.resize(slice.packets.size());
            other_keys_.resize(slice.packets.size());
        }
        for (std::size_t i = 0; i < slice.count; ++i) {
            const Event& event = slice.packets[i];
            std::uint64_t input = net_.port_of(event.where);
            if (finite && event.kind() == Event::aside) input |= credit_number(event.channel());
            const auto time = static_cast<std::uint64_t>(event.time - outbox_.start());
            keys_[i] = (time << port_bits | input) << index_bits | i;
        }
        if (world_.tie_order.is_drawn()) [[unlikely]]
            draw_order(slice, index_bits);
        radix_sort(keys_, other_keys_, slice.count, index_bits, time_bits + port_bits);
    }

    // Second pass there: packets take their ports in order. `decide(event, claim)`: finds the port of one that was left
    // undecided; `all_decided` where there are none.
    template <class Decide>
    void apply_in_order(Slice& slice, Decide decide) {
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
            if (compact && claim.call()) [[unlikely]] {
                ports_.call(event.where, event.time);
                continue;
            }
            if (!claim.credit()) {
                if (!crossbars_.empty()) cross(event);
                if (event.size & Event::undecided_bit) decide(event, claim);
                if (event.rank() == world_.followed && !claim.credit()) follow(event);
            }
            Port& port = net_.port(event.where);
            if (port.rate == 0) [[unlikely]]
                net_.wire(event.where);
            ports_.pass(port, event.where, event, claim);
        }
    }

    World& world_;
    Network& net_;
    Outbox& outbox_;
    Ranks& ranks_;
    Slices slices_;
    Ports<finite, compact> ports_;
    HugeVector<Claim> claims_;         // [packet of the slice]
    std::vector<std::uint32_t> used_;  // ports with packets in the slice
    std::uint64_t events_ = 0;

  private:
    struct Arrival {
        std::int64_t time;
        std::uint32_t input, at;
    };

    void prefetch_queue(std::uint32_t where, const Event* packets) {
        const Port& port = net_.port(where);
        if (port.compact_queue == Port::none) return;
        for (std::uint32_t at = port.pending; at != Port::none; at = claims_[at].next)
            claims_[at].likely = ports_.prefetch_queue(port, packets[at]);
    }

    // The input port in a key; credits come after packets, by their channels.
    int input_bits() const { return net_.port_bits() + (finite ? 5 : 0); }
    std::uint32_t credit_number(std::uint32_t channel) const { return (16 | channel) << net_.port_bits(); }

    // In place of the inputs in keys: their places in the order that is drawn.
    [[gnu::noinline]] void draw_order(const Slice& slice, int index_bits) {
        const std::uint64_t mask = (std::uint64_t{1} << input_bits()) - 1;
        for (std::size_t i = 0; i < slice.count; ++i) {
            const Event& event = slice.packets[i];
            const auto number = static_cast<std::uint32_t>(keys_[i] >> index_bits & mask);
            const std::uint64_t place =
                world_.tie_order.place(net_.switch_of(event.where), event.time, number, input_bits());
            keys_[i] = (keys_[i] & ~(mask << index_bits)) | place << index_bits;
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

    void follow(const Event& event) {
        const std::uint32_t sw = world_.by_radix.quotient(event.where);
        passages_.push_back({sw, event.where - sw * net_.radix(), ports_.size_of(event), {event.time}});
    }

    std::vector<Arrival> order_;                   // packets of one port
    HugeVector<std::uint64_t> keys_, other_keys_;  // where all packets of a slice are sorted
    LazyArray<std::int64_t> crossbars_;            // [switch] ps until which it is held; empty: no limit
    std::vector<Passage> passages_;
};

}  // namespace tradewind::sim
