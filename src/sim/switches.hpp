// The switches of one part of a simulation: how packets find and take their ports.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/prefetch.hpp"
#include "machine/routing/packet.hpp"
#include "sim/backlog.hpp"
#include "sim/delays.hpp"
#include "sim/outbox.hpp"
#include "sim/pool.hpp"
#include "sim/ranks.hpp"
#include "sim/slices.hpp"
#include "sim/sort.hpp"
#include "sim/world.hpp"

namespace tradewind::sim {

// `finite`: input buffers are finite. A port then holds, for each virtual channel of the buffer at its other end, how
// many bytes are free there. A packet that finds room is committed when it arrives: its time on the port is fixed, and
// so is the time at which its own room comes free. One that finds none, or others waiting, joins the list of the
// channel; what comes free goes to the head of the list. So a hop costs two events, a packet and a credit, and a
// blocked channel never blocks another.
template <class Routing, bool finite>
class Switches {
  public:
    Switches(World& world, Routing& routing, Outbox& outbox, Ranks& ranks)
        : world_(world),
          net_(world.network),
          routing_(routing),
          outbox_(outbox),
          ranks_(ranks),
          told_(world.origins.told()),
          slices_(world.network, world.parts.all()),
          patience_(patience_windows << world.shift),
          delays_(world) {
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
            link(packets);
            apply_by_port(packets);
        }
        events_ += packets.count;
    }

    std::int64_t hops() const { return hops_; }
    std::uint64_t events() const { return events_ - calls_; }
    const Delays& delays() const { return delays_; }
    const std::vector<Passage>& passages() const { return passages_; }

  private:
    // What is known of a packet of the slice beside the event, whose `where` becomes the index of its output port.
    struct Link {
        std::uint32_t next = 0;   // packet of the same port
        std::uint32_t input = 0;  // index of its input port; of a credit: credit_mark + channel; or call_mark
        std::uint32_t channel = 0;
        std::uint32_t likely = 0;  // of a backlog: see Backlog::prefetch
    };
    struct Arrival {
        std::int64_t time;
        std::uint32_t input, at;
    };
    struct Called {
        std::int64_t time;
        std::uint32_t where;  // index of the port
    };
    static constexpr std::int64_t patience_windows = 1024;  // early: by up to an eighth of that
    // Whether what waits long for a port is held in a backlog: the packets of a message must be alike, and not each on
    // a way of its own.
    static constexpr bool shelved = !finite && !Routing::adaptive && !Routing::spreads;
    static constexpr std::uint32_t credit_mark = ~0u - 255, call_mark = credit_mark - 1;
    static constexpr std::uint32_t nowhere = ~0u;  // for Event::where of what takes no port

    // A packet that waits for room, and all that is needed to let it go: its own room is reported to `up`. One cache
    // line.
    struct alignas(64) Waiting {
        Event event;
        Upstream up;
        std::uint32_t input, next, next_bytes;
    };
    static_assert(sizeof(Waiting) == 64);

    static bool is_credit(const Link& link) { return link.input >= credit_mark; }

