// The packet engine.
//
// Time is cut into windows no longer than the smallest latency, so that nothing that happens in a window has an effect
// elsewhere before the next one. Switches, with their nodes and ranks, are divided among parts, one a thread. In a
// window each part (1) copies the packets that arrive at its switches and routes them, (2) orders them by (time, input
// port) and applies them to the ports one after another, (3) lets its ranks act. Steps 2 and 3 only ever touch the
// part's own state and put events into later windows, so a barrier a window is all the synchronisation there is, and
// the order of events does not depend on the number of parts: two packets never enter one input port at one time.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "base/divide.hpp"
#include "base/random.hpp"
#include "machine/routing/packet.hpp"
#include "sim/barrier.hpp"
#include "sim/event.hpp"
#include "sim/network.hpp"
#include "sim/rank.hpp"
#include "sim/simulate.hpp"
#include "sim/sort.hpp"
#include "sim/wheel.hpp"

namespace tradewind::sim {

// All that the parts share: constant while they run, or divided among them by switch, node and rank.
template <class Routing>
struct World {
    World(const Machine& machine, const Program& program, const Placement& placement, const SimulationOptions& options,
          Routing routing)
        : program(program),
          placement(placement),
          network(machine, placement, program.ranks(), options.threads),
          routing(std::move(routing)),
          senders(static_cast<std::size_t>(program.ranks())),
          receivers(static_cast<std::size_t>(program.ranks())),
          by_switch(machine.topology->nodes_per_switch()),
          by_radix(network.radix()),
          first_terminal(machine.topology->first_terminal()),
          packet(options.packet.value == 0 ? SimulationOptions::largest_packet : options.packet.value),
          send_overhead(machine.send_overhead.value),
          receive_overhead(machine.receive_overhead.value),
          memory_byte_time(1e12 / machine.memory_bandwidth.value),
          seed(mix(options.seed)) {
        if (send_overhead > 0 || receive_overhead > 0) cpus.resize(senders.size());
        // A key has 64 bits: time in the window, input port, and at least 24 for the packets of one window.
        while ((std::int64_t{2} << shift) <= network.look_ahead() && shift + network.port_bits() < 40) ++shift;
    }

    const Program& program;
    const Placement& placement;
    Network network;
    Routing routing;
    HugeVector<Sender> senders;      // [rank]
    HugeVector<Receiver> receivers;  // [rank]
    HugeVector<std::int64_t> cpus;   // [rank] ps until which it is busy with messages; empty where they cost nothing
    Divider by_switch, by_radix;
    std::uint32_t first_terminal;
    std::int64_t packet, send_overhead, receive_overhead;
    double memory_byte_time;  // ps
    std::uint64_t seed;
    int shift = 0;  // a window is 2^shift ps long
};

// What a part tells the others at the end of a window.
struct alignas(64) Report {
    std::int64_t next = Wheel::never;  // its first window with events
    std::uint64_t events = 0;          // that it has seen in all
    std::int64_t arrived = 0;          // bytes
    bool stop = false;
    bool alone = false;  // from the first part: it does the next round for all
};

template <class Routing>
class Part {
  public:
    Part(World<Routing>& world, int id, int parts, std::uint32_t events_a_chunk)
        : world_(world), net_(world.network), id_(id), pool_(events_a_chunk) {
        for (int p = 0; p < parts; ++p) outbox_.push_back(std::make_unique<Wheel>());
        step_end_.resize(world.program.steps().size(), 0);
        for (Staged& s : staged_) s.place = &nowhere_;
    }

    // Lets the ranks of this part begin, at time 0.
    void start() {
        enter(0);
        for (Rank r = 0; r < world_.program.ranks(); ++r) {
            if (net_.owner(world_.by_switch.quotient(world_.placement.node(r))) != id_) continue;
            if (world_.program.stages() == 0) {  // a single rank has nobody to talk to
                ++finished_;
                continue;
            }
            begin_stage(r, 0);
            if (ordered())
                act_later(0, r, emit, 0, 0);
            else
                run(r);
        }
        drain_now();
        flush();
    }

