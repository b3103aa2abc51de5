// The ports of the switches of one part of a simulation: how packets take them, wait for room behind them, and go on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/lazy.hpp"
#include "base/prefetch.hpp"
#include "sim/clock.hpp"
#include "sim/compact_queue.hpp"
#include "sim/delays.hpp"
#include "sim/outbox.hpp"
#include "sim/pool.hpp"
#include "sim/ranks.hpp"
#include "sim/world.hpp"

namespace tradewind::sim {

// State of a packet at its output port, in addition to its event.
struct Claim {
    static constexpr std::uint32_t credit_mark = ~0u - 255, call_mark = credit_mark - 1;
    std::uint32_t next = 0;   // packet of the slice with the same port
    std::uint32_t input = 0;  // index of its input port; of a credit: credit_mark + channel; or call_mark
    std::uint32_t channel = 0;
    std::uint32_t likely = 0;  // of a compact queue: see CompactQueue::prefetch

    bool credit() const { return input >= credit_mark; }
    bool call() const { return input == call_mark; }
};

// `finite`: input buffers are finite. A port then holds, for each virtual channel of the buffer at its other end, how
// many bytes are free there. A packet that finds room is committed when it arrives: its time on the port is fixed, and
// so is the time at which its own room comes free. One that finds none, or others waiting, joins the list of the
// channel; what comes free goes to the head of the list. So a hop costs two events, a packet and a credit, and a
// blocked channel never blocks another.
//
// Behind the crossbar a port may have an output buffer. A packet is in it as soon as there is room, in the order of its
// channel, and its room in the input buffer comes free then; it takes room in the next switch, and the port, as above.
// When it comes in is known once all before it have their time on the port, so this too costs no event of its own.
//
// `compact`: what waits long for a port of unbounded buffers is held in a compact queue.
template <bool finite, bool compact>
class Ports {
  public:
    // `asked`: whether a routing may look at `queue`.
    Ports(World& world, Outbox& outbox, Ranks& ranks, bool asked)
        : world_(world),
          net_(world.network),
          outbox_(outbox),
          ranks_(ranks),
          carries_senders_(world.origins.carried()),
          exits_(world.network.has_exits()),
          patience_(patience_windows << world.shift),
          delays_(world) {
        if (finite && asked)
            without_room_ = LazyArray<std::uint64_t>(
                net_.ports(), is_dense(net_.ports() * sizeof(std::uint64_t), world.program.ranks()));
    }

    std::int64_t hops() const { return hops_; }
    std::uint64_t calls() const { return calls_; }
    Delays& delays() { return delays_; }
    void write(StateWriter& out) const;
    template <class Count>
    void tally(Count& count) {
        count(hops_);
        delays_.tally(count);
    }

    std::uint32_t size_of(const Event& event) const {
        return event.kind() == Event::control ? world_.header : event.bytes();
    }

    // The bytes that wait for a port: committed, or for want of credits. Only where `asked`.
    std::uint64_t queue(std::uint32_t where, std::int64_t time) const {
        const Port& port = net_.port(where);
        if (port.rate == 0) return 0;  // no packet has taken it
        std::uint64_t bytes = 0;
        if (port.busy > time)
            bytes = (static_cast<std::uint64_t>(port.busy - time) << 16) / net_.rates[port.rate].byte_time;
        if constexpr (finite) bytes += without_room_[where];
        return bytes;
    }

    // A packet, or a credit, comes to port number `where`.
    [[gnu::always_inline]] void pass(Port& port, std::uint32_t where, const Event& event, const Claim& claim) {
        if constexpr (finite) {
            if (exits_) [[unlikely]] {
                pass_exit(port, where, event, claim);
                return;
            }
            if (claim.credit()) {
                net_.channels(where)[claim.input - Claim::credit_mark].credit += event.bytes();
                drain(port, where, claim.input - Claim::credit_mark, event.time);
                return;
            }
            if (port.kind != static_cast<std::uint8_t>(machine::LinkKind::terminal)) {
                Channel& channel = net_.channels(where)[claim.channel];
                const std::uint32_t bytes = size_of(event);
                if (channel.first != Port::none || channel.credit < bytes) {
                    wait(channel, where, event, claim.input);
                    return;
                }
                channel.credit -= bytes;
            }
        }
        const std::int64_t start = commit(port, where, event, event.time, claim.channel, claim.likely);
        if constexpr (finite)
            return_credit(net_.upstreams[claim.input], claim.input, event.channel(), start, size_of(event));
    }