    // Finds the output port of a packet, and fetches it; what an adaptive routing must decide in order of time is left
    // with its bit set and the index of the switch's port 0.
    [[gnu::always_inline]] void route(Event& event, Link& link) {
        const std::uint32_t sw = net_.switch_of(event.where), input = net_.port_of(event.where);
        const std::uint32_t first = sw * net_.radix();
        if (event.kind() == Event::aside) [[unlikely]] {
            if (shelved && event.memory == call_next) {
                link.input = call_mark;
                event.where = first + input;
                prefetch_line(&net_.port(event.where));
            } else if (finite && event.memory == freed) {
                link.input = credit_mark + event.channel();
                event.where = first + input;
                prefetch_line(&net_.port(event.where));
            } else {
                ranks_.come_past(event);
                event.where = nowhere;
            }
            return;
        }
        link.input = first + input;
        if constexpr (finite) prefetch_line(&net_.upstreams[link.input]);
        const std::uint32_t terminal = terminal_of(event), dst_sw = world_.by_switch.quotient(terminal);
        std::uint32_t port = 0;
        if (sw == dst_sw) {
            port = world_.first_terminal + world_.by_switch.remainder(terminal);
            prefetch_line(&world_.receivers[event.rank()]);
        } else if (Routing::adaptive && !decided(sw, dst_sw, event.memory)) {
            event.size |= Event::undecided_bit;
        } else {
            port = routing_.port(sw, dst_sw, terminal, event.memory);
            if constexpr (finite) link.channel = routing_.channel(sw, dst_sw, port, event.memory);
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

    void reserve_links(const Slice& slice) {
        if (links_.size() < slice.count) links_.resize(slice.packets.size());
    }

    // First pass, where packets of different ports do not depend on each other: routes the packets of a slice and hangs
    // each one on its port, once that has come into the cache. Sorting them all by time would cost a quarter of all
    // time; most ports have one packet in a slice.
    void link(Slice& slice) {
        constexpr std::size_t ahead = finite ? 28 : 32;
        const std::size_t count = slice.count;
        reserve_links(slice);
        used_.clear();
        Event* const packets = slice.packets.data();
        Link* const links = links_.data();
        for (std::size_t i = 0; i < count + ahead; ++i) {
            if (i < count) route(packets[i], links[i]);
            if (i < ahead) continue;
            const auto done = static_cast<std::uint32_t>(i - ahead);
            if (done >= count) break;
            const std::uint32_t where = packets[done].where;
            if (where == nowhere) [[unlikely]]
                continue;
            Port& port = net_.port(where);
            if (shelved && links[done].input == call_mark) [[unlikely]] {
                backlog_.prefetch(port);
                called_.push_back({packets[done].time, where});
                continue;
            }
            links[done].next = port.pending;
            if (port.pending == Port::none) used_.push_back(where);
            port.pending = done;
            if constexpr (finite) prefetch_waiting(where, links[done]);
        }
        for (const Called& called : called_) call(called.where, called.time);
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
                if (shelved && soon.backlog != Port::none) backlog_.prefetch(soon);
            }
            if (shelved && i + ahead / 2 < count) prefetch_backlog(used_[i + ahead / 2], packets);
            const std::uint32_t where = used_[i];
            Port& port = net_.port(where);
            const std::uint32_t first = std::exchange(port.pending, Port::none);
            if (links_[first].next == Port::none) {
                pass(port, where, packets[first], links_[first]);
                continue;
            }
            order_.clear();
            for (std::uint32_t at = first; at != Port::none; at = links_[at].next)
                order_.push_back({packets[at].time, links_[at].input, at});
            std::sort(order_.begin(), order_.end(), [](const Arrival& a, const Arrival& b) {
                return a.time != b.time ? a.time < b.time : a.input < b.input;
            });
            for (const Arrival& arrival : order_) pass(port, where, packets[arrival.at], links_[arrival.at]);
        }
    }