    void process(std::int64_t window, std::vector<std::unique_ptr<Part>>& parts) {
        enter(window);
        const std::size_t slices = collect(parts);
        for (std::size_t i = 0; i < slices; ++i) {
            if (i + 1 == slices) take_actions();
            if constexpr (Routing::adaptive) {
                sort(slices_[i]);
                apply(slices_[i]);
            } else {
                link(slices_[i]);
                apply_ports(slices_[i]);
            }
        }
        act();
        flush();
    }

    Report report() {
        Report report;
        for (auto& wheel : outbox_) {
            wheel->clear(window_);
            report.next = std::min(report.next, wheel->next(window_, world_.shift, pool_));
        }
        actions_.clear(window_);
        report.next = std::min(report.next, actions_.next(window_, world_.shift, pool_));
        report.events = events_;
        report.arrived = arrived_bytes_;
        return report;
    }

    void add_to(SimulationResult& result, std::int64_t& finished, std::int64_t& arrived) const {
        for (std::size_t i = 0; i < step_end_.size(); ++i)
            result.step_end[i] = std::max(result.step_end[i], Picoseconds{step_end_[i]});
        result.messages += messages_;
        result.bytes += sent_bytes_;
        result.packet_hops += hops_;
        result.events += events_;
        result.delay.merge(delay_);
        finished += finished_;
        arrived += arrived_bytes_;
    }

  private:
    static constexpr int packets_ahead = 4;

    // A window's packets are dealt with a slice of it at a time, so that the ports and ranks that they need stay in the
    // second-level cache from the first pass to the second.
    struct Slice {
        HugeVector<Event> packets;
        std::size_t count = 0;
    };
    static constexpr int most_slice_bits = 6;
    static constexpr std::size_t slice_size = 400;
    static constexpr std::uint32_t at_destination = ~0u;  // for Event::memory, which no routing needs there

    bool shared_nic() const { return world_.placement.ranks_per_node() > 1; }
    // Whether what ranks do within a window must be done in order of time: they share a NIC, or a rank's CPU is busy
    // with one message when the next arrives. Otherwise no action has an effect on another of the same window.
    bool ordered() const { return shared_nic() || world_.receive_overhead > 0; }

    void enter(std::int64_t window) {
        window_ = window;
        window_start_ = window << world_.shift;
        window_end_ = (window + 1) << world_.shift;
    }

    // Takes the window's packets and divides them into slices of time. Returns the number of slices.
    std::size_t collect(std::vector<std::unique_ptr<Part>>& parts) {
        // As many as this window needs if it is like the last one.
        slice_bits_ = 0;
        while (slice_bits_ < most_slice_bits && slice_bits_ < world_.shift && last_count_ >> slice_bits_ > slice_size)
            ++slice_bits_;
        const std::size_t slices = std::size_t{1} << slice_bits_;
        const int drop = world_.shift - slice_bits_;
        for (std::size_t i = 0; i < slices; ++i) slices_[i].count = 0;
        for (auto& part : parts)
            pool_.drain(part->outbox_[id_]->take(window_), [&](const Event& arrived) {
                Slice& slice = slices_[(arrived.time - window_start_) >> drop];
                if (slice.count == slice.packets.size()) [[unlikely]]
                    grow(slice);
                slice.packets[slice.count++] = arrived;
            });
        last_count_ = 0;
        for (std::size_t i = 0; i < slices; ++i) last_count_ += slices_[i].count;
        return slices;
    }

