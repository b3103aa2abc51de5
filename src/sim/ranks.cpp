#include "sim/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "machine/routing/packet.hpp"
#include "sim/sort.hpp"

namespace tradewind::sim {

namespace {

std::uint64_t early_key(Rank r, std::uint32_t stage) {
    return static_cast<std::uint64_t>(r) << 32 | stage;
}

}  // namespace

Ranks::Ranks(World& world, Outbox& outbox, std::uint32_t id) : world_(world), outbox_(outbox), id_(id) {
    counts_.step_end.resize(world.program.steps().size(), 0);
    if (world.finite) rooms_ = LazyArray<Room>(world.nics.size());
}

void Ranks::start() {
    for (Rank r = 0; r < world_.program.ranks(); ++r) {
        const std::uint32_t terminal = world_.terminal(world_.node(r), 0);
        if (world_.network.owner(world_.by_switch.quotient(terminal)) != id_) continue;
        if (world_.finite)
            for (std::uint32_t c = 0; c < world_.nics_a_node; ++c)
                rooms_[terminal + c] = {static_cast<std::uint32_t>(world_.machine.buffer.value), nobody, {}};
        if (!world_.handshakes.empty()) world_.handshakes[static_cast<std::size_t>(r)] = {};
        if (world_.program.stages() == 0) {  // a single rank has nobody to talk to
            ++counts_.finished;
            continue;
        }
        begin_stage(r, 0);
        // Ranks of one node begin together; the others need not pass through the actions of one window.
        if (world_.shared_nodes)
            for (std::uint32_t c = 0; c < world_.nics_a_node; ++c)
                act_later(0, static_cast<std::uint32_t>(r) * world_.nics_a_node + c, emit, 0, 0);
        else
            run(r);
    }
    act();
}

void Ranks::take() {
    actions_.clear();
    const bool identity = world_.placement.identity() && world_.nics_a_node == 1;
    outbox_.take_actions([&](const Event& event) {
        // Of a rank with one NIC; what is fetched for another action is of no use, and does no harm.
        if (identity && event.to < world_.receivers.size()) {
            __builtin_prefetch(&world_.senders[event.to], 1);
            __builtin_prefetch(&world_.receivers[event.to], 1);
            __builtin_prefetch(&world_.nics[event.to], 1);
            if (world_.finite) __builtin_prefetch(&rooms_[event.to], 1);
        }
        actions_.push_back(event);
    });
}

void Ranks::act() {
    counts_.actions += actions_.size();
    if (world_.ordered)
        act_in_order();
    else
        for (const Event& event : actions_) act(event);
    actions_.clear();
    while (outbox_.has_now()) act(outbox_.pop_now());
}

// Short keys are sorted, not the actions themselves: by time, and by who acts where a key has room for it. Those with
// equal keys are then put in order.
void Ranks::act_in_order() {
    int index_bits = 64 - outbox_.shift(), who_bits = 0;
    if (index_bits > Event::rank_bits && actions_.size() >> (index_bits - Event::rank_bits) == 0)
        index_bits -= who_bits = Event::rank_bits;
    const std::uint64_t index = (std::uint64_t{1} << index_bits) - 1;
    if (keys_.size() < actions_.size()) {
        keys_.resize(actions_.size() * 3 / 2);
        other_keys_.resize(keys_.size());
    }
    for (std::size_t i = 0; i < actions_.size(); ++i) {
        const std::uint64_t who = who_bits == 0 ? 0 : actions_[i].to & Event::rank_mask;
        keys_[i] = (static_cast<std::uint64_t>(actions_[i].time - outbox_.start()) << who_bits | who) << index_bits | i;
    }
    radix_sort(keys_, other_keys_, actions_.size(), index_bits, outbox_.shift() + who_bits);
    const auto action = [&](std::uint64_t key) -> const Event& { return actions_[key & index]; };
    for (std::size_t i = 0, end = 0; i < actions_.size(); ++i) {
        if (i == end) {
            while (end < actions_.size() && keys_[end] >> index_bits == keys_[i] >> index_bits) ++end;
            if (end - i > 1)
                std::sort(&keys_[i], &keys_[i] + (end - i),
                          [&](std::uint64_t a, std::uint64_t b) { return Outbox::later(action(b), action(a)); });
        }
        const Event& event = action(keys_[i]);
        while (outbox_.has_now() && Outbox::later(event, outbox_.first_now())) act(outbox_.pop_now());
        act(event);
    }
}

void Ranks::act(const Event& event) {
    time_ = event.time;
    const auto r = static_cast<Rank>(event.to);
    switch (event.where) {
        case emit: run_sender(event.to); return;
        case advance:
            if (end_stage(r, event.time)) run(r);
            return;
        case arrive:
            receive(r, event.stage,
                    static_cast<std::int64_t>(static_cast<std::uint64_t>(event.memory) << 32 | event.size),
                    attend(r, event.time));
            return;
        case sim::room: give_room(event.to, event.size); return;
        case serve: serve_jobs(event.to); return;
        case asked: answer_request(r, event.memory, event.stage, event.size, event.time); return;
        case told_to_send: send_pulled(r, event.stage, event.size, event.memory); return;
        case acknowledged: {
            Receiver& rank = world_.receivers[r];
            rank.departed = std::max(rank.departed, event.time);
            --world_.handshakes[r].unacknowledged;
            if (all_sent(r, rank) && end_stage_if_done(r)) run(r);
            return;
        }
        case acknowledge_pull: {
            const Pull& pull = pulls_[event.memory];
            send_control(acknowledge, r, static_cast<Rank>(pull.source), pull.stage, 0, 0,
                         world_.nic_of_message(static_cast<Rank>(pull.source), r), event.time);
            pulls_.give(event.memory);
            return;
        }
    }
}

// ------------------------------------------------------------------------------------------------------- what arrives

void Ranks::receive_early(Receiver& rank, Rank r, std::uint32_t stage, std::int64_t time) {
    Early& early = early_[early_key(r, stage)];
    ++early.packets;
    ++rank.early;
    early.time = std::max(early.time, time);
}

void Ranks::deliver_other(const Event& event, std::int64_t time) {
    const std::uint32_t r = event.rank(), stage = event.program_stage();
    if (event.kind() == Event::pulled) {
        take_pulled(event, time);
    } else if (event.kind() == Event::data) {
        act_later(time, r, arrive, stage, event.bytes());
    } else {
        constexpr RankEvent done[] = {asked, told_to_send, acknowledged};
        const std::uint32_t payload = event.bytes();
        act_later(time, r, done[payload >> control_shift], stage, payload & control_mask, event.delay);
    }
}

void Ranks::come_past(const Event& event) {
    act_later(event.time, event.rank(), arrive, event.program_stage(), event.bytes());
}

void Ranks::take_pulled(const Event& event, std::int64_t time) {
    const std::uint32_t record = event.program_stage();
    Pull& pull = pulls_[record];
    pull.left -= event.bytes();
    pull.time = std::max(pull.time, time);
    receive(static_cast<Rank>(event.rank()), pull.stage, event.bytes(), time);
    if (pull.left == 0) act_later(pull.time, event.rank(), acknowledge_pull, 0, 0, record);
}

std::int64_t Ranks::attend(Rank r, std::int64_t time) {
    if (world_.receive_overhead == 0) return time;
    return world_.cpus[r] = std::max(world_.cpus[r], time) + world_.receive_overhead;
}

// ------------------------------------------------------------------------------------------------------------- stages

void Ranks::begin_stage(Rank r, std::int64_t time) {
    Receiver& receiver = world_.receivers[r];
    const auto at = world_.program.at(receiver.stage);
    std::uint32_t expected = 0;
    for (int j = 0, n = at.receives(r); j < n; ++j) expected += world_.packets(r, at.schedule->receive(r, at.stage, j));
    receiver.missing[receiver.stage % Receiver::ring] += expected;
    if (!world_.cpus.empty()) time = std::max(world_.cpus[r], time);
    receiver.departed = time;
    receiver.sending = world_.nics_a_node;
    for (std::uint32_t c = 0; c < world_.nics_a_node; ++c)
        world_.senders[static_cast<std::size_t>(r) * world_.nics_a_node + c] = {time, time, 0, receiver.stage, 0};
    if (!world_.cpus.empty()) {
        // The CPU posts all sends of the stage before it turns to what arrives, or computes.
        std::int64_t& cpu = world_.cpus[r] = time;
        if (world_.send_overhead > 0)
            for (int j = 0, n = at.sends(r); j < n; ++j)
                if (at.schedule->send(r, at.stage, j).count > 0) cpu += world_.send_overhead;
        if (at.stage == 0)
            cpu += world_.program.steps()[at.step].compute.time(world_.machine, world_.placement, r).value;
    }
    if (world_.handshakes.empty()) return;
    // Requests that came too early are answered now; the others stay.
    std::uint32_t& list = world_.handshakes[r].requests;
    std::uint32_t id = std::exchange(list, Pool<Request>::none);
    while (id != Pool<Request>::none) {
        const Request request = requests_[id];
        if (request.stage == receiver.stage) {
            requests_.give(id);
            answer_request(r, request.source, request.stage, request.message, time);
        } else {
            requests_[id].next = std::exchange(list, id);
        }
        id = request.next;
    }
}

bool Ranks::end_stage_if_done(Rank r) {
    const Receiver& receiver = world_.receivers[r];
    const std::uint32_t slot = receiver.stage % Receiver::ring;
    if (receiver.missing[slot] != 0 || !all_sent(r, receiver)) return false;  // what comes last will go on from here
    const std::int64_t time = std::max(receiver.departed, receiver.time[slot]);
    if (time >= outbox_.end() || (world_.ordered && time > time_)) {
        act_later(time, static_cast<std::uint32_t>(r), advance, 0, 0);
        return false;
    }
    return end_stage(r, time);
}

// Returns false when that was the rank's last stage.
bool Ranks::end_stage(Rank r, std::int64_t time) {
    Receiver& receiver = world_.receivers[r];
    if (std::uint32_t step; world_.program.ends_step(receiver.stage, step)) {
        std::int64_t& end = counts_.step_end[step];
        end = std::max(end, world_.cpus.empty() ? time : std::max(time, world_.cpus[r]));
    }
    const std::uint32_t slot = receiver.stage % Receiver::ring;
    receiver.time[slot] = 0;
    if (receiver.early > 0)
        if (const auto it = early_.find(early_key(r, receiver.stage + Receiver::ring)); it != early_.end()) {
            receiver.time[slot] = it->second.time;
            receiver.missing[slot] -= it->second.packets;
            receiver.early -= it->second.packets;
            early_.erase(it);
        }
    if (++receiver.stage == world_.program.stages()) {
        ++counts_.finished;
        return false;
    }
    begin_stage(r, time);
    return true;
}

// -------------------------------------------------------------------------------------------------------- what is sent

// Sends what a rank has to send before the window ends, stage after stage as they end.
void Ranks::run(Rank r) {
    int packets = 0;
    do {
        for (std::uint32_t c = 0; c < world_.nics_a_node; ++c) send(r, c, packets);
    } while (world_.receivers[r].sending == 0 && end_stage_if_done(r));
}

void Ranks::run_sender(std::uint32_t sender) {
    const std::uint32_t nics = world_.nics_a_node, r = nics == 1 ? sender : sender / nics;
    int packets = 0;
    if (!send(static_cast<Rank>(r), sender - r * nics, packets)) return;
    if (world_.receivers[r].sending == 0 && end_stage_if_done(static_cast<Rank>(r))) run(static_cast<Rank>(r));
}

// Returns false when it has put the rest aside for a later time; counts the packets that it has sent.
bool Ranks::send(Rank r, std::uint32_t nic, int& packets) {
    Sender& sender = world_.senders[static_cast<std::size_t>(r) * world_.nics_a_node + nic];
    if (sender.message == Sender::all_sent) return true;
    const auto at = world_.program.at(sender.stage);
    const auto count = static_cast<std::uint32_t>(at.sends(r));
    for (; sender.message < count; ++sender.message) {
        const Message message = at.schedule->send(r, at.stage, static_cast<int>(sender.message));
        if (world_.nic_of_message(r, message.peer) != nic) {
            if (message.count > 0) sender.post += world_.send_overhead;  // the CPU posts it, another NIC sends it
            continue;
        }
        if (sender.left == 0) {
            if (must_wait_to_copy(r, sender, message, nic)) return false;
            if (!send_message(r, sender, message, nic)) continue;
        }
        if (!inject(r, sender, message.peer, nic, packets)) return false;
    }
    sender.message = Sender::all_sent;
    Receiver& receiver = world_.receivers[r];
    receiver.departed = std::max(receiver.departed, sender.departed);
    --receiver.sending;
    return true;
}

// Begins a message. Returns whether its packets are to be injected now.
bool Ranks::send_message(Rank r, Sender& sender, const Message& message, std::uint32_t nic) {
    if (message.count == 0) return false;
    const std::int64_t bytes = message.count * world_.program.bytes_per_point();
    sender.post += world_.send_overhead;
    ++counts_.messages;
    counts_.sent += bytes;
    if (world_.shared_nodes && world_.node(r) == world_.node(message.peer)) {
        copy(sender, r, message.peer, bytes);
        return false;
    }
    if (bytes <= world_.bypass) {
        send_past(sender, r, message.peer, bytes);
        return false;
    }
    if (world_.rendezvous(bytes)) {
        ++world_.handshakes[r].unacknowledged;
        send_control(request, r, message.peer, sender.stage, sender.message, static_cast<std::uint32_t>(r), nic,
                     sender.post);
        return false;
    }
    sender.left = bytes;
    return true;
}

// The copies of a node's ranks share its memory in the order in which they begin, so one that begins later is an action
// of its own.
bool Ranks::must_wait_to_copy(Rank r, const Sender& sender, const Message& message, std::uint32_t nic) {
    if (!world_.shared_nodes || message.count == 0 || world_.node(r) != world_.node(message.peer)) return false;
    const std::int64_t start = std::max(sender.departed, sender.post + world_.send_overhead);
    if (start <= time_) return false;
    act_later(start, static_cast<std::uint32_t>(r) * world_.nics_a_node + nic, emit, 0, 0);
    return true;
}

// Between ranks of one node: no faster than one copy can be, nor than the node's memory serves all of its copies.
void Ranks::copy(Sender& sender, Rank from, Rank to, std::int64_t bytes) {
    const auto time = [&](double byte_time) {
        return static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) * byte_time));
    };
    std::int64_t& memory = world_.memory[world_.node(from)];
    const std::int64_t start = std::max(sender.departed, sender.post);
    memory = std::max(memory, start) + time(world_.memory_byte_time);
    sender.departed = std::max(start + time(world_.copy_byte_time), memory);
    act_later(sender.departed, static_cast<std::uint32_t>(to), arrive, sender.stage, static_cast<std::uint32_t>(bytes),
              static_cast<std::uint32_t>(bytes >> 32));
}

