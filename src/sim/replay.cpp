#include "sim/replay.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/prefetch.hpp"
#include "sim/ranks.hpp"

namespace tradewind::sim {

Replay::Replay(const World& world, Ranks& ranks, const program::Calls& calls)
    : world_(world),
      ranks_(ranks),
      calls_(calls),
      foresees_(!calls.has_synchronous() && !world.rendezvous(std::max<std::int64_t>(1, calls.largest_message())) &&
                world.unexpected_byte_time <= 0),
      sends_ahead_(foresees_ && !world.finite && !world.shared_nodes &&
                   calls.largest_message() <= packets_ahead * world.packet),
      times_(*world.replay_times),
      states_(static_cast<std::size_t>(calls.ranks())) {}

void Replay::start(Rank r) {
    State& rank = state(r);
    times_.begin(r);
    rank.spent.assign(calls_.labels().size(), 0);
    rank.incoming.reserve(calls_.receives(r));
    rank.departing.resize(world_.nics_per_node);
    std::uint32_t request = 0;
    for (const program::Call& call : calls_.of(r)) {
        if (call.kind == program::Call::receive) rank.incoming.push_back({call.size(), request});
        request += call.kind == program::Call::send || call.kind == program::Call::receive;
    }
    ranks_.enqueue(0, static_cast<std::uint32_t>(r), resume, 0, 0);
}

void Replay::go_on(Rank r) {
    State& rank = state(r);
    const std::vector<program::Call>& calls = calls_.of(r);
    rank.cpu = std::max(rank.cpu, ranks_.time_);
    // Between two visits of a rank come those of all others, so that what it needs next is in no cache.
    const auto prefetch_ahead = [&] {
        constexpr std::size_t ahead = 16;
        if (rank.next + ahead >= calls.size()) return;
        const auto at = static_cast<std::size_t>(r);
        const program::Call& soon = calls[rank.next + ahead / 2];
        prefetch_line(&calls[rank.next + ahead]);
        prefetch_line(&times_.call_end[at][rank.next + ahead]);
        if (soon.kind == program::Call::receive) {
            prefetch_line(&rank.incoming[soon.message]);
            prefetch_line(&times_.messages[at][soon.message]);
        } else if (soon.kind == program::Call::wait) {
            prefetch_line(&times_.ended[at][soon.peer]);
        }
    };
    while (rank.next < calls.size()) {
        prefetch_ahead();
        const program::Call& call = calls[rank.next];
        if (rank.cpu > ranks_.time_ && waits_its_turn(call)) {  // others act before
            ranks_.enqueue(rank.cpu, static_cast<std::uint32_t>(r), resume, 0, 0);
            return;
        }
        if (!std::exchange(rank.begun, true)) {
            rank.begin = rank.cpu;
            if (call.kind == program::Call::compute) {
                rank.cpu = world_.done(r, rank.cpu, call.amount);
                continue;
            }
            if (call.kind == program::Call::send && world_.send_overhead > 0) {
                rank.cpu = world_.done(r, rank.cpu, world_.send_overhead);
                continue;
            }
        }
        if (!carry_out(r, rank, call)) return;
        rank.spent[call.label] += rank.cpu - rank.begin;
        rank.begun = false;
        times_.call_end[static_cast<std::size_t>(r)][rank.next++] = rank.cpu;
    }
    ++ranks_.counts_.finished;
    std::int64_t& end = ranks_.counts_.step_end.front();
    end = std::max(end, rank.cpu);
    for (const std::uint32_t message : std::exchange(rank.announced, {})) ask_for(r, message, true);
}

bool Replay::carry_out(Rank r, State& rank, const program::Call& call) {
    if (call.kind == program::Call::compute) return true;
    // Messages that were announced meanwhile are asked for in the next call.
    for (const std::uint32_t message : std::exchange(rank.announced, {})) ask_for(r, message, true);
    switch (call.kind) {
        case program::Call::send: send(r, call, rank.requests++); return true;
        case program::Call::receive: return post(r, rank, call);
        default: return wait(r, rank, call);
    }
}

void Replay::send(Rank r, const program::Call& call, std::uint32_t request) {
    const auto to = static_cast<Rank>(call.peer);
    const std::int64_t bytes = call.size();
    ++ranks_.counts_.messages;
    ranks_.counts_.sent += bytes;
    if (world_.node(r) == world_.node(to)) {
        copy(r, call, request);
    } else if (is_announced(call)) {
        ranks_.send_control(sim::request, r, to, call.message, 0, request, world_.nic_of_message(r, to), ranks_.time_);
    } else {
        depart(r, request);
    }
}

// Between ranks of one node, as Ranks::copy: no faster than one copy can be, nor than the memory serves all of them.
void Replay::copy(Rank r, const program::Call& call, std::uint32_t request) {
    const auto to = static_cast<Rank>(call.peer);
    const auto size = static_cast<double>(call.size());
    const auto copied = [&](std::int64_t begin, double byte_time) {
        return after(begin, std::ceil(size * byte_time), "a copy within a node ends at");
    };
    std::int64_t finished = copied(ranks_.time_, world_.copy_byte_time);
    if (world_.shared_nodes) {
        std::int64_t& memory = ranks_.world_.memory[world_.node(r)];
        memory = copied(std::max(memory, ranks_.time_), world_.memory_byte_time);
        finished = std::max(finished, memory);
    }
    if (ranks_.recorder_) ranks_.recorder_->copy(r, to, request, call.amount, ranks_.time_, finished);
    end(r, request, finished);
    ranks_.counts_.arrived += call.size();
    ranks_.enqueue(finished, call.peer, arrive, call.message, 0);
}

bool Replay::post(Rank r, State& rank, const program::Call& call) {
    Incoming& incoming = rank.incoming[call.message];
    incoming.posted = true;
    const std::uint32_t request = rank.requests++;
    if (incoming.left == 0) {  // it came before, into memory of the library
        const double copying = std::ceil(static_cast<double>(call.amount) * world_.unexpected_byte_time);
        if (copying > 0) {
            ranks_.counts_.unexpected += call.amount;
            const std::int64_t copied = after(rank.cpu, copying, "a rank computes until");
            rank.cpu = world_.done(r, rank.cpu, copied - rank.cpu);
        }
        end(r, request, std::max(rank.cpu, message_times(r, call.message).arrived));
    } else if (incoming.asker != none) {
        ask_for(r, call.message, true);
    }
    return true;
}

void Replay::take_request(Rank r, std::uint32_t message, std::uint32_t request) {
    State& rank = state(r);
    rank.incoming[message].asker = request;
    if (!rank.incoming[message].posted) return;
    const bool has_ended = rank.next == calls_.of(r).size();  // the library brings on what is left
    if (rank.waits != none || has_ended || world_.progress == Progress::thread)
        ask_for(r, message, false);
    else
        rank.announced.push_back(message);
}

void Replay::ask_for(Rank r, std::uint32_t message, bool in_call) {
    State& rank = state(r);
    Incoming& incoming = rank.incoming[message];
    if (!incoming.posted || incoming.asker == none) return;
    const auto from = static_cast<Rank>(calls_.request(r, incoming.request).peer);
    std::int64_t thread = ranks_.time_;  // beside the CPU
    std::int64_t& busy = !in_call && world_.progress == Progress::thread ? thread : rank.cpu;
    busy = std::max(busy, ranks_.time_);
    ReplayTimes::Message& times = message_times(r, message);
    times.asked = busy;
    if (in_call) times.asked_in = static_cast<std::uint32_t>(std::min(rank.next, calls_.of(r).size() - 1));
    if (world_.receive_overhead > 0) busy = world_.done(r, busy, world_.receive_overhead);
    incoming.acknowledges = true;
    ranks_.send_control(pull, r, from, message, 0, incoming.asker, world_.nic_of_message(from, r), busy);
}

void Replay::depart(Rank r, std::uint32_t request) {
    const program::Call& call = calls_.request(r, request);
    const std::uint32_t nic = world_.nic_of_message(r, static_cast<Rank>(call.peer));
    if (sends_ahead_) {
        hand_over(r, call, request, nic);
        return;
    }
    std::deque<std::uint32_t>& departing = state(r).departing[nic];
    departing.push_back(request);
    if (departing.size() == 1) send_first(r, nic);
}

// The messages of a rank leave one after another; those of ranks that share a NIC take turns.
void Replay::send_first(Rank r, std::uint32_t nic) {
    const std::uint32_t request = state(r).departing[nic].front();
    hand_over(r, calls_.request(r, request), request, nic);
}

void Replay::hand_over(Rank r, const program::Call& call, std::uint32_t request, std::uint32_t nic) {
    const std::uint32_t terminal = world_.terminal(world_.node(r), nic);
    const Ranks::Job job{ranks_.time_,
                         call.size(),
                         static_cast<std::uint32_t>(r),
                         call.peer | nic << Event::rank_bits,
                         0,
                         call.message,
                         request,
                         call.message,
                         0,
                         false,
                         !is_announced(call)};
    if (sends_ahead_)
        ranks_.send_ahead(terminal, job);
    else
        ranks_.add_job(terminal, job);
}

void Replay::end_departure(Rank r, std::uint32_t request, std::int64_t time) {
    if (sends_ahead_) {
        end(r, request, time);
        return;
    }
    const program::Call& call = calls_.request(r, request);
    const std::uint32_t nic = world_.nic_of_message(r, static_cast<Rank>(call.peer));
    state(r).departing[nic].pop_front();
    if (!state(r).departing[nic].empty()) send_first(r, nic);
    if (!is_announced(call)) end(r, request, time);
}

void Replay::take_packet(const Event& event, std::int64_t time) {
    const auto r = static_cast<Rank>(event.rank());
    Incoming& incoming = state(r).incoming[event.program_stage()];
    ranks_.counts_.arrived += event.bytes();
    incoming.left -= event.bytes();
    std::int64_t& arrived = message_times(r, event.program_stage()).arrived;
    arrived = std::max(arrived, time);
    if (incoming.left > 0) return;
    if (!foresees_)
        ranks_.enqueue(arrived, event.rank(), arrive, event.program_stage(), 0);
    else if (incoming.posted)
        end(r, incoming.request, arrived);
}

void Replay::end_message(Rank r, std::uint32_t message, std::int64_t time) {
    Incoming& incoming = state(r).incoming[message];
    incoming.left = 0;  // of a copy
    message_times(r, message).arrived = time;
    if (incoming.acknowledges) {
        const auto from = static_cast<Rank>(calls_.request(r, incoming.request).peer);
        ranks_.send_control(acknowledge, r, from, message, 0, incoming.asker, world_.nic_of_message(from, r), time);
    }
    if (incoming.posted) end(r, incoming.request, time);
}

void Replay::end(Rank r, std::uint32_t request, std::int64_t time) {
    State& rank = state(r);
    ended(r, request) = time;
    if (rank.waits != request) return;
    rank.waits = none;
    ranks_.enqueue(std::max(time, foresees_ ? rank.cpu : ranks_.time_), static_cast<std::uint32_t>(r), resume, 0, 0);
}

bool Replay::wait(Rank r, State& rank, const program::Call& call) {
    const std::int64_t end = ended(r, call.peer);
    if (end == open) {
        rank.waits = call.peer;
        return false;
    }
    rank.cpu = std::max(rank.cpu, end);
    if (world_.receive_overhead > 0 && calls_.request(r, call.peer).kind == program::Call::receive)
        rank.cpu = world_.done(r, rank.cpu, world_.receive_overhead);
    return true;
}

std::string Replay::stuck() const {
    for (std::size_t r = 0; r < states_.size(); ++r) {
        const State& rank = states_[r];
        if (rank.waits == none) continue;
        const program::Call& call = calls_.request(static_cast<Rank>(r), rank.waits);
        const bool sends = call.kind == program::Call::send;
        return "rank " + std::to_string(r) + " waits in " + calls_.labels()[call.label] + " (row " +
               std::to_string(call.row) + ") for rank " + std::to_string(call.peer) +
               (sends ? ", to which" : ", from which") + " " + std::to_string(call.amount) +
               " bytes go; `tradewind verify trace` finds whether a larger mpi.eager_limit helps";
    }
    return "";
}

void Replay::add_to(SimulationResult& result) const {
    const std::size_t labels = calls_.labels().size();
    result.spent.resize(states_.size() * labels);
    for (std::size_t r = 0; r < states_.size(); ++r)
        for (std::size_t label = 0; label < states_[r].spent.size(); ++label)
            result.spent[r * labels + label] += states_[r].spent[label];
}

}  // namespace tradewind::sim
