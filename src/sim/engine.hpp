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
          ranks(static_cast<std::size_t>(program.ranks())),
          by_switch(machine.topology->nodes_per_switch()),
          by_radix(network.radix()),
          first_terminal(machine.topology->first_terminal()),
          packet(options.packet.value == 0 ? SimulationOptions::largest_packet : options.packet.value),
          send_overhead(machine.send_overhead.value),
          receive_overhead(machine.receive_overhead.value),
          memory_byte_time(1e12 / machine.memory_bandwidth.value),
          seed(mix(options.seed)) {
        // A key has 64 bits: time in the window, input port, and at least 24 for the packets of one window.
        while ((std::int64_t{2} << shift) <= network.look_ahead() && shift + network.port_bits() < 40) ++shift;
    }

    const Program& program;
    const Placement& placement;
    Network network;
    Routing routing;
    std::vector<RankState> ranks;  // [rank]
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
            begin_stage(r, world_.ranks[r], 0);
            if (ordered())
                act_later(0, r, emit, 0, 0);
            else
                run(r);
        }
        drain_now();
    }

    void process(std::int64_t window, std::vector<std::unique_ptr<Part>>& parts) {
        enter(window);
        const std::size_t count = collect(parts);
        const int index_bits = 64 - world_.shift - net_.port_bits();
        radix_sort(keys_, other_keys_, count, index_bits, world_.shift + net_.port_bits());
        apply(count);
        act();
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

    // First pass: copies the window's packets, finds their output ports and makes their keys.
    std::size_t collect(std::vector<std::unique_ptr<Part>>& parts) {
        std::size_t count = 0;
        const int port_bits = net_.port_bits(), index_bits = 64 - world_.shift - port_bits;
        const bool identity = world_.placement.identity();
        for (auto& part : parts)
            pool_.drain(part->outbox_[id_]->take(window_), [&](const Event& arrived) {
                if (count == packets_.size()) [[unlikely]]
                    grow();
                Event& event = packets_[count] = arrived;
                keys_[count] =
                    (static_cast<std::uint64_t>(event.time - window_start_) << port_bits | net_.port_of(event.where))
                        << index_bits |
                    count;
                route(event, identity ? event.rank : world_.placement.node(static_cast<Rank>(event.rank)));
                ++count;
            });
        return count;
    }

    // Replaces where a packet arrives by the index of the port it leaves through; what an adaptive routing must decide
    // in order of time is left with its bit set and the index of the switch's port 0.
    void route(Event& event, std::uint32_t node) {
        const std::uint32_t sw = net_.switch_of(event.where), dst_sw = world_.by_switch.quotient(node);
        std::uint32_t port = 0;
        if (sw == dst_sw) {
            port = world_.first_terminal + world_.by_switch.remainder(node);
            event.memory = at_destination;
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

    void prefetch_rank(std::uint32_t rank) const {
        const auto* state = reinterpret_cast<const char*>(&world_.ranks[rank]);
        __builtin_prefetch(state, 1);
        __builtin_prefetch(state + sizeof(RankState) - 1, 1);
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

    // Second pass: packets take their ports in order.
    void apply(std::size_t count) {
        constexpr std::size_t ahead = 8;
        const std::uint64_t mask = (std::uint64_t{1} << (64 - world_.shift - net_.port_bits())) - 1;
        for (std::size_t i = 0; i < count; ++i) {
            if (i + 2 * ahead < count) __builtin_prefetch(&packets_[keys_[i + 2 * ahead] & mask]);
            if (i + ahead < count) {
                const Event& soon = packets_[keys_[i + ahead] & mask];
                __builtin_prefetch(&net_.ports[soon.where], 1);
                // Either what it needs besides, or once more the same: a branch would be a guess.
                const void* other = &net_.ports[soon.where];
                if (soon.memory == at_destination) other = &world_.ranks[soon.rank];
                __builtin_prefetch(other, 1);
                __builtin_prefetch(static_cast<const char*>(other) + sizeof(RankState) - 1, 1);
            }
            pass(packets_[keys_[i] & mask]);
        }
        events_ += count;
        hops_ += static_cast<std::int64_t>(count);
    }

    void pass(Event& event) {
        if constexpr (Routing::adaptive)
            if (event.size & Event::undecided_bit) decide(event);
        Port& port = net_.ports[event.where];
        const Rate rate = net_.rates[port.rate];
        const std::uint32_t bytes = event.bytes();
        const std::int64_t start = std::max(event.time, port.busy);
        port.busy = start + rate.duration(bytes);
        port.bytes += bytes;
        ++port.packets;
        event.delay += static_cast<float>(start - event.time);
        const std::uint32_t slowest = net_.slower(event.rate(), port.rate);
        if (port.kind == static_cast<std::uint8_t>(LinkKind::terminal)) {
            deliver(event, start + rate.latency + net_.rates[slowest].duration(bytes));
            return;
        }
        event.set_rate(slowest);
        event.time = start + rate.latency;
        event.where = port.peer;
        outbox_[port.owner]->push(event, event.time >> world_.shift, window_, pool_);
    }

    // A packet whose tail reaches its rank at `time`, in a later window.
    void deliver(const Event& event, std::int64_t time) {
        delay_.add(event.delay);
        const auto r = static_cast<Rank>(event.rank);
        if (event.last() && world_.receive_overhead > 0)
            act_later(time, r, arrive, event.stage, event.bytes());
        else
            receive(r, event.stage, event.bytes(), time);
    }

    // The last packet of a message: the CPU deals with it when it has come and what came before is done.
    void receive_last(Rank r, std::uint32_t stage, std::int64_t bytes, std::int64_t time) {
        RankState& rank = world_.ranks[r];
        rank.cpu = std::max(rank.cpu, time) + world_.receive_overhead;
        receive(r, stage, bytes, rank.cpu);
    }

    void receive(Rank r, std::uint32_t stage, std::int64_t bytes, std::int64_t time) {
        arrived_bytes_ += bytes;
        RankState& rank = world_.ranks[r];
        Arrival& arrival =
            stage - rank.stage < RankState::ring ? rank.arrivals[stage % RankState::ring] : early_[early_key(r, stage)];
        arrival.bytes += bytes;
        arrival.time = std::max(arrival.time, time);
        if (stage == rank.stage && rank.message == RankState::all_sent && arrival.bytes == rank.expected)
            act_later(std::max(rank.departed, arrival.time), r, advance, 0, 0);
    }

    static std::uint64_t early_key(Rank r, std::uint32_t stage) { return static_cast<std::uint64_t>(r) << 32 | stage; }

    // Third: the ranks.
    void act() {
        const Chunks list = actions_.take(window_);
        std::uint32_t count = list.count;
        for (const Chunk* chunk = list.first; chunk; chunk = chunk->next, count = pool_.capacity())
            for (std::uint32_t i = 0; i < count; ++i) prefetch_rank(chunk->events()[i].rank);
        pool_.drain(list, [&](const Event& event) {
            ++events_;
            if (ordered())
                push_now(event);
            else
                act(event);
        });
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
        if (event.where == advance && !end_stage(r, world_.ranks[r], event.time)) return;
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

    void begin_stage(Rank r, RankState& rank, std::int64_t time) {
        const auto at = world_.program.at(rank.stage);
        Index expected = 0;
        for (int j = 0, n = at.schedule->receives(r, at.stage); j < n; ++j)
            expected += at.schedule->receive(r, at.stage, j).count;
        rank.expected = expected * world_.program.bytes_per_point();
        rank.post = rank.departed = rank.cpu = std::max(rank.cpu, time);
        rank.message = 0;
        rank.left = 0;
        // The CPU posts all sends of the stage before it turns to what arrives.
        if (world_.send_overhead > 0)
            for (int j = 0, n = at.schedule->sends(r, at.stage); j < n; ++j)
                if (at.schedule->send(r, at.stage, j).count > 0) rank.cpu += world_.send_overhead;
    }

    // Returns false when that was the rank's last stage.
    bool end_stage(Rank r, RankState& rank, std::int64_t time) {
        if (std::uint32_t step; world_.program.ends_step(rank.stage, step))
            step_end_[step] = std::max(step_end_[step], time);
        rank.arrival() = {};
        if (!early_.empty())
            if (const auto it = early_.find(early_key(r, rank.stage + RankState::ring)); it != early_.end()) {
                rank.arrival() = it->second;
                early_.erase(it);
            }
        if (++rank.stage == world_.program.stages()) {
            ++finished_;
            return false;
        }
        begin_stage(r, rank, time);
        return true;
    }

    // Sends what a rank has to send before the window ends, stage after stage as they end.
    void run(Rank r) {
        RankState& rank = world_.ranks[r];
        for (int packets = 0;;) {
            if (rank.message != RankState::all_sent && !send(r, rank, packets)) return;
            const Arrival& arrival = rank.arrival();
            if (arrival.bytes != rank.expected) return;  // the last arrival will go on from here
            const std::int64_t time = std::max(rank.departed, arrival.time);
            if (time >= window_end_ || (ordered() && time > time_)) {
                act_later(time, r, advance, 0, 0);
                return;
            }
            if (!end_stage(r, rank, time)) return;
        }
    }

    // Returns false when it has put the rest aside for a later time; counts the packets that it has sent.
    bool send(Rank r, RankState& rank, int& packets) {
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
        rank.message = RankState::all_sent;
        return true;
    }

    // A message between ranks of one node: a copy at the node's memory bandwidth.
    void copy(RankState& rank, Rank peer) {
        const auto duration =
            static_cast<std::int64_t>(std::ceil(static_cast<double>(rank.left) * world_.memory_byte_time));
        rank.departed = std::max(rank.departed, rank.post) + duration;
        act_later(rank.departed, peer, arrive, rank.stage, rank.left);
        rank.left = 0;
    }

    bool inject(Rank r, RankState& rank, Rank peer, std::uint32_t node, int& packets) {
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
            Event event{start + rate.latency,
                        where,
                        static_cast<std::uint32_t>(peer),
                        static_cast<std::uint32_t>(bytes),
                        rank.stage,
                        memory::fresh | random,
                        0};
            if (rank.left == 0) event.size |= Event::last_bit;
            event.set_rate(Network::injection);
            outbox_[id_]->push(event, event.time >> world_.shift, window_, pool_);
        }
        return true;
    }

    std::uint32_t draw(Rank r, Rank peer, const RankState& rank) const {
        std::uint64_t random =
            mix(world_.seed ^ (static_cast<std::uint64_t>(r) << 32 | static_cast<std::uint32_t>(peer)));
        if constexpr (Routing::spreads)
            random =
                mix(random ^ (static_cast<std::uint64_t>(rank.stage) << 40) ^ static_cast<std::uint64_t>(rank.left));
        return static_cast<std::uint32_t>(random >> 34);
    }

    void grow() {
        const std::size_t size = std::max<std::size_t>(1024, packets_.size() * 3 / 2);
        if (size >> (64 - world_.shift - net_.port_bits()) != 0)
            throw std::runtime_error("more packets in one window than can be numbered: name a larger packet");
        packets_.resize(size);
        keys_.resize(size);
        other_keys_.resize(size);
    }

    World<Routing>& world_;
    Network& net_;
    int id_;
    ChunkPool pool_;
    std::vector<std::unique_ptr<Wheel>> outbox_;  // [part]: packets that will arrive at its switches
    Wheel actions_;                               // of its own ranks
    std::vector<Event> now_;                      // heap: actions within the current window
    std::vector<Event> packets_;
    std::vector<std::uint64_t> keys_, other_keys_;
    std::unordered_map<std::uint64_t, Arrival> early_;  // beyond RankState::ring stages ahead
    std::int64_t window_ = 0, window_start_ = 0, window_end_ = 0;
    std::int64_t time_ = 0;  // of the action in hand

    std::int64_t messages_ = 0, sent_bytes_ = 0, arrived_bytes_ = 0, hops_ = 0, finished_ = 0;
    std::uint64_t events_ = 0;
    std::vector<std::int64_t> step_end_;
    DelayHistogram delay_;
};

}  // namespace tradewind::sim