    // Sends on what takes a port soon, so that its next switch gets the event in time.
    [[gnu::noinline]] void call(std::uint32_t where, std::int64_t time) {
        Port& port = net_.port(where);
        const Rate rate = net_.rates[port.rate];
        const auto duration = [&](std::uint32_t size) { return rate.duration(size & Event::size_mask); };
        const auto send = [&](const CompactQueue::Waiting& packet) {
            send_on(port, packet.start, packet.to, packet.size, packet.stage, packet.memory,
                    Delay::longer(packet.delay, packet.start - packet.came));
        };
        ++calls_;
        if (compact_queue_.take(port, time + patience_ / 2, duration, send)) call_at(where, compact_queue_.first(port));
    }

    // The packet that a credit lets go, or that another one will stand behind.
    [[gnu::always_inline]] void prefetch_waiting(std::uint32_t where, const Claim& claim) const {
        const Channel* channels = net_.channels(where);
        const std::uint32_t id =
            claim.credit() ? channels[claim.input - Claim::credit_mark].first : channels[claim.channel].last;
        if (id != Port::none && id < waiting_.capacity()) prefetch_line(&waiting_[id]);
    }

    bool has_queues() const { return compact_queue_.any(); }
    // Fetches the compact queue of a port that has one; once that has come, what it has of a packet's message: see
    // Claim.
    void prefetch_queue(const Port& port) const { compact_queue_.prefetch(port); }
    std::uint32_t prefetch_queue(const Port& port, const Event& event) const {
        return compact_queue_.prefetch(port, event.to, event.memory);
    }

  private:
    static constexpr std::int64_t patience_windows = 1024;  // early: by up to an eighth of that

    // A packet that waits for room, and all that is needed to let it go: its own room is reported to `up`. One cache
    // line.
    struct alignas(64) Waiting {
        Event event;
        Upstream up;
        std::uint32_t input, next, next_bytes;
    };
    static_assert(sizeof(Waiting) == 64);
    // A packet in an output buffer, and when it leaves it.
    struct Leaving {
        std::int64_t start;
        std::uint32_t bytes, next;
    };
    static constexpr std::int64_t unknown = -1;

    void write_channel(StateWriter& out, std::uint32_t where, int number) const;
    void write_exit(StateWriter& out, std::uint32_t where, int number, bool terminal) const;

