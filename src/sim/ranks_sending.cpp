// Sending: the messages of a stage, and how the NICs of their ranks take them.
#include <algorithm>
#include <cmath>
#include <utility>

#include "machine/routing/packet.hpp"
#include "sim/clock.hpp"
#include "sim/ranks.hpp"

namespace tradewind::sim {

// Sends what a rank has to send before the window ends, stage after stage as they end.
void Ranks::run(std::size_t line) {
    int packets = 0;
    do {
        for (std::uint32_t c = 0; c < world_.nics_per_node; ++c) send(line, c, packets);
    } while (world_.receivers[line].sending == 0 && end_stage_if_done(line));
}

// `peer`: of the message that it has begun, + 1; 0: to be asked of the schedule.
void Ranks::run_sender(std::uint32_t sender, std::uint32_t peer) {
    const std::uint32_t nics = world_.nics_per_node, line = nics == 1 ? sender : sender / nics;
    int packets = 0;
    if (!send(line, sender - line * nics, packets, peer)) return;
    if (world_.receivers[line].sending == 0 && end_stage_if_done(line)) run(line);
}

// Returns false when it has put the rest aside for a later time; counts the packets that it has sent.
bool Ranks::send(std::size_t line, std::uint32_t nic, int& packets, std::uint32_t peer) {
    const Rank r = world_.rank_of(line);
    Sender& sender = world_.senders[line * world_.nics_per_node + nic];
    if (sender.message == Sender::all_sent) return true;
    if (peer != 0 && sender.left > 0) {
        if (!inject(r, sender, static_cast<Rank>(peer - 1), nic, packets)) return false;
        ++sender.message;
    }
    const bool has_begun = begun_stage_.is(r, sender.stage);  // just now, or goes on
    const auto at = has_begun ? begun_stage_.at() : world_.program.at(sender.stage);
    const auto count = static_cast<std::uint32_t>(has_begun ? begun_stage_.sends() : at.sends(r));
    for (; sender.message < count; ++sender.message) {
        const auto j = static_cast<int>(sender.message);
        const schedule::Message message = has_begun ? begun_stage_.send(j) : at.schedule->send(r, at.stage, j);
        if (world_.nic_of_message(r, message.peer) != nic) {
            // Another NIC sends it.
            sender.post = world_.posted_at(r, sender.post, at, j, message);
            continue;
        }
        if (sender.left == 0) {
            if (must_wait_to_copy(r, sender, at, message, nic)) return false;
            if (!send_message(r, sender, at, message, nic)) continue;
        }
        if (!inject(r, sender, message.peer, nic, packets)) return false;
    }
    sender.message = Sender::all_sent;
    Receiver& receiver = world_.receivers[line];
    receiver.departed = std::max(receiver.departed, sender.departed);
    --receiver.sending;
    return true;
}

// Begins a message. Returns whether its packets are to be injected now.
bool Ranks::send_message(Rank r, Sender& sender, const program::Program::Stage& at, const schedule::Message& message,
                         std::uint32_t nic) {
    if (message.count == 0) return false;
    const std::int64_t bytes = message.count * at.bytes_per_point;
    sender.post = world_.posted_at(r, sender.post, at, static_cast<int>(sender.message), message);
    ++counts_.messages;
    counts_.sent += bytes;
    if (world_.shared_nodes && world_.node(r) == world_.node(message.peer)) {
        world_.message_cost ? carry(sender, r, message.peer, bytes) : copy(sender, r, message.peer, bytes);
        return false;
    }
    if (bytes <= world_.bypass) {
        send_past(sender, r, message.peer, bytes);
        return false;
    }
    if (world_.rendezvous(bytes)) {
        ++world_.handshakes[world_.line(r, sender.stage)].unacknowledged;
        send_control(request, r, message.peer, sender.stage, sender.message, static_cast<std::uint32_t>(r), nic,
                     sender.post);
        return false;
    }
    sender.left = bytes;
    return true;
}

// The copies of a node's ranks share its memory in the order in which they begin, so one that begins later is an action
// of its own.
bool Ranks::must_wait_to_copy(Rank r, const Sender& sender, const program::Program::Stage& at,
                              const schedule::Message& message, std::uint32_t nic) {
    if (!world_.shared_nodes || message.count == 0 || world_.node(r) != world_.node(message.peer)) return false;
    const std::int64_t start =
        std::max(sender.departed, world_.posted_at(r, sender.post, at, static_cast<int>(sender.message), message));
    if (start <= time_) return false;
    enqueue(start, sender_id(r, sender.stage, nic), emit, 0, 0);
    return true;
}

// Between ranks of one node: no faster than one copy can be, nor than the node's memory serves all of its copies.
void Ranks::copy(Sender& sender, Rank from, Rank to, std::int64_t bytes) {
    const auto copied = [&](std::int64_t begin, double byte_time) {
        return after(begin, std::ceil(static_cast<double>(bytes) * byte_time), "a copy within a node ends at");
    };
    std::int64_t& memory = world_.memory[world_.node(from)];
    const std::int64_t start = std::max(sender.departed, sender.post);
    memory = copied(std::max(memory, start), world_.memory_byte_time);
    sender.departed = std::max(copied(start, world_.copy_byte_time), memory);
    if (recorder_) {
        recorder_->copy(from, to, sender.stage, bytes, start, sender.departed);
        recorder_->arrive(to, sender.stage, from, bytes, sender.departed);
    }
    enqueue(sender.departed, static_cast<std::uint32_t>(to), arrive, sender.stage, static_cast<std::uint32_t>(bytes),
            static_cast<std::uint32_t>(bytes >> 32));
}

// Between ranks of one node, by a transport that has been measured: its time is the CPUs', and was spent when the
// message was posted, but for the latency.
void Ranks::carry(Sender& sender, Rank from, Rank to, std::int64_t bytes) {
    const std::int64_t start = std::max(sender.departed, sender.post), end = start + world_.message_cost->latency();
    sender.departed = start;
    if (recorder_) {
        recorder_->copy(from, to, sender.stage, bytes, start, end);
        recorder_->arrive(to, sender.stage, from, bytes, end);
    }
    enqueue(end, static_cast<std::uint32_t>(to), arrive, sender.stage, static_cast<std::uint32_t>(bytes),
            static_cast<std::uint32_t>(bytes >> 32));
}

// Past the network, after what its rank has sent before: the latencies of a shortest path and the time of the narrowest
// link, whatever other ranks do. On an unloaded network ranks that share a NIC wait for it, and long messages are
// announced, asked for and acknowledged.
void Ranks::send_past(Sender& sender, Rank from, Rank to, std::int64_t bytes) {
    const Network& net = world_.network;
    const machine::Topology& topology = *world_.machine.topology;
    const std::uint32_t here = topology.switch_of(world_.terminal(world_.node(from), 0)),
                        there = topology.switch_of(world_.terminal(world_.node(to), 0));
    const machine::Topology::Distance distance =
        world_.unloaded ? topology.distance(here, there) : world_.machine.bypass_distance(here, there);
    const auto size = static_cast<std::uint32_t>(bytes);
    std::uint32_t slowest = net.slower(Network::injection, Network::ejection);
    if (distance.local > 0) slowest = net.slower(slowest, Network::local);
    if (distance.global > 0) slowest = net.slower(slowest, Network::global);
    const std::int64_t start = std::max(sender.departed, sender.post);
    const std::int64_t sending = net.rates[Network::injection].duration(size);
    sender.departed = start + sending;
    const std::uint32_t nic = world_.nic_of_message(from, to);
    if (world_.unloaded && world_.arbitrates) {
        // A message of others that is posted later may leave sooner: the NIC is busy for its bytes alone.
        std::int64_t& busy = world_.nics[world_.terminal(world_.node(from), nic)].busy;
        busy = std::max(busy, time_) + sending;
        sender.departed = std::max(sender.departed, busy);
    }
    if (recorder_) {
        recorder_->sending(from, sender.stage, nic, false, bytes, start);
        recorder_->sent(from, sender.stage, nic, false, to, sender.departed);
    }
    const std::int64_t latency = net.rates[Network::injection].latency + net.rates[Network::ejection].latency +
                                 distance.local * net.rates[Network::local].latency +
                                 distance.global * net.rates[Network::global].latency;
    const bool asks = world_.rendezvous(bytes);
    const std::int64_t time = sender.departed - sending + (asks ? 3 : 1) * latency + net.rates[slowest].duration(size);
    if (asks) {
        Receiver& receiver = world_.receivers[world_.line(from, sender.stage)];
        receiver.departed = std::max(receiver.departed, time + latency);
    }
    Event& event = outbox_.push(net.owner(there), time);
    event = {time,
             net.where(there, 0),
             static_cast<std::uint32_t>(to),
             size | Event::aside << Event::kind_shift,
             sender.stage,
             past,
             world_.origins.carried() ? world_.origins.code(from) : 0};
}

bool Ranks::inject(Rank r, Sender& sender, Rank peer, std::uint32_t nic_index, int& packets) {
    const std::uint32_t terminal = world_.terminal(world_.node(r), nic_index);
    Nic& nic = world_.nics[terminal];
    if (recorder_)
        recorder_->sending(r, sender.stage, nic_index, false, sender.left, std::max({nic.busy, sender.post, time_}));
    const std::uint32_t id = sender_id(r, sender.stage, nic_index);
    Event packet{0,
                 where_of(terminal),
                 static_cast<std::uint32_t>(peer) | nic_index << Event::rank_bits,
                 0,
                 Event::stage_word(sender.stage, Network::injection, 0),
                 0,
                 world_.origins.carried() ? world_.origins.code(r) : 0};
    const auto draw_way = [&](std::int64_t left) {
        packet.memory = machine::memory::fresh |
                        draw(static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(peer), sender.stage, left);
    };
    draw_way(sender.left);
    // Until all of it is sent, these are kept in variables: they might be what is written to an event.
    const Rate rate = world_.network.rates[Network::injection];
    const std::int64_t whole = world_.packet, earliest = std::max(sender.post, time_), end = outbox_.end();
    const bool arbitrates = world_.arbitrates, finite = world_.finite, spreads = world_.spreads;
    std::int64_t left = sender.left, busy = nic.busy, sent = 0;
    while (left > 0) {
        // The CPU may have to post it, and may do copies before, when the window has long begun.
        const std::int64_t start = arbitrates ? earliest : std::max(busy, earliest);
        // One that has a NIC for itself knows when its next packets will leave, and sends a few ahead: an action costs
        // as much as a hop.
        if (arbitrates ? start > time_ : packets + sent >= packets_ahead && start >= end) {
            enqueue(start, id, emit, 0, 0, static_cast<std::uint32_t>(peer) + 1);
            break;
        }
        if (arbitrates) {
            nic.busy = busy;
            if (!arbitrate(terminal, id)) break;
        }
        const auto bytes = static_cast<std::uint32_t>(std::min(left, whole));
        if (finite && !take_credit(terminal, bytes, id, static_cast<std::uint32_t>(peer) + 1)) break;
        if (spreads) draw_way(left);
        left -= bytes;
        ++sent;
        busy = start + rate.duration(bytes);
        Event& event = outbox_.push(id_, start + rate.latency);
        event.time = start + rate.latency;
        event.where = packet.where;
        event.to = packet.to;
        event.size = bytes | (left == 0 ? Event::last_bit : 0);
        event.stage = packet.stage;
        event.memory = packet.memory;
        event.delay = packet.delay;
    }
    if (sent > 0) {
        nic.busy = busy;
        nic.bytes += static_cast<std::uint64_t>(sender.left - left);
        counts_.hops += sent;
        packets += static_cast<int>(sent);
        sender.left = left;
        sender.departed = std::max(sender.departed, busy);  // a copy may take longer
    }
    if (left > 0) return false;
    if (recorder_) recorder_->sent(r, sender.stage, nic_index, false, peer, nic.busy);
    return true;
}

// ---------------------------------------------------------------------------------------------------------------- NICs

// Senders that share a NIC take turns, a packet at a time, in the order in which they ask for it; who has it goes
// behind all who ask meanwhile. Whether it is this one's turn, at this time; if not it stands in line.
bool Ranks::arbitrate(std::uint32_t terminal, std::uint32_t sender) {
    const std::int64_t free = world_.nics[terminal].busy;
    Line& line = lines_[terminal];
    if (std::exchange(granted_, false) || (line.empty() && free <= time_)) {
        line.user = sender;
        return true;
    }
    if (line.empty()) enqueue(free, terminal, arbitration, 0, 0);
    if (sender == line.user && free > time_)
        line.again = true;
    else
        queue_up(line.others, sender);
    return false;
}

void Ranks::grant(std::uint32_t terminal) {
    Line& line = lines_[terminal];
    if (std::exchange(line.again, false)) queue_up(line.others, line.user);
    const std::uint32_t id = line.others.pop(waiters_), sender = waiters_[id].sender;
    waiters_.give(id);
    const bool others = !line.empty();
    granted_ = true;
    if (sender == jobs_wait)
        serve_jobs(terminal);
    else
        run_sender(sender);
    if (others) enqueue(std::max(world_.nics[terminal].busy, time_), terminal, arbitration, 0, 0);
}

void Ranks::queue_up(Queue& queue, std::uint32_t sender) {
    const std::uint32_t id = waiters_.take();
    waiters_[id].sender = sender;
    queue.push(waiters_, id);
}

// The input port of a NIC's switch that it sends to.
inline std::uint32_t Ranks::where_of(std::uint32_t terminal) const {
    return world_.network.where(world_.by_switch.quotient(terminal),
                                world_.first_terminal + world_.by_switch.remainder(terminal));
}

void Ranks::emit_packet(std::uint32_t terminal, std::int64_t start, const Event& packet) {
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
    event.where = where_of(terminal);
    event.to = packet.to;
    event.size = packet.size;
    event.stage = packet.stage;
    event.memory = packet.memory;
    event.delay = packet.delay;
}

inline bool Ranks::take_credit(std::uint32_t terminal, std::uint32_t bytes, std::uint32_t sender, std::uint32_t peer) {
    Credits& credits = credits_[terminal];
    if (credits.credit >= bytes) {
        credits.credit -= bytes;
        return true;
    }
    wait_for_credit(credits, sender, peer);
    return false;
}

// Behind the others; one that was resumed, and must wait again, before them.
void Ranks::wait_for_credit(Credits& credits, std::uint32_t sender, std::uint32_t peer) {
    if (credits.first == no_sender) {
        credits.first = sender;
        credits.peer = peer;
        return;
    }
    if (!resuming_) {
        queue_up(credits.others, sender);
        return;
    }
    const std::uint32_t id = waiters_.take();
    waiters_[id].sender = std::exchange(credits.first, sender);
    credits.peer = peer;
    credits.others.push_front(waiters_, id);
}

// Those who wait go on in their order, until the room is taken again. One may have to wait for its time as well: then
// it goes on by an action of its own, takes room, and the credit of that room wakes the next.
void Ranks::return_credit(std::uint32_t terminal, std::uint32_t bytes) {
    Credits& credits = credits_[terminal];
    credits.credit += bytes;
    if (credits.first == no_sender) return;
    world_.nics[terminal].busy = std::max(world_.nics[terminal].busy, time_);
    while (credits.first != no_sender) {
        const std::uint32_t sender = credits.first, peer = std::exchange(credits.peer, 0);
        credits.first = no_sender;
        if (!credits.others.empty()) {
            const std::uint32_t id = credits.others.pop(waiters_);
            credits.first = waiters_[id].sender;
            waiters_.give(id);
        }
        resuming_ = true;
        if (sender == jobs_wait)
            serve_jobs(terminal);
        else
            run_sender(sender, peer);
        resuming_ = false;
        if (credits.first == sender) return;
    }
}

inline std::uint32_t Ranks::draw(std::uint32_t from, std::uint32_t to, std::uint32_t stage, std::int64_t left) const {
    std::uint64_t random = mix(world_.seed ^ (static_cast<std::uint64_t>(from) << 32 | to));
    if (world_.spreads)
        random = mix(random ^ (static_cast<std::uint64_t>(stage) << 40) ^ static_cast<std::uint64_t>(left));
    return static_cast<std::uint32_t>(random >> 34);
}

void Ranks::add_job(std::uint32_t terminal, const Job& job) {
    const std::uint32_t id = jobs_.take();
    jobs_[id] = job;
    Queue& queue = job_queues_[terminal];
    const bool idle = queue.empty();
    queue.push(jobs_, id);
    if (idle) enqueue(std::max(job.post, time_), terminal, serve, 0, 0);
}

// Sends a packet of a job, which leaves at `start`.
void Ranks::send_packet(std::uint32_t terminal, Job& job, std::uint32_t bytes, std::int64_t start) {
    const std::uint32_t random = draw(job.from, job.to & Event::rank_mask, job.message, job.left);
    job.left -= bytes;
    Event packet{0, 0, job.to, 0, Event::stage_word(job.stage, Network::injection, 0), machine::memory::fresh | random,
                 0};
    if (job.is_control) {
        packet.size = job.size | Event::control << Event::kind_shift;
        packet.delay = job.payload;
    } else {
        packet.size = bytes | Event::pulled << Event::kind_shift | (job.left == 0 ? Event::last_bit : 0);
        packet.delay = world_.origins.carried() ? world_.origins.code(static_cast<Rank>(job.from)) : 0;
        if (recorder_)
            recorder_->sending(static_cast<Rank>(job.from), job.payload, job.to >> Event::rank_bits, true,
                               job.left + bytes, start);
    }
    emit_packet(terminal, start, packet);
    if (recorder_ && !job.is_control && job.left == 0)
        recorder_->sent(static_cast<Rank>(job.from), job.payload, job.to >> Event::rank_bits, true,
                        static_cast<Rank>(job.to & Event::rank_mask), world_.nics[terminal].busy);
    if (replay_ && !job.is_control && job.left == 0)
        replay_->end_departure(static_cast<Rank>(job.from), job.payload, world_.nics[terminal].busy);
}

// All packets of a job, by a NIC that no one else has, once it has sent what was posted before.
void Ranks::send_ahead(std::uint32_t terminal, Job job) {
    while (job.left > 0)
        send_packet(terminal, job, static_cast<std::uint32_t>(std::min(job.left, world_.packet)),
                    std::max(world_.nics[terminal].busy, time_));
}

// A packet of the first job.
void Ranks::serve_jobs(std::uint32_t terminal) {
    const auto found = job_queues_.find(terminal);
    if (found == job_queues_.end()) return;
    const std::uint32_t id = found->second.first;
    Job& job = jobs_[id];
    if (job.post > time_) {
        enqueue(job.post, terminal, serve, 0, 0);
        return;
    }
    if (!arbitrate(terminal, jobs_wait)) return;
    const auto bytes = static_cast<std::uint32_t>(job.is_control ? job.left : std::min(job.left, world_.packet));
    if (world_.finite && !take_credit(terminal, bytes, jobs_wait)) return;
    send_packet(terminal, job, bytes, time_);
    if (job.takes_turns && job.left > 0) {  // the next packet is another one's, if there is one
        found->second.pop(jobs_);
        found->second.push(jobs_, id);
    }
    if (job.left == 0) {
        found->second.pop(jobs_);
        jobs_.give(id);
        if (found->second.empty()) {
            job_queues_.erase(found);
            return;
        }
    }
    enqueue(time_, terminal, serve, 0, 0);
}

}  // namespace tradewind::sim