    // Replaces where a packet arrives by the index of the port it leaves through; what an adaptive routing must decide
    // in order of time is left with its bit set and the index of the switch's port 0.
    void route(Event& event, std::uint32_t node) {
        const std::uint32_t sw = net_.switch_of(event.where), dst_sw = world_.by_switch.quotient(node);
        std::uint32_t port = 0;
        if (sw == dst_sw) {
            port = world_.first_terminal + world_.by_switch.remainder(node);
            event.memory = at_destination;
            __builtin_prefetch(&world_.receivers[event.rank], 1);
        } else if constexpr (Routing::adaptive) {
            if (world_.routing.decided(sw, dst_sw, event.memory))
                port = world_.routing.port(sw, dst_sw, node, event.memory);
            else
                event.size |= Event::undecided_bit;
        } else {
            port = world_.routing.port(sw, dst_sw, node, event.memory);
        }
        event.where = sw * net_.radix() + port;
        __builtin_prefetch(&net_.ports[event.where], 1);
    }
    void route(Event& event) {
        route(event, world_.placement.identity() ? event.rank : world_.placement.node(static_cast<Rank>(event.rank)));
    }

    // First pass, where packets of different ports do not depend on each other: routes the packets of a slice and hangs
    // each one on its port, once that has come into the cache. Sorting them all by time would cost a quarter of all
    // time; most ports have one packet in a slice.
    void link(Slice& slice) {
        constexpr std::size_t ahead = 16;
        const std::size_t count = slice.count;
        if (links_.size() < count) links_.resize(slice.packets.size());
        used_.clear();
        Event* const packets = slice.packets.data();
        Link* const links = links_.data();
        for (std::size_t i = 0; i < count + ahead; ++i) {
            if (i < count) {
                links[i].input = net_.port_of(packets[i].where);
                route(packets[i]);
            }
            if (i < ahead) continue;
            const auto done = static_cast<std::uint32_t>(i - ahead);
            if (done >= count) break;
            const std::uint32_t where = packets[done].where;
            Port& port = net_.ports[where];
            links[done].next = port.waiting;
            if (port.waiting == Port::none) used_.push_back(where);
            port.waiting = done;
        }
    }