// Past the network: after the latencies of a shortest path and the time of the narrowest link, whatever else goes on.
void Ranks::send_past(Sender& sender, Rank from, Rank to, std::int64_t bytes) {
    const Network& net = world_.network;
    const Topology& topology = *world_.machine.topology;
    const std::uint32_t here = topology.switch_of(world_.terminal(world_.node(from), 0)),
                        there = topology.switch_of(world_.terminal(world_.node(to), 0));
    const Topology::Distance distance = topology.distance(here, there);
    const auto size = static_cast<std::uint32_t>(bytes);
    std::uint32_t slowest = net.slower(Network::injection, Network::ejection);
    if (distance.local > 0) slowest = net.slower(slowest, Network::local);
    if (distance.global > 0) slowest = net.slower(slowest, Network::global);
    const std::int64_t start = std::max(sender.departed, sender.post);
    sender.departed = start + net.rates[Network::injection].duration(size);
    const std::int64_t time = start + net.rates[Network::injection].latency + net.rates[Network::ejection].latency +
                              distance.local * net.rates[Network::local].latency +
                              distance.global * net.rates[Network::global].latency + net.rates[slowest].duration(size);
    Event& event = outbox_.push(net.owner(there), time);
    event = {time,
             net.where(there, 0),
             static_cast<std::uint32_t>(to),
             size | Event::aside << Event::kind_shift,
             sender.stage,
             1,
             0};
}

