// The switches of one part of a simulation with a given routing: how packets find their ports.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "machine/routing/dispatch.hpp"
#include "machine/routing/packet.hpp"
#include "sim/ports_state.hpp"

namespace tradewind::sim {

// Whether what waits long for a port is held in a compact queue: the packets of a message must be alike, and not each
// on a way of its own.
template <class Routing, bool finite>
inline constexpr bool compact_with = !finite && !Routing::adaptive && !Routing::spreads;

// Compiled for each routing: no more stands here than must, for a packet to find its port without a call.
template <class Routing, bool finite>
class RoutedSwitches final : public CommonSwitches<finite, compact_with<Routing, finite>> {
    static constexpr bool compact = compact_with<Routing, finite>;
    using Common = CommonSwitches<finite, compact>;

  public:
    RoutedSwitches(World& world, Routing& routing, Outbox& outbox, Ranks& ranks)
        : Common(world, outbox, ranks, Routing::adaptive), routing_(routing) {}

    void write(StateWriter& out) const override {
        Common::write(out);
        if constexpr (requires { routing_.turn(0u); })
            net_.for_switches_of_part(this->outbox_.id(), [&](std::uint32_t sw) { out.put(routing_.turn(sw)); });
    }

    void process(std::size_t number) override {
        Slice& slice = slices_[number];
        if (slice.count == 0) return;
        this->reserve_claims(slice);
        if (Routing::adaptive || this->one_after_another()) {
            this->sort(slice);
            for (std::size_t i = 0; i < slice.count; ++i) route(slice.packets[i], claims_[i]);
            if constexpr (Routing::adaptive)
                this->apply_in_order(slice, [this](Event& event, Claim& claim) { decide(event, claim); });
            else
                this->apply_in_order(slice, Common::all_decided);
        } else if constexpr (!Routing::adaptive) {
            enqueue(slice);
            this->apply_by_port(slice);
        }
        events_ += slice.count;
    }

  private:
    using Common::nowhere, Common::world_, Common::net_, Common::ranks_, Common::ports_;
    using Common::slices_, Common::claims_, Common::used_, Common::events_;

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
            if (compact && event.memory == call_next) {
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
        const std::uint32_t terminal = this->terminal_of(event), dst_sw = world_.by_switch.quotient(terminal);
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

    // Fetches what the routing looks up. For credits it is of no use, and costs less than a branch.
    [[gnu::always_inline]] void prefetch_way(const Event& event) const {
        if constexpr (requires { routing_.prefetch(0u, 0u); })
            routing_.prefetch(net_.switch_of(event.where), world_.by_switch.quotient(this->terminal_of(event)));
    }

    // First pass, where packets of different ports do not depend on each other: routes the packets of a slice and hangs
    // each one on its port, once that has come into the cache. Sorting them all by time would cost a quarter of all
    // time; most ports have one packet in a slice.
    void enqueue(Slice& slice) {
        constexpr std::size_t way_ahead = 12;
        const std::size_t count = slice.count, ahead = std::min<std::size_t>(finite ? 28 : 32, count);
        used_.clear();
        Event* const packets = slice.packets.data();
        Claim* const claims = claims_.data();
        for (std::size_t i = 0; i < count + ahead; ++i) {
            if (i + way_ahead < count) prefetch_way(packets[i + way_ahead]);
            if (i < count) route(packets[i], claims[i]);
            if (i < ahead) continue;
            const auto done = static_cast<std::uint32_t>(i - ahead);
            if (done >= count) break;
            const std::uint32_t where = packets[done].where;
            if (where == nowhere) [[unlikely]]
                continue;
            Port& port = net_.port(where);
            if (port.rate == 0) [[unlikely]]
                net_.wire(where);
            if (compact && claims[done].call()) [[unlikely]] {
                ports_.prefetch_queue(port);
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

    void decide(Event& event, Claim& claim) {
        if constexpr (Routing::adaptive) {
            const std::uint32_t first = event.where, sw = world_.by_radix.quotient(first);
            const std::uint32_t terminal = this->terminal_of(event), dst_sw = world_.by_switch.quotient(terminal);
            const auto waiting_bytes = [&](std::uint32_t port) { return ports_.queue(first + port, event.time); };
            const std::uint32_t port = routing_.choose(sw, dst_sw, terminal, event.memory, waiting_bytes);
            if constexpr (finite) claim.channel = routing_.channel(sw, dst_sw, port, event.memory);
            event.where += port;
            event.size &= ~Event::undecided_bit;
        }
    }

    Routing& routing_;
    std::vector<Called> called_;  // of the slice
};

template <bool finite>
SwitchFactory switches_with_routing(const machine::Machine& machine) {
    return machine::with_routing(machine, [](auto found) {
        using Routing = decltype(found);
        const auto routing = std::make_shared<Routing>(std::move(found));
        return SwitchFactory{finite ? routing->channels() : 0, Routing::spreads,
                             [routing](World& world, Outbox& outbox, Ranks& ranks) -> std::unique_ptr<Switches> {
                                 return std::make_unique<RoutedSwitches<Routing, finite>>(world, *routing, outbox,
                                                                                          ranks);
                             }};
    });
}

}  // namespace tradewind::sim
