// The state of ranks and NICs, for comparison with another time.
#include "sim/ranks.hpp"
#include "sim/state.hpp"

namespace tradewind::sim {

StateWriter::Pulled Ranks::pulled(std::uint32_t record) const {
    const Pull& pull = pulls_[record];
    return {pull.source, pull.stage, pull.message, pull.left, pull.time};
}

void Ranks::settle() {
    early_.settle();
}

void Ranks::write(StateWriter& out) const {
    const World& world = world_;
    for (Rank r = 0; r < world.program.ranks(); ++r) {
        if (world.network.owner(world.by_switch.quotient(world.terminal(world.node(r), 0))) != id_) continue;
        for (std::uint32_t l = 0; l < world.lines; ++l)
            write_line(out, r, static_cast<std::size_t>(r) * world.lines + l);
        // Where exchanges are brought on late, CPUs go on from the time at which these could have been.
        const bool looks_back = world.message_cost && world.program.order();
        for (const LazyArray<std::int64_t>* const clocks : {&world.cpus, &world.helpers})
            if (!clocks->empty()) out.put(looks_back ? out.time((*clocks)[r]) : out.busy((*clocks)[r]));
        if (world.walkers.empty()) continue;
        const Walker& walker = world.walkers[r];
        std::uint64_t held = 0;
        for (std::uint32_t id = walker.first; id > 0; id = held_[id - 1].next) ++held;
        out.put(out.operation(r, walker.operation), held << 8 | walker.waits);
        for (std::uint32_t id = walker.first; id > 0; id = held_[id - 1].next) {
            Event event = held_[id - 1].event;
            event.time = 0;  // when it came no longer counts
            const auto words = out.action(event);
            for (std::size_t i = 1; i < words.size(); ++i) out.put(words[i]);
        }
    }
    world.network.for_wired_of(id_, [&](std::uint32_t port) {
        if (world.network.port(port).kind == static_cast<std::uint8_t>(machine::LinkKind::terminal))
            write_nic(out, world.terminal_at(port));
    });
    for (const auto& [terminal, queue] : job_queues_) write_jobs(out, terminal, queue);
    early_.for_each([&](Rank rank, std::uint32_t stage, std::uint32_t packets, std::int64_t time) {
        out.put({of_early, static_cast<std::uint64_t>(rank), out.stage(rank, stage), packets, out.busy(time), 0, 0, 0});
    });
    unexpected_.for_each([&](Rank rank, std::uint32_t stage, std::uint32_t bytes, std::int64_t time) {
        out.put({of_unexpected, static_cast<std::uint64_t>(rank), out.stage(rank, stage), bytes, out.before(time), 0, 0,
                 0});
    });
}

void Ranks::write_line(StateWriter& out, Rank r, std::size_t line) const {
    const Receiver& receiver = world_.receivers[line];
    out.put(out.stage(r, receiver.stage), receiver.early << 5 | receiver.sending);
    // When a stage ends is not known before all of it has come and gone: what happened in the past no longer counts.
    out.put(out.busy(receiver.departed));
    for (std::uint32_t i = 0; i < Receiver::ring; ++i) {
        const std::uint32_t slot = (receiver.stage + i) % Receiver::ring;
        out.put(out.busy(receiver.time[slot]));
        out.put(receiver.missing[slot]);
    }
    // The rest of a sender is set anew when the next stage begins.
    const bool sends = world_.line_states.empty() || world_.line_states[line].what == LineState::under_way;
    for (std::uint32_t c = 0; sends && c < world_.nics_per_node; ++c) {
        const Sender& sender = world_.senders[line * world_.nics_per_node + c];
        out.put(sender.message);
        if (sender.message == Sender::all_sent) continue;
        out.put(out.stage(r, sender.stage));
        out.put(out.time(sender.post));
        out.put(out.time(sender.departed));
        out.put(static_cast<std::uint64_t>(sender.left));
    }
    if (!world_.line_states.empty()) {
        const LineState& state = world_.line_states[line];
        out.put(state.what);
        if (state.what != LineState::closed) {
            const program::Instance& instance = world_.program.order()->instance(state.instance);
            out.put(instance.exchange, out.stage(r, instance.first));
        }
        if (state.what == LineState::over && world_.message_cost) out.put(out.time(state.time));
    }
    if (!world_.handshakes.empty()) {
        const Handshake& handshake = world_.handshakes[line];
        std::uint32_t requests = 0;
        for (std::uint32_t id = handshake.requests; id != Pool<Request>::none; id = requests_[id].next) ++requests;
        out.put(handshake.unacknowledged, requests);
        for (std::uint32_t id = handshake.requests; id != Pool<Request>::none; id = requests_[id].next) {
            const Request& request = requests_[id];
            out.put(request.source, out.stage(r, request.stage));
            out.put(request.message);
        }
    }
    if (!world_.posted.empty()) {
        const std::uint32_t posted = world_.posted[line];  // 0: nothing on this line so far
        out.put(posted == 0 ? ~std::uint64_t{0} : out.stage(r, posted));
    }
}

void Ranks::write_nic(StateWriter& out, std::uint32_t terminal) const {
    const auto put = [&](const Queue& queue) {
        std::uint64_t waiters = 0;
        for (std::uint32_t id = queue.first; id != Pool<Waiter>::none; id = waiters_[id].next) ++waiters;
        out.put(waiters);
        for (std::uint32_t id = queue.first; id != Pool<Waiter>::none; id = waiters_[id].next)
            out.put(waiters_[id].sender);
    };
    out.put(out.busy(world_.nics[terminal].busy));
    if (!world_.memory.empty() && terminal % world_.nics_per_node == 0)
        out.put(out.busy(world_.memory[terminal / world_.nics_per_node]));
    if (!credits_.empty()) {
        out.put(credits_[terminal].credit, credits_[terminal].first);
        put(credits_[terminal].others);
    }
    if (!lines_.empty()) {
        out.put(lines_[terminal].user, lines_[terminal].again);
        put(lines_[terminal].others);
    }
}

void Ranks::write_jobs(StateWriter& out, std::uint32_t terminal, const Queue& queue) const {
    std::uint64_t place = 0;
    for (std::uint32_t id = queue.first; id != Pool<Job>::none; id = jobs_[id].next, ++place) {
        const Job& job = jobs_[id];
        const auto from = static_cast<Rank>(job.from);
        State::Record record{of_job << 56 | place << 32 | terminal,
                             out.busy(job.post),
                             static_cast<std::uint64_t>(job.left),
                             std::uint64_t{job.from} << 32 | job.to,
                             std::uint64_t{job.size} << 32,
                             std::uint64_t{job.message} << 1 | job.is_control,
                             0,
                             0};
        if (job.is_control) {
            record[4] |= out.stage(from, job.stage);
            if ((job.size >> control_shift & 3) != pull)
                record[6] = job.payload;  // which record, follows from the rest
        } else {
            const StateWriter::Pulled pull = out.pulled(static_cast<Rank>(job.to & Event::rank_mask), job.stage);
            record[4] |= out.stage(from, job.payload);
            record[6] = static_cast<std::uint64_t>(pull.left);
            record[7] = out.busy(pull.time);
        }
        out.put(record);
    }
}

void Ranks::tally(Tally& count) {
    count(counts_.messages);
    count(counts_.sent);
    count(counts_.arrived);
    count(counts_.hops);
    count(counts_.unexpected);
    world_.network.for_wired_of(id_, [&](std::uint32_t index) {
        Port& port = world_.network.port(index);
        count(port.bytes);
        if (port.kind == static_cast<std::uint8_t>(machine::LinkKind::terminal))
            count(world_.nics[world_.terminal_at(index)].bytes);
    });
}

}  // namespace tradewind::sim