bool Ranks::inject(Rank r, Sender& sender, Rank peer, std::uint32_t nic_index, int& packets) {
    const std::uint32_t terminal = world_.terminal(world_.node(r), nic_index);
    Nic& nic = world_.nics[terminal];
    for (; sender.left > 0; ++packets) {
        const std::int64_t start = std::max({nic.busy, sender.post, time_});  // copies before it took the CPU's time
        // Senders that share a NIC take turns, a packet at a time. One that has it for itself knows when its next
        // packets will leave, and sends a few ahead: an action costs as much as a hop.
        const bool turn_over =
            world_.turns ? packets >= 1 || start >= outbox_.end() : packets >= packets_ahead && start >= outbox_.end();
        const std::uint32_t id = static_cast<std::uint32_t>(r) * world_.nics_a_node + nic_index;
        if (turn_over) {
            act_later(start, id, emit, 0, 0);
            return false;
        }
        const auto bytes = static_cast<std::uint32_t>(std::min(sender.left, world_.packet));
        if (world_.finite && !take_room(terminal, bytes, id)) return false;
        const std::uint32_t random =
            draw(static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(peer), sender.stage, sender.left);
        sender.left -= bytes;
        emit_packet(
            terminal, start,
            {0, 0, static_cast<std::uint32_t>(peer) | nic_index << Event::rank_bits,
             bytes | (sender.left == 0 ? Event::last_bit : 0), Event::stage_word(sender.stage, Network::injection, 0),
             memory::fresh | random, world_.blocks > 0 ? world_.block_of(r) : 0});
        sender.departed = std::max(sender.departed, nic.busy);  // a copy may take longer
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------------------- NICs

inline void Ranks::emit_packet(std::uint32_t terminal, std::int64_t start, const Event& packet) {
    const Network& net = world_.network;
    const Rate rate = net.rates[Network::injection];
    const std::uint32_t bytes = packet.kind() == Event::control ? world_.header : packet.bytes();
    Nic& nic = world_.nics[terminal];
    nic.busy = start + rate.duration(bytes);
    nic.bytes += bytes;
    ++counts_.hops;
    const std::int64_t time = start + rate.latency;
    Event& event = outbox_.push(id_, time);
    event.time = time;
    event.where =
        net.where(world_.by_switch.quotient(terminal), world_.first_terminal + world_.by_switch.remainder(terminal));
    event.to = packet.to;
    event.size = packet.size;
    event.stage = packet.stage;
    event.memory = packet.memory;
    event.delay = packet.delay;
}

bool Ranks::take_room(std::uint32_t terminal, std::uint32_t bytes, std::uint32_t sender) {
    Room& room = rooms_[terminal];
    if (room.credit >= bytes) {
        room.credit -= bytes;
        return true;
    }
    wait_for_room(room, sender);
    return false;
}

// Behind the others; one that was resumed, and must wait again, before them.
void Ranks::wait_for_room(Room& room, std::uint32_t sender) {
    if (room.first == nobody) {
        room.first = sender;
        return;
    }
    const std::uint32_t id = waiters_.take();
    waiters_[id].sender = resuming_ ? std::exchange(room.first, sender) : sender;
    if (resuming_)
        room.others.push_front(waiters_, id);
    else
        room.others.push(waiters_, id);
}

// Those who wait go on in their order, until the room is taken again. One may have to wait for its time as well: then
// it goes on by an action of its own, takes room, and the news of that room wakes the next.
void Ranks::give_room(std::uint32_t terminal, std::uint32_t bytes) {
    Room& room = rooms_[terminal];
    room.credit += bytes;
    if (room.first == nobody) return;
    world_.nics[terminal].busy = std::max(world_.nics[terminal].busy, time_);
    while (room.first != nobody) {
        const std::uint32_t sender = room.first;
        room.first = nobody;
        if (!room.others.empty()) {
            const std::uint32_t id = room.others.pop(waiters_);
            room.first = waiters_[id].sender;
            waiters_.give(id);
        }
        resuming_ = true;
        if (sender == jobs_wait)
            serve_jobs(terminal);
        else
            run_sender(sender);
        resuming_ = false;
        if (room.first == sender) return;
    }
}

std::uint32_t Ranks::draw(std::uint32_t from, std::uint32_t to, std::uint32_t stage, std::int64_t left) const {
    std::uint64_t random = mix(world_.seed ^ (static_cast<std::uint64_t>(from) << 32 | to));
    if (world_.spreads)
        random = mix(random ^ (static_cast<std::uint64_t>(stage) << 40) ^ static_cast<std::uint64_t>(left));
    return static_cast<std::uint32_t>(random >> 34);
}

// ---------------------------------------------------------------------------------------------------------- rendezvous

void Ranks::send_control(ControlKind kind, Rank from, Rank to, std::uint32_t stage, std::uint32_t message,
                         std::uint32_t payload, std::uint32_t nic, std::int64_t time) {
    if (message > control_mask) throw std::runtime_error("more messages in a stage than a rendezvous can number");
    add_job(world_.terminal(world_.node(from), nic),
            {time, world_.header, static_cast<std::uint32_t>(from),
             static_cast<std::uint32_t>(to) | nic << Event::rank_bits, kind << control_shift | message, stage, payload,
             message, 0, true});
}

void Ranks::add_job(std::uint32_t terminal, const Job& job) {
    const std::uint32_t id = jobs_.take();
    jobs_[id] = job;
    Queue& queue = job_queues_[terminal];
    const bool idle = queue.empty();
    queue.push(jobs_, id);
    if (idle) act_later(std::max(job.post, time_), terminal, serve, 0, 0);
}

// A packet of the first job, then the NIC's other senders have their turn.
void Ranks::serve_jobs(std::uint32_t terminal) {
    const auto found = job_queues_.find(terminal);
    if (found == job_queues_.end()) return;
    const std::uint32_t id = found->second.first;
    Job& job = jobs_[id];
    const std::int64_t start = std::max({world_.nics[terminal].busy, job.post, time_});
    if (start >= outbox_.end()) {
        act_later(start, terminal, serve, 0, 0);
        return;
    }
    const auto bytes = static_cast<std::uint32_t>(job.is_control ? job.left : std::min(job.left, world_.packet));
    if (world_.finite && !take_room(terminal, bytes, jobs_wait)) return;
    const std::uint32_t random = draw(job.from, job.to & Event::rank_mask, job.message, job.left);
    job.left -= bytes;
    Event packet{0, 0, job.to, 0, Event::stage_word(job.stage, Network::injection, 0), memory::fresh | random, 0};
    if (job.is_control) {
        packet.size = job.size | Event::control << Event::kind_shift;
        packet.delay = job.payload;
    } else {
        packet.size = bytes | Event::pulled << Event::kind_shift | (job.left == 0 ? Event::last_bit : 0);
        packet.delay = world_.blocks > 0 ? world_.block_of(static_cast<Rank>(job.from)) : 0;
    }
    emit_packet(terminal, start, packet);
    if (job.left == 0) {
        found->second.pop(jobs_);
        jobs_.give(id);
        if (found->second.empty()) {
            job_queues_.erase(found);
            return;
        }
    }
    act_later(world_.nics[terminal].busy, terminal, serve, 0, 0);
}

// A request is answered once its stage has begun: then the message has where to go.
void Ranks::answer_request(Rank r, std::uint32_t source, std::uint32_t stage, std::uint32_t message,
                           std::int64_t time) {
    const Receiver& receiver = world_.receivers[r];
    if (stage != receiver.stage) {
        const std::uint32_t id = requests_.take();
        requests_[id] = {source, stage, message, std::exchange(world_.handshakes[r].requests, id)};
        return;
    }
    const std::uint32_t record = pulls_.take();
    if (record > Event::stage_mask) throw std::runtime_error("more messages asked for at a time than can be numbered");
    const auto at = world_.program.at(stage);
    const Message sent = at.schedule->send(static_cast<Rank>(source), at.stage, static_cast<int>(message));
    pulls_[record] = {sent.count * world_.program.bytes_per_point(), 0, source, stage, message, 0};
    send_control(pull, r, static_cast<Rank>(source), stage, message, record,
                 world_.nic_of_message(static_cast<Rank>(source), r), attend(r, time));
}

void Ranks::send_pulled(Rank r, std::uint32_t stage, std::uint32_t message, std::uint32_t record) {
    const auto at = world_.program.at(stage);
    const Message sent = at.schedule->send(r, at.stage, static_cast<int>(message));
    const std::uint32_t nic = world_.nic_of_message(r, sent.peer);
    add_job(world_.terminal(world_.node(r), nic),
            {time_, sent.count * world_.program.bytes_per_point(), static_cast<std::uint32_t>(r),
             static_cast<std::uint32_t>(sent.peer) | nic << Event::rank_bits, 0, record, 0, message, 0, false});
}

}  // namespace tradewind::sim