    void prefetch_backlog(std::uint32_t where, const Event* packets) {
        const Port& port = net_.port(where);
        if (port.backlog == Port::none) return;
        for (std::uint32_t at = port.pending; at != Port::none; at = links_[at].next)
            links_[at].likely = backlog_.prefetch(port, packets[at].to, packets[at].memory);
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
        reserve_links(slice);
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
            route(event, links_[i]);
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
            Link& link = links_[keys_[i] & mask];
            if (event.where == nowhere) continue;
            if (shelved && link.input == call_mark) [[unlikely]] {
                call(event.where, event.time);
                continue;
            }
            if (!is_credit(link)) {
                if (!crossbars_.empty()) cross(event);
                if (event.size & Event::undecided_bit) decide(event, link);
                if (event.rank() == world_.followed && !is_credit(link)) follow(event);
            }
            pass(net_.port(event.where), event.where, event, link);
        }
    }

    // Through the switch itself, where that has a limit: one packet after another, in order of arrival.
    void cross(Event& event) {
        std::int64_t& busy = crossbars_[world_.by_radix.quotient(event.where)];
        const std::int64_t start = std::max(event.time, busy);
        busy = start + net_.rates[Network::crossbar].duration(size_of(event));
        if (event.kind() != Event::control) event.delay = Delay::longer(event.delay, start - event.time);
        event.time = start;
        event.stage =
            Event::stage_word(event.program_stage(), net_.slower(event.rate(), Network::crossbar), event.channel());
    }

    void decide(Event& event, Link& link) {
        if constexpr (Routing::adaptive) {
            const std::uint32_t first = event.where, sw = world_.by_radix.quotient(first);
            const std::uint32_t terminal = terminal_of(event), dst_sw = world_.by_switch.quotient(terminal);
            const auto waiting_bytes = [&](std::uint32_t port) { return queue(first + port, event.time); };
            const std::uint32_t port = routing_.choose(sw, dst_sw, terminal, event.memory, waiting_bytes);
            if constexpr (finite) link.channel = routing_.channel(sw, dst_sw, port, event.memory);
            event.where += port;
            event.size &= ~Event::undecided_bit;
        }
    }

    void follow(const Event& event) {
        const std::uint32_t sw = world_.by_radix.quotient(event.where);
        passages_.push_back({sw, event.where - sw * net_.radix(), size_of(event), {event.time}});
    }

    // The bytes that wait for a port: committed, or for want of room.
    std::uint64_t queue(std::uint32_t where, std::int64_t time) const {
        const Port& port = net_.port(where);
        std::uint64_t bytes = 0;
        if (port.busy > time)
            bytes = (static_cast<std::uint64_t>(port.busy - time) << 16) / net_.rates[port.rate].byte_time;
        if constexpr (finite)
            for (int c = 0; c < net_.channels(); ++c)
                for (std::uint32_t at = net_.channels(where)[c].first; at != Port::none; at = waiting_[at].next)
                    bytes += size_of(waiting_[at].event);
        return bytes;
    }

    std::uint32_t size_of(const Event& event) const {
        return event.kind() == Event::control ? world_.header : event.bytes();
    }

    [[gnu::always_inline]] void pass(Port& port, std::uint32_t where, const Event& event, const Link& link) {
        if constexpr (finite) {
            if (is_credit(link)) {
                Channel& channel = net_.channels(where)[link.input - credit_mark];
                channel.credit += event.bytes();
                drain(port, channel, link.input - credit_mark, event.time);
                return;
            }
            if (port.kind != static_cast<std::uint8_t>(LinkKind::terminal)) {
                Channel& channel = net_.channels(where)[link.channel];
                const std::uint32_t bytes = size_of(event);
                if (channel.first != Port::none || channel.credit < bytes) {
                    wait(channel, event, link.input);
                    return;
                }
                channel.credit -= bytes;
            }
        }
        const std::int64_t start = commit(port, where, event, event.time, link.channel, link.likely);
        if constexpr (finite) give_room(net_.upstreams[link.input], link.input, event.channel(), start, size_of(event));
    }

    // The packet that a credit lets go, or that another one will stand behind.
    [[gnu::always_inline]] void prefetch_waiting(std::uint32_t where, const Link& link) {
        const Channel* channels = net_.channels(where);
        const std::uint32_t id =
            is_credit(link) ? channels[link.input - credit_mark].first : channels[link.channel].last;
        if (id != Port::none && id < waiting_.capacity()) prefetch_line(&waiting_[id]);
    }

    void wait(Channel& channel, const Event& event, std::uint32_t input) {
        const std::uint32_t id = waiting_.take(), bytes = size_of(event);
        waiting_[id] = {event, net_.upstreams[input], input, Port::none, 0};
        if (channel.first == Port::none) {
            channel.first = id;
            channel.first_bytes = bytes;
        } else {
            waiting_[channel.last].next = id;
            waiting_[channel.last].next_bytes = bytes;
        }
        channel.last = id;
    }

    // What waits for room takes it, first come, first served.
    void drain(Port& port, Channel& channel, std::uint32_t number, std::int64_t time) {
        while (channel.first != Port::none && channel.credit >= channel.first_bytes) {
            const std::uint32_t id = channel.first;
            const Waiting& waiting = waiting_[id];
            channel.credit -= channel.first_bytes;
            channel.first = waiting.next;
            channel.first_bytes = waiting.next_bytes;
            if (channel.first != Port::none) prefetch_line(&waiting_[channel.first]);
            give_room(waiting.up, waiting.input, waiting.event.channel(),
                      commit(port, 0, waiting.event, time, number, 0), size_of(waiting.event));
            waiting_.give(id);
        }
    }

    // A packet takes its port, number `where` if buffers are unbounded, at `time` or when that is free; returns when.
    [[gnu::always_inline]] std::int64_t commit(Port& port, [[maybe_unused]] std::uint32_t where, const Event& event,
                                               std::int64_t time, std::uint32_t channel,
                                               [[maybe_unused]] std::uint32_t likely) {
        const Rate rate = net_.rates[port.rate];
        const bool control = event.kind() == Event::control;
        const std::uint32_t bytes = control ? world_.header : event.bytes();
        const std::int64_t start = std::max(time, port.busy);
        port.busy = start + rate.duration(bytes);
        port.bytes += bytes;
        ++hops_;
        const std::uint32_t delay = control ? event.delay : Delay::longer(event.delay, start - event.time);
        const std::uint32_t slowest = net_.slower(event.rate(), port.rate);
        if (port.kind == static_cast<std::uint8_t>(LinkKind::terminal)) {
            const std::int64_t tail = start + rate.latency + net_.rates[slowest].duration(bytes);
            if (!control) {
                delays_.record(event, delay, tail);
                if (told_) [[unlikely]]
                    ranks_.record_arrival(event, tail);
            }
            ranks_.deliver(event, tail);
            return start;
        }
        const std::uint32_t stage = Event::stage_word(event.program_stage(), slowest, channel);
        if constexpr (shelved)
            if (start - event.time > patience_ && outbox_.bytes() >= crowd_from(port.busy - start) && !control)
                [[unlikely]]
                if (put_aside(port, where, event, stage, start, likely)) return start;
        send_on(port, start, event.to, event.size, stage, event.memory, delay);
        return start;
    }

    [[gnu::always_inline]] void send_on(const Port& port, std::int64_t start, std::uint32_t to, std::uint32_t size,
                                        std::uint32_t stage, std::uint32_t memory, std::uint32_t delay) {
        const std::int64_t arrival = start + net_.rates[port.rate].latency;
        Event& next = outbox_.push(port.owner, arrival);
        next.time = arrival;
        next.where = port.peer;
        next.to = to;
        next.size = size;
        next.stage = stage;
        next.memory = memory;
        next.delay = delay;
    }

    // The bytes of events from which packets that hold a port so long are put aside. A call takes what begins within an
    // eighth of the patience or a quarter. Where that is a packet or two, the call costs ten times what the event had,
    // and memory has to be short.
    std::size_t crowd_from(std::int64_t duration) const {
        constexpr std::int64_t few = 4;  // packets in an eighth of it
        return duration * 8 * few <= patience_ ? world_.crowd : SimulationOptions::large_crowd * world_.crowd;
    }

    // Returns whether the packet is sent on later, by `call`.
    [[gnu::noinline]] bool put_aside(Port& port, std::uint32_t where, const Event& event, std::uint32_t stage,
                                     std::int64_t start, std::uint32_t likely) {
        const bool begins = port.backlog == Port::none;
        const Backlog::Waiting packet{event.to, event.size, stage, event.memory, start, event.time, event.delay};
        if (!backlog_.put(port, packet, port.busy - start, likely)) return false;
        if (begins) call_at(where, start);
        return true;
    }
    // Sends on what takes a port soon, so that its next switch hears of it in time.
    [[gnu::noinline]] void call(std::uint32_t where, std::int64_t time) {
        Port& port = net_.port(where);
        const Rate rate = net_.rates[port.rate];
        const auto duration = [&](std::uint32_t size) { return rate.duration(size & Event::size_mask); };
        const auto send = [&](const Backlog::Waiting& packet) {
            send_on(port, packet.start, packet.to, packet.size, packet.stage, packet.memory,
                    Delay::longer(packet.delay, packet.start - packet.came));
        };
        ++calls_;
        if (backlog_.take(port, time + patience_ / 2, duration, send)) call_at(where, backlog_.first(port));
    }
    void call_at(std::uint32_t where, std::int64_t start) {
        const std::uint32_t sw = world_.by_radix.quotient(where);
        // Ports that crowded at one time do not all call in one window: each is a little early by its number.
        const std::int64_t early = static_cast<std::int64_t>((where * 0x9e3779b1u) >> 25) * (patience_ >> 10);
        const std::int64_t time = start - patience_ / 4 - early;
        Event& event = outbox_.push(outbox_.id(), time);
        event.time = time;
        event.where = net_.where(sw, where - sw * net_.radix());
        event.to = event.stage = event.delay = 0;
        event.size = Event::aside << Event::kind_shift;
        event.memory = call_next;
    }

    // A packet's head leaves an input buffer: its room is reported to the other end of the link.
    void give_room(const Upstream& up, std::uint32_t input, std::uint32_t channel, std::int64_t start,
                   std::uint32_t bytes) {
        if (up.kind == static_cast<std::uint8_t>(LinkKind::terminal)) {
            const std::uint32_t sw = world_.by_radix.quotient(input);
            ranks_.room(sw * world_.by_switch.divisor() + (input - sw * net_.radix() - world_.first_terminal),
                        start + net_.rates[Network::injection].latency, bytes);
            return;
        }
        const std::int64_t time = start + net_.rates[up.rate].latency;
        Event& credit = outbox_.push(up.owner, time);
        credit.time = time;
        credit.where = up.where;
        credit.to = 0;
        credit.size = bytes | Event::aside << Event::kind_shift;
        credit.stage = channel << Event::channel_shift;
        credit.memory = freed;
        credit.delay = 0;
    }

    World& world_;
    Network& net_;
    Routing& routing_;
    Outbox& outbox_;
    Ranks& ranks_;
    bool told_;      // packets tell of their senders
    bool in_order_;  // packets of a slice are dealt with in order of time, not port by port
    Slices slices_;
    HugeVector<Link> links_;                       // [packet of the slice]
    std::vector<std::uint32_t> used_;              // ports with packets in the slice
    std::vector<Arrival> order_;                   // packets of one port
    std::vector<Called> called_;                   // of the slice
    HugeVector<std::uint64_t> keys_, other_keys_;  // where all packets of a slice are sorted
    Pool<Waiting> waiting_;                        // for room
    Backlog backlog_;                              // of unbounded buffers: for their ports
    std::int64_t patience_;                        // what waits longer for its port is put there
    LazyArray<std::int64_t> crossbars_;            // [switch] ps until which it is held; empty: no limit
    std::int64_t hops_ = 0;
    std::uint64_t events_ = 0, calls_ = 0;
    Delays delays_;
    std::vector<Passage> passages_;
};

}  // namespace tradewind::sim