    void wait(Channel& channel, std::uint32_t where, const Event& event, std::uint32_t input) {
        const std::uint32_t id = waiting_.take(), bytes = size_of(event);
        if (!without_room_.empty()) without_room_[where] += bytes;
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

    // Takes the first packet that waits out of the list, with room for it; its record stays until it is given back.
    std::uint32_t take_first(Channel& channel, std::uint32_t where) {
        const std::uint32_t id = channel.first;
        const Waiting& waiting = waiting_[id];
        channel.credit -= channel.first_bytes;
        if (!without_room_.empty()) without_room_[where] -= channel.first_bytes;
        channel.first = waiting.next;
        channel.first_bytes = waiting.next_bytes;
        return id;
    }

    // Packets that wait for room take it, first come, first served.
    void drain(Port& port, std::uint32_t where, std::uint32_t number, std::int64_t time) {
        Channel& channel = net_.channels(where)[number];
        while (channel.first != Port::none && channel.credit >= channel.first_bytes) {
            const std::uint32_t id = take_first(channel, where);
            const Waiting& waiting = waiting_[id];
            if (channel.first != Port::none) prefetch_line(&waiting_[channel.first]);
            return_credit(waiting.up, waiting.input, waiting.event.channel(),
                          commit(port, 0, waiting.event, time, number, 0), size_of(waiting.event));
            waiting_.give(id);
        }
    }

    // The same as `pass` where ports have output buffers.
    [[gnu::noinline]] void pass_exit(Port& port, std::uint32_t where, const Event& event, const Claim& claim) {
        if (claim.credit()) {
            const std::uint32_t number = claim.input - Claim::credit_mark;
            net_.channels(where)[number].credit += event.bytes();
            drain_exit(port, where, number, event.time);
            return;
        }
        const bool leaves = port.kind == static_cast<std::uint8_t>(machine::LinkKind::terminal);
        const std::uint32_t number = leaves ? 0 : claim.channel, bytes = size_of(event);
        Exit& exit = net_.exit(where, number);
        std::int64_t entry = unknown;
        if (exit.outside == Port::none) entry = enter(exit, event.time, bytes);
        if (entry != unknown) return_credit(net_.upstreams[claim.input], claim.input, event.channel(), entry, bytes);
        Channel& channel = net_.channels(where)[number];
        if (!leaves && (channel.first != Port::none || channel.credit < bytes)) {
            wait(channel, where, event, claim.input);
            if (entry == unknown && exit.outside == Port::none) exit.outside = channel.last;
            return;
        }
        if (!leaves) channel.credit -= bytes;
        leave(exit, commit(port, where, event, event.time, claim.channel, claim.likely), bytes);
    }

    void drain_exit(Port& port, std::uint32_t where, std::uint32_t number, std::int64_t time) {
        Channel& channel = net_.channels(where)[number];
        Exit& exit = net_.exit(where, number);
        while (channel.first != Port::none && channel.credit >= channel.first_bytes) {
            const std::uint32_t id = take_first(channel, where);
            const Waiting waiting = waiting_[id];
            waiting_.give(id);
            leave(exit, commit(port, where, waiting.event, time, number, 0), size_of(waiting.event));
            // All that are before the first one outside have their times: it may come in.
            while (exit.outside != Port::none) {
                const Waiting& next = waiting_[exit.outside];
                const std::uint32_t bytes = size_of(next.event);
                const std::int64_t entry = enter(exit, next.event.time, bytes);
                if (entry == unknown) break;
                return_credit(next.up, next.input, next.event.channel(), entry, bytes);
                exit.outside = next.next;
            }
        }
    }

    // When a packet that comes at `time` is in the output buffer: once enough of those before it have left. Unknown
    // where one of these has no time on the port yet.
    std::int64_t enter(Exit& exit, std::int64_t time, std::uint32_t bytes) {
        std::int64_t entry = std::max(time, exit.entered);
        while (exit.free < bytes) {
            if (exit.first == Port::none) return unknown;
            const std::uint32_t id = exit.first;
            entry = std::max(entry, leaving_[id].start);
            exit.free += leaving_[id].bytes;
            exit.first = leaving_[id].next;
            if (exit.first == Port::none) exit.last = Port::none;
            leaving_.give(id);
        }
        exit.free -= bytes;
        return exit.entered = entry;
    }

    void leave(Exit& exit, std::int64_t start, std::uint32_t bytes) {
        const std::uint32_t id = leaving_.take();
        leaving_[id] = {start, bytes, Port::none};
        (exit.first == Port::none ? exit.first : leaving_[exit.last].next) = id;
        exit.last = id;
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
        if (port.kind == static_cast<std::uint8_t>(machine::LinkKind::terminal)) {
            // A crowd before one port may book it for days beyond the packets that come next.
            if (start > latest.value) [[unlikely]]
                refuse_time("the simulation reaches", static_cast<double>(start) * 1e-12);
            const std::int64_t tail = start + rate.latency + net_.rates[slowest].duration(bytes);
            if (!control) {
                delays_.record(event, delay, tail);
                if (carries_senders_) [[unlikely]]
                    ranks_.record_arrival(event, tail);
            }
            ranks_.deliver(event, tail);
            return start;
        }
        const std::uint32_t stage = Event::stage_word(event.program_stage(), slowest, channel);
        if constexpr (compact)
            if (start - event.time > patience_ && outbox_.bytes() >= compact_from(port.busy - start) && !control)
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
    std::size_t compact_from(std::int64_t duration) const {
        constexpr std::int64_t few = 4;  // packets in an eighth of it
        return duration * 8 * few <= patience_ ? world_.compact_from
                                               : SimulationOptions::long_hold_factor * world_.compact_from;
    }

    // Returns whether the packet is sent on later, by `call`.
    [[gnu::noinline]] bool put_aside(Port& port, std::uint32_t where, const Event& event, std::uint32_t stage,
                                     std::int64_t start, std::uint32_t likely) {
        if (start > latest.value) refuse_time("the simulation reaches", static_cast<double>(start) * 1e-12);
        const bool begins = port.compact_queue == Port::none;
        const CompactQueue::Waiting packet{event.to, event.size, stage, event.memory, start, event.time, event.delay};
        if (!compact_queue_.put(port, packet, port.busy - start, likely)) return false;
        if (begins) call_at(where, start);
        return true;
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
    void return_credit(const Upstream& up, std::uint32_t input, std::uint32_t channel, std::int64_t start,
                       std::uint32_t bytes) {
        if (up.kind == static_cast<std::uint8_t>(machine::LinkKind::terminal)) {
            const std::uint32_t sw = world_.by_radix.quotient(input);
            ranks_.add_credit(sw * world_.by_switch.divisor() + (input - sw * net_.radix() - world_.first_terminal),
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
    Outbox& outbox_;
    Ranks& ranks_;
    bool carries_senders_;   // of packets
    bool exits_;             // ports have output buffers
    Pool<Waiting> waiting_;  // for room
    Pool<Leaving> leaving_;  // output buffers
    // [port] Bytes that wait for room; empty where nothing asks. To add them up at each question took two thirds of the
    // time where hundreds of packets waited.
    LazyArray<std::uint64_t> without_room_;
    CompactQueue compact_queue_;  // of unbounded buffers: for their ports
    std::int64_t patience_;       // what waits longer for its port is put there
    std::int64_t hops_ = 0;
    std::uint64_t calls_ = 0;
    Delays delays_;
};

}  // namespace tradewind::sim