    // Second pass: the packets of each port take it in order of time, then input port.
    void apply_ports(Slice& slice) {
        constexpr std::size_t ahead = 6;
        Event* const packets = slice.packets.data();
        const std::size_t count = used_.size();
        for (std::size_t i = 0; i < count; ++i) {
            if (i + 2 * ahead < count) __builtin_prefetch(&net_.ports[used_[i + 2 * ahead]], 1);
            if (i + ahead < count) {
                const Event& soon = packets[net_.ports[used_[i + ahead]].waiting];
                __builtin_prefetch(&soon);
            }
            Port& port = net_.ports[used_[i]];
            const std::uint32_t first = std::exchange(port.waiting, Port::none);
            if (links_[first].next == Port::none) {
                pass(port, packets[first]);
                continue;
            }
            order_.clear();
            for (std::uint32_t at = first; at != Port::none; at = links_[at].next) order_.push_back(at);
            std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
                return packets[a].time != packets[b].time ? packets[a].time < packets[b].time
                                                          : links_[a].input < links_[b].input;
            });
            for (const std::uint32_t at : order_) pass(port, packets[at]);
        }
        events_ += slice.count;
        hops_ += static_cast<std::int64_t>(slice.count);
    }

    // First pass, where the routing of a packet depends on what others did: finds their ports as far as that is known,
    // and orders all packets by time, then input port.
    void sort(Slice& slice) {
        const int port_bits = net_.port_bits(), index_bits = 64 - world_.shift - port_bits;
        const std::uint64_t within = (std::uint64_t{1} << (world_.shift - slice_bits_)) - 1;
        if (keys_.size() < slice.count) {
            keys_.resize(slice.packets.size());
            other_keys_.resize(slice.packets.size());
        }
        for (std::size_t i = 0; i < slice.count; ++i) {
            Event& event = slice.packets[i];
            const std::uint64_t key =
                (static_cast<std::uint64_t>(event.time) & within) << port_bits | net_.port_of(event.where);
            keys_[i] = key << index_bits | i;
            route(event);
        }
        radix_sort(keys_, other_keys_, slice.count, index_bits, world_.shift - slice_bits_ + port_bits);
    }

    // Inlined by force: a function that only prefetches has no effect in the eyes of gcc, which drops calls of it.
    [[gnu::always_inline]] void prefetch_rank(std::uint32_t rank) const {
        __builtin_prefetch(&world_.senders[rank], 1);
        __builtin_prefetch(&world_.receivers[rank], 1);
        if (world_.placement.identity()) __builtin_prefetch(&net_.nics[rank], 1);
    }

    void decide(Event& event) {
        const std::uint32_t sw = world_.by_radix.quotient(event.where), first = event.where;
        const std::uint32_t node = world_.placement.node(static_cast<Rank>(event.rank));
        const auto waiting_bytes = [&](std::uint32_t port) -> std::uint64_t {
            const Port& p = net_.ports[first + port];
            if (p.busy <= event.time) return 0;
            return (static_cast<std::uint64_t>(p.busy - event.time) << 16) / net_.rates[p.rate].byte_time;
        };
        event.where += world_.routing.choose(sw, world_.by_switch.quotient(node), node, event.memory, waiting_bytes);
    }

    // Second pass there: packets take their ports in order.
    void apply(Slice& slice) {
        const std::size_t count = slice.count;
        HugeVector<Event>& packets = slice.packets;
        constexpr std::size_t ahead = 12;
        const std::uint64_t mask = (std::uint64_t{1} << (64 - world_.shift - net_.port_bits())) - 1;
        for (std::size_t i = 0; i < count; ++i) {
            if (i + 2 * ahead < count) __builtin_prefetch(&packets[keys_[i + 2 * ahead] & mask]);
            if (i + ahead < count) __builtin_prefetch(&net_.ports[packets[keys_[i + ahead] & mask].where], 1);
            Event& event = packets[keys_[i] & mask];
            if (event.size & Event::undecided_bit) decide(event);
            pass(net_.ports[event.where], event);
        }
        events_ += count;
        hops_ += static_cast<std::int64_t>(count);
    }

    void pass(Port& port, const Event& event) {
        const Rate rate = net_.rates[port.rate];
        const std::uint32_t bytes = event.bytes();
        const std::int64_t start = std::max(event.time, port.busy);
        port.busy = start + rate.duration(bytes);
        port.bytes += bytes;
        const float delay = event.delay + static_cast<float>(start - event.time);
        const std::uint32_t slowest = net_.slower(event.rate(), port.rate);
        if (port.kind == static_cast<std::uint8_t>(LinkKind::terminal)) {
            delay_.add(delay);
            deliver(event, start + rate.latency + net_.rates[slowest].duration(bytes));
            return;
        }
        const std::int64_t time = start + rate.latency;
        Event& next = push(port.owner, time);
        next.time = time;
        next.where = port.peer;
        next.rank = event.rank;
        next.size = (event.size & (Event::size_bits | Event::last_bit)) | slowest << Event::rate_shift;
        next.stage = event.stage;
        next.memory = event.memory;
        next.delay = delay;
    }

    // A packet whose tail reaches its rank at `time`, in a later window.
    void deliver(const Event& event, std::int64_t time) {
        const auto r = static_cast<Rank>(event.rank);
        if (event.last() && world_.receive_overhead > 0)
            act_later(time, r, arrive, event.stage, event.bytes());
        else
            receive(r, event.stage, event.bytes(), time);
    }

    // The last packet of a message: the CPU deals with it when it has come and what came before is done.
    void receive_last(Rank r, std::uint32_t stage, std::int64_t bytes, std::int64_t time) {
        if (!world_.cpus.empty()) time = world_.cpus[r] = std::max(world_.cpus[r], time) + world_.receive_overhead;
        receive(r, stage, bytes, time);
    }

    void receive(Rank r, std::uint32_t stage, std::int64_t bytes, std::int64_t time) {
        arrived_bytes_ += bytes;
        Receiver& rank = world_.receivers[r];
        if (stage - rank.stage >= Receiver::ring) [[unlikely]] {
            Early& early = early_[early_key(r, stage)];
            ++early.packets;
            ++rank.early;
            early.time = std::max(early.time, time);
            return;
        }
        std::int64_t& last = rank.time[stage % Receiver::ring];
        last = std::max(last, time);
        if (--rank.missing[stage % Receiver::ring] == 0 && stage == rank.stage && rank.departed != Receiver::sending)
            act_later(std::max(rank.departed, last), r, advance, 0, 0);
    }

    static std::uint64_t early_key(Rank r, std::uint32_t stage) { return static_cast<std::uint64_t>(r) << 32 | stage; }

    // What ranks do in this window; early, so that their states come while packets are dealt with.
    void take_actions() {
        actions_now_.clear();
        pool_.drain(actions_.take(window_), [&](const Event& event) {
            prefetch_rank(event.rank);
            actions_now_.push_back(event);
        });
        events_ += actions_now_.size();
    }

    // Third: the ranks.
    void act() {
        for (const Event& event : actions_now_)
            if (ordered())
                push_now(event);
            else
                act(event);
        drain_now();
    }

    void act(const Event& event) {
        const Rank r = static_cast<Rank>(event.rank);
        time_ = event.time;
        if (event.where == arrive) {
            const auto bytes = static_cast<std::int64_t>(static_cast<std::uint64_t>(event.memory) << 32 | event.size);
            receive_last(r, event.stage, bytes, event.time);
            return;
        }
        if (event.where == advance && !end_stage(r, event.time)) return;
        run(r);
    }

    // In order of time, then rank.
    static bool later(const Event& a, const Event& b) {
        if (a.time != b.time) return a.time > b.time;
        if (a.rank != b.rank) return a.rank > b.rank;
        if (a.where != b.where) return a.where > b.where;
        return a.stage != b.stage ? a.stage > b.stage : a.size > b.size;
    }
    void push_now(const Event& event) {
        now_.push_back(event);
        std::push_heap(now_.begin(), now_.end(), later);
    }
    void drain_now() {
        while (!now_.empty()) {
            std::pop_heap(now_.begin(), now_.end(), later);
            const Event event = now_.back();
            now_.pop_back();
            act(event);
        }
    }

    void act_later(std::int64_t time, Rank r, RankEvent what, std::uint32_t stage, std::int64_t bytes) {
        const Event event{time,
                          what,
                          static_cast<std::uint32_t>(r),
                          static_cast<std::uint32_t>(bytes),
                          stage,
                          static_cast<std::uint32_t>(bytes >> 32),
                          0};
        if (time < window_end_)
            push_now(event);
        else
            actions_.push(event, time >> world_.shift, window_, pool_);
    }

    void begin_stage(Rank r, std::int64_t time) {
        Sender& sender = world_.senders[r];
        Receiver& receiver = world_.receivers[r];
        const auto at = world_.program.at(sender.stage);
        std::uint32_t expected = 0;
        for (int j = 0, n = at.schedule->receives(r, at.stage); j < n; ++j)
            expected += packets(r, at.schedule->receive(r, at.stage, j));
        receiver.missing[sender.stage % Receiver::ring] += expected;
        receiver.departed = Receiver::sending;
        if (!world_.cpus.empty()) time = std::max(world_.cpus[r], time);
        sender.post = sender.departed = time;
        sender.message = 0;
        sender.left = 0;
        if (world_.cpus.empty()) return;
        // The CPU posts all sends of the stage before it turns to what arrives.
        std::int64_t& cpu = world_.cpus[r] = time;
        for (int j = 0, n = at.schedule->sends(r, at.stage); j < n; ++j)
            if (at.schedule->send(r, at.stage, j).count > 0) cpu += world_.send_overhead;
    }

    // How many packets a message to a rank arrives in; what stays on the node comes whole.
    std::uint32_t packets(Rank r, const Message& message) const {
        const std::int64_t bytes = message.count * world_.program.bytes_per_point();
        if (bytes <= world_.packet) return bytes > 0;
        if (shared_nic() && world_.placement.node(r) == world_.placement.node(message.peer)) return 1;
        return static_cast<std::uint32_t>((bytes + world_.packet - 1) / world_.packet);
    }

    // Returns false when that was the rank's last stage.
    bool end_stage(Rank r, std::int64_t time) {
        Sender& sender = world_.senders[r];
        Receiver& receiver = world_.receivers[r];
        if (std::uint32_t step; world_.program.ends_step(sender.stage, step))
            step_end_[step] = std::max(step_end_[step], time);
        const std::uint32_t slot = sender.stage % Receiver::ring;
        receiver.time[slot] = 0;
        if (receiver.early > 0)
            if (const auto it = early_.find(early_key(r, sender.stage + Receiver::ring)); it != early_.end()) {
                receiver.time[slot] = it->second.time;
                receiver.missing[slot] -= it->second.packets;
                receiver.early -= it->second.packets;
                early_.erase(it);
            }
        receiver.stage = ++sender.stage;
        if (sender.stage == world_.program.stages()) {
            ++finished_;
            return false;
        }
        begin_stage(r, time);
        return true;
    }

    // Sends what a rank has to send before the window ends, stage after stage as they end.
    void run(Rank r) {
        Sender& sender = world_.senders[r];
        Receiver& receiver = world_.receivers[r];
        for (int packets = 0;;) {
            if (sender.message != Sender::all_sent && !send(r, sender, packets)) return;
            receiver.departed = sender.departed;
            const std::uint32_t slot = sender.stage % Receiver::ring;
            if (receiver.missing[slot] != 0) return;  // the last arrival will go on from here
            const std::int64_t time = std::max(sender.departed, receiver.time[slot]);
            if (time >= window_end_ || (ordered() && time > time_)) {
                act_later(time, r, advance, 0, 0);
                return;
            }
            if (!end_stage(r, time)) return;
        }
    }

    // Returns false when it has put the rest aside for a later time; counts the packets that it has sent.
    bool send(Rank r, Sender& rank, int& packets) {
        const auto at = world_.program.at(rank.stage);
        const auto count = static_cast<std::uint32_t>(at.schedule->sends(r, at.stage));
        for (; rank.message < count; ++rank.message) {
            const Message message = at.schedule->send(r, at.stage, static_cast<int>(rank.message));
            if (rank.left == 0) {
                if (message.count == 0) continue;
                rank.left = message.count * world_.program.bytes_per_point();
                rank.post += world_.send_overhead;
                ++messages_;
                sent_bytes_ += rank.left;
            }
            const std::uint32_t from = world_.placement.node(r), to = world_.placement.node(message.peer);
            if (from == to)
                copy(rank, message.peer);
            else if (!inject(r, rank, message.peer, from, packets))
                return false;
        }
        rank.message = Sender::all_sent;
        return true;
    }

    // A message between ranks of one node: a copy at the node's memory bandwidth.
    void copy(Sender& rank, Rank peer) {
        const auto duration =
            static_cast<std::int64_t>(std::ceil(static_cast<double>(rank.left) * world_.memory_byte_time));
        rank.departed = std::max(rank.departed, rank.post) + duration;
        act_later(rank.departed, peer, arrive, rank.stage, rank.left);
        rank.left = 0;
    }

    bool inject(Rank r, Sender& rank, Rank peer, std::uint32_t node, int& packets) {
        Nic& nic = net_.nics[node];
        const Rate rate = net_.rates[Network::injection];
        const std::uint32_t sw = world_.by_switch.quotient(node);
        const std::uint32_t where = net_.where(sw, world_.first_terminal + world_.by_switch.remainder(node));
        for (; rank.left > 0; ++packets) {
            const std::int64_t start = std::max(nic.busy, rank.post);
            // Ranks that share a NIC take turns, a packet at a time. A rank that has it for itself knows when its next
            // packets will leave, and sends a few ahead: an action costs as much as a hop.
            const bool turn_over =
                shared_nic() ? packets >= 1 || start >= window_end_ : packets >= packets_ahead && start >= window_end_;
            if (turn_over) {
                act_later(start, r, emit, 0, 0);
                return false;
            }
            const std::int64_t bytes = std::min(rank.left, world_.packet);
            const std::uint32_t random = draw(r, peer, rank);
            rank.left -= bytes;
            nic.busy = start + rate.duration(static_cast<std::uint32_t>(bytes));
            rank.departed = std::max(rank.departed, nic.busy);  // a copy may take longer
            nic.bytes += static_cast<std::uint64_t>(bytes);
            ++hops_;
            Event& event = push(static_cast<std::uint32_t>(id_), start + rate.latency);
            event.time = start + rate.latency;
            event.where = where;
            event.rank = static_cast<std::uint32_t>(peer);
            event.size = static_cast<std::uint32_t>(bytes) | (rank.left == 0 ? Event::last_bit : 0) |
                         Network::injection << Event::rate_shift;
            event.stage = rank.stage;
            event.memory = memory::fresh | random;
            event.delay = 0;
        }
        return true;
    }

    std::uint32_t draw(Rank r, Rank peer, const Sender& rank) const {
        std::uint64_t random =
            mix(world_.seed ^ (static_cast<std::uint64_t>(r) << 32 | static_cast<std::uint32_t>(peer)));
        if constexpr (Routing::spreads)
            random =
                mix(random ^ (static_cast<std::uint64_t>(rank.stage) << 40) ^ static_cast<std::uint64_t>(rank.left));
        return static_cast<std::uint32_t>(random >> 34);
    }

    // A packet that will arrive at a switch of a part at `time`, for the caller to fill in at once. Its place is known,
    // and its line is fetched, before it is written. Filled in field by field: a copy of an event that was just made
    // would wait until its fields have left the store buffer.
    Event& push(std::uint32_t part, std::int64_t time) {
        Staged& staged = staged_[staging_++ % staged_.size()];
        *staged.place = staged.event;
        staged.place = outbox_[part]->place(time >> world_.shift, window_, pool_);
        __builtin_prefetch(staged.place, 1);
        return staged.event;
    }
    void flush() {
        for (Staged& staged : staged_) {
            *staged.place = staged.event;
            staged.place = &nowhere_;
        }
    }

    void grow(Slice& slice) {
        const std::size_t size = std::max<std::size_t>(1024, slice.packets.size() * 3 / 2);
        if (size >> (64 - world_.shift - net_.port_bits()) != 0)
            throw std::runtime_error("more packets in one window than can be numbered: name a larger packet");
        slice.packets.resize(size);
    }

    World<Routing>& world_;
    Network& net_;
    int id_;
    ChunkPool pool_;
    std::vector<std::unique_ptr<Wheel>> outbox_;  // [part]: packets that will arrive at its switches
    Wheel actions_;                               // of its own ranks
    struct Link {
        std::uint32_t next;   // packet of the same port and slice
        std::uint32_t input;  // port
    };
    HugeVector<Link> links_;            // [packet of the slice]
    std::vector<std::uint32_t> used_;   // ports with packets in the slice
    std::vector<std::uint32_t> order_;  // packets of one port
    struct Staged {
        Event event;
        Event* place;
    };
    Event nowhere_;
    std::array<Staged, 16> staged_;
    std::uint32_t staging_ = 0;
    std::vector<Event> actions_now_;
    std::vector<Event> now_;  // heap: actions within the current window
    std::array<Slice, std::size_t{1} << most_slice_bits> slices_;
    int slice_bits_ = 0;
    std::size_t last_count_ = 0;
    HugeVector<std::uint64_t> keys_, other_keys_;
    struct Early {
        std::uint32_t packets = 0;
        std::int64_t time = 0;
    };
    std::unordered_map<std::uint64_t, Early> early_;  // beyond Receiver::ring stages ahead
    std::int64_t window_ = 0, window_start_ = 0, window_end_ = 0;
    std::int64_t time_ = 0;  // of the action in hand

    std::int64_t messages_ = 0, sent_bytes_ = 0, arrived_bytes_ = 0, hops_ = 0, finished_ = 0;
    std::uint64_t events_ = 0;
    std::vector<std::int64_t> step_end_;
    DelayHistogram delay_;
};

}  // namespace tradewind::sim
