#include "sim/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/prefetch.hpp"
#include "sim/clock.hpp"
#include "sim/sort.hpp"

namespace tradewind::sim {

Ranks::Ranks(World& world, Outbox& outbox, std::uint32_t id)
    : world_(world),
      outbox_(outbox),
      id_(id),
      prefetches_(world.placement.identity() && world.nics_per_node == 1),
      independent_(world.finite && world.nics_per_node == 1 && !world.arbitrates && !world.program.order() &&
                   world.receive_overhead == 0 && !world.message_cost && world.unexpected_byte_time <= 0) {
    counts_.step_end.resize(world.program.steps().size(), 0);
    counts_.ended.resize(world.ending.questions(), 0);
    const bool huge = is_dense(world.nics.size() * sizeof(Credits), world.program.ranks());
    if (world.finite) credits_ = LazyArray<Credits>(world.nics.size(), huge);
    if (world.arbitrates) lines_ = LazyArray<Line>(world.nics.size(), huge);
    if (world.calls) replay_ = std::make_unique<Replay>(world, *this, *world.calls);
    if (!world.shown.empty()) recorder_ = std::make_unique<Recorder>(world.shown, world.lines, world.nics_per_node);
}

void Ranks::start() {
    for (Rank r = 0; r < world_.program.ranks(); ++r) {
        const std::uint32_t terminal = world_.terminal(world_.node(r), 0);
        if (world_.network.owner(world_.by_switch.quotient(terminal)) != id_) continue;
        for (std::uint32_t c = 0; c < world_.nics_per_node; ++c) {
            world_.wire_terminal(terminal + c);
            if (world_.finite)
                credits_[terminal + c] = {
                    static_cast<std::uint32_t>(world_.network.buffer_sizes().nic), no_sender, {}, 0, 0};
            if (world_.arbitrates) lines_[terminal + c] = {no_sender, false, {}};
        }
        if (!world_.handshakes.empty())
            for (std::uint32_t l = 0; l < world_.lines; ++l)
                world_.handshakes[static_cast<std::size_t>(r) * world_.lines + l] = {};
        if (replay_) {
            replay_->start(r);
            continue;
        }
        if (world_.program.order()) {
            start_walk(r);
            continue;
        }
        if (world_.program.stages() == 0) {  // a single rank has no messages
            finish(r);
            continue;
        }
        begin_stage(r, 0);
        // Ranks of one node begin together; the others need not pass through the actions of one window.
        if (world_.shared_nodes)
            for (std::uint32_t c = 0; c < world_.nics_per_node; ++c)
                enqueue(0, static_cast<std::uint32_t>(r) * world_.nics_per_node + c, emit, 0, 0);
        else
            run(static_cast<std::size_t>(r));
    }
    process();
}

// The ranks of few actions are fetched early, while packets are dealt with; those of many would not stay in the cache.
// What has come past the network before stands there already.
void Ranks::take() {
    outbox_.take_actions([&](const Event& event) {
        if (actions_.size() < early_actions) prefetch(event);
        actions_.push_back(event);
        ++counts_.actions;
    });
}

// Prefetches what an action of a rank with one NIC touches. For other actions this is of no use, and does no harm.
void Ranks::prefetch(const Event& event) const {
    if (!prefetches_ || event.to >= world_.receivers.size()) return;
    prefetch_line(&world_.senders[event.to]);
    prefetch_line(&world_.receivers[event.to]);
    prefetch_line(&world_.nics[event.to]);
    if (world_.finite) prefetch_line(&credits_[event.to]);
}

// A rank's state must be there already.
void Ranks::prefetch_early(const Event& event) const {
    if (event.where != advance) return;
    const Receiver& receiver = world_.receivers[world_.line(static_cast<Rank>(event.to), event.stage)];
    if (receiver.early > 0) early_.prefetch(static_cast<Rank>(event.to), receiver.stage + Receiver::ring);
}

void Ranks::process() {
    early_.settle();
    if (independent_ && !outbox_.has_now()) {
        process_by_node();
    } else if (world_.ordered && actions_.size() > 1) {
        process_in_order();
    } else if (world_.ordered) {
        for (const Event& event : actions_) process_in_turn(event);
    } else {
        const std::size_t count = actions_.size();
        for (std::size_t i = 0; i < count; ++i) {
            if (const std::size_t soon = i + actions_ahead; soon >= early_actions && soon < count)
                prefetch(actions_[soon]);
            if (i + states_ahead < count) prefetch_early(actions_[i + states_ahead]);
            process(actions_[i]);
        }
    }
    actions_.clear();
    while (outbox_.has_now()) process(outbox_.pop_now());
}

// Short keys are sorted, not the actions themselves: by time, and by whose they are where a key has room for it. Those
// with equal keys are then put in order.
void Ranks::process_in_order() {
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
        if (actions_.size() > early_actions && i + actions_ahead < actions_.size())
            prefetch(action(keys_[i + actions_ahead]));
        if (i + states_ahead < actions_.size()) prefetch_early(action(keys_[i + states_ahead]));
        process_in_turn(action(keys_[i]));
    }
}

// An action, after those that were added to this window and come before it.
void Ranks::process_in_turn(const Event& event) {
    while (outbox_.has_now() && Outbox::later(event, outbox_.first_now())) process(outbox_.pop_now());
    process(event);
}

// Where no node has an effect on another within a window, only the actions of each one are put in order. Most nodes
// have one action in a window.
void Ranks::process_by_node() {
    const auto count = static_cast<std::uint32_t>(actions_.size());
    const auto node_of = [this](const Event& event) {
        return event.where == sim::credit || world_.placement.identity() ? event.to
                                                                         : world_.node(static_cast<Rank>(event.to));
    };
    following_.resize(std::max<std::size_t>(following_.size(), count));
    for (std::uint32_t i = 0; i < count; ++i) {
        if (i + actions_ahead < count) prefetch_line(&credits_[node_of(actions_[i + actions_ahead])]);
        following_[i] = std::exchange(credits_[node_of(actions_[i])].actions, i + 1);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        if (count > early_actions && i + actions_ahead < count) prefetch(actions_[i + actions_ahead]);
        if (i + states_ahead < count) prefetch_early(actions_[i + states_ahead]);
        std::uint32_t at = std::exchange(credits_[node_of(actions_[i])].actions, 0);
        if (at == 0) continue;  // processed with the first one of its node
        if (following_[at - 1] == 0) {
            process(actions_[at - 1]);
        } else {
            of_node_.clear();
            for (; at != 0; at = following_[at - 1]) of_node_.push_back(at - 1);
            std::sort(of_node_.begin(), of_node_.end(),
                      [this](std::uint32_t a, std::uint32_t b) { return Outbox::later(actions_[b], actions_[a]); });
            for (const std::uint32_t each : of_node_) process_in_turn(actions_[each]);
        }
        while (outbox_.has_now()) process(outbox_.pop_now());
    }
}

void Ranks::process(const Event& event) {
    time_ = event.time;
    const auto r = static_cast<Rank>(event.to);
    if (replay_ && process_replayed(event)) return;
    switch (event.where) {
        case emit: run_sender(event.to, event.memory); return;
        case advance:
            if (world_.program.order()) {
                stage_over(world_.line(r, event.stage), event.time);
                return;
            }
            if (end_stage(static_cast<std::size_t>(r), event.time)) run(static_cast<std::size_t>(r));
            return;
        case post:
            if (world_.program.order()) {
                post_stage(world_.line(r, event.stage));
                return;
            }
            begin_stage(static_cast<std::size_t>(r), event.time);
            run(static_cast<std::size_t>(r));
            return;
        case resume: walk(r); return;
        case arrive:
            if (world_.receive_overhead > 0 && held(r, event)) return;
            receive(r, event.stage,
                    static_cast<std::int64_t>(static_cast<std::uint64_t>(event.memory) << 32 | event.size),
                    attend(r, event.stage, event.time));
            return;
        case sim::credit: return_credit(event.to, event.size); return;
        case serve: serve_jobs(event.to); return;
        case arbitration: grant(event.to); return;
        case asked:
            if (held(r, event)) return;
            reply_to_request(r, event.memory, event.stage, event.size, event.time);
            return;
        case clear_to_send: send_pulled(r, event.stage, event.size, event.memory); return;
        case acknowledged: {
            const std::size_t line = world_.line(r, event.stage);
            Receiver& rank = world_.receivers[line];
            rank.departed = std::max(rank.departed, event.time);
            --world_.handshakes[line].unacknowledged;
            if (all_sent(line, rank) && end_stage_if_done(line)) run(line);
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

// Whether it is an action of a rank, and not of a NIC.
bool Ranks::process_replayed(const Event& event) {
    const auto r = static_cast<Rank>(event.to);
    switch (event.where) {
        case resume: replay_->go_on(r); return true;
        case arrive: replay_->end_message(r, event.stage, event.time); return true;
        case asked: replay_->take_request(r, event.stage, event.memory); return true;
        case clear_to_send: replay_->depart(r, event.memory); return true;
        case acknowledged: replay_->end(r, event.memory, event.time); return true;
        default: return false;
    }
}

// ------------------------------------------------------------------------------------------------------- what arrives

void Ranks::deliver_other(const Event& event, std::int64_t time) {
    const std::uint32_t r = event.rank(), stage = event.program_stage();
    if (event.kind() == Event::pulled) {
        replay_ ? replay_->take_packet(event, time) : take_pulled(event, time);
    } else if (event.kind() == Event::data) {
        enqueue(time, r, arrive, stage, event.bytes());
    } else {
        constexpr RankEvent done[] = {asked, clear_to_send, acknowledged};
        const std::uint32_t payload = event.bytes();
        enqueue(time, r, done[payload >> control_shift], stage, payload & control_mask, event.delay);
    }
}

void Ranks::record_arrival(const Event& event, std::int64_t time) {
    if (!recorder_ || replay_) return;  // a replay has the times of its messages
    const auto r = static_cast<Rank>(event.rank());
    if (event.kind() == Event::pulled) {
        const Pull& pull = pulls_[event.program_stage()];
        recorder_->arrive(r, pull.stage, static_cast<Rank>(pull.source), event.bytes(), time);
    } else {
        recorder_->arrive(r, event.program_stage(), world_.origins.rank(Delay::block(event.delay)), event.bytes(),
                          time);
    }
}

void Ranks::come_past(const Event& event) {
    record_arrival(event, event.time);
    if (world_.unexpected_byte_time > 0)
        note_unexpected(static_cast<Rank>(event.rank()), event.program_stage(), event.bytes(), event.time);
    const Event arrival{event.time, arrive, event.rank(), event.bytes(), event.program_stage(), 0, 0};
    // Where actions are put in order, those of the window are sorted together, which costs less than a heap of many.
    if (world_.ordered)
        actions_.push_back(arrival);
    else
        outbox_.enqueue(arrival);
}

void Ranks::take_pulled(const Event& event, std::int64_t time) {
    const std::uint32_t record = event.program_stage();
    Pull& pull = pulls_[record];
    pull.left -= event.bytes();
    pull.time = std::max(pull.time, time);
    receive(static_cast<Rank>(event.rank()), pull.stage, event.bytes(), time);
    if (pull.left == 0) enqueue(pull.time, event.rank(), acknowledge_pull, 0, 0, record);
}

std::int64_t Ranks::attend(Rank r, std::uint32_t stage, std::int64_t time) {
    if (world_.receive_overhead == 0) return time;
    std::int64_t& cpu = clock(r);
    const std::int64_t begin = std::max(cpu, time);
    cpu = world_.done(r, begin, world_.receive_overhead);
    if (recorder_) recorder_->match(r, stage, begin, cpu, &cpu != &world_.cpus[r]);
    return cpu;
}

// ------------------------------------------------------------------------------------------------------------- stages

void Ranks::begin_stage(std::size_t line, std::int64_t time) {
    const Rank r = world_.rank_of(line);
    Receiver& receiver = world_.receivers[line];
    counts_.furthest = std::max(counts_.furthest, receiver.stage);
    if (receiver.stage == world_.watched_stage) [[unlikely]]
        begun_ = std::min(begun_, world_.ordered ? time_ : time);
    const auto at = world_.program.at(receiver.stage);
    std::uint64_t expected = 0;
    for (int j = 0, n = at.receives(r); j < n; ++j)
        expected += world_.packets(r, at, at.schedule->receive(r, at.stage, j));
    if (expected > Receiver::max_missing) [[unlikely]]
        refuse_count(
            "a stage of rank " + std::to_string(r) + ", with packets of " + std::to_string(world_.packet) + " bytes",
            std::to_string(expected), "packets to receive", Receiver::max_missing);
    receiver.missing[receiver.stage % Receiver::ring] += static_cast<std::uint32_t>(expected);
    if (!world_.cpus.empty()) time = std::max(clock(r), time);
    if (world_.noise) time = world_.done(r, time, 0);
    if (!world_.posted.empty()) time = post_receives(line, time);
    receiver.departed = time;
    receiver.sending = world_.nics_per_node;
    for (std::uint32_t c = 0; c < world_.nics_per_node; ++c)
        world_.senders[line * world_.nics_per_node + c] = {time, time, 0, receiver.stage, 0};
    begun_stage_.begin(r, receiver.stage, at);
    std::int64_t posted = time, computed = time;
    if (!world_.cpus.empty()) {
        // The CPU posts all sends of the stage before it arbitrates to what arrives, or computes.
        std::int64_t& cpu = clock(r) = time;
        if (world_.send_overhead > 0 || world_.message_cost)
            for (int j = 0, n = begun_stage_.sends(); j < n; ++j)
                cpu = world_.posted_at(r, cpu, at, j, begun_stage_.send(j));
        posted = cpu;
        if (world_.message_cost) cpu = world_.done(r, cpu, world_.message_cost->keep(r, at));
        if (at.stage == 0 && !world_.program.order() && world_.program.steps()[at.step].compute.any()) {
            const std::uint32_t stages = receiver.stage - world_.program.first_stage(at.step);
            const int each = world_.program.steps()[at.step].stages();
            cpu = world_.computed(at.step, r, r, stages / each, cpu);
        }
        computed = cpu;
    }
    if (recorder_)
        recorder_->begin_stage(r, receiver.stage, time, posted, computed,
                               !world_.cpus.empty() && &clock(r) != &world_.cpus[r]);
    if (world_.handshakes.empty()) return;
    // Requests that came before their receive was posted are granted now; the others stay.
    std::uint32_t& list = world_.handshakes[line].requests;
    std::uint32_t id = std::exchange(list, Pool<Request>::none);
    while (id != Pool<Request>::none) {
        const Request request = requests_[id];
        if (is_posted(r, request.stage)) {
            requests_.give(id);
            reply_to_request(r, request.source, request.stage, request.message, time);
        } else {
            requests_[id].next = std::exchange(list, id);
        }
        id = request.next;
    }
}

bool Ranks::end_stage_if_done(std::size_t line) {
    const Receiver& receiver = world_.receivers[line];
    const std::uint32_t slot = receiver.stage % Receiver::ring;
    if (receiver.missing[slot] != 0 || !all_sent(line, receiver)) return false;  // what comes last will go on from here
    const std::int64_t time = std::max(receiver.departed, receiver.time[slot]);
    if (time >= outbox_.end() || (world_.ordered && time > time_)) {
        enqueue(time, static_cast<std::uint32_t>(world_.rank_of(line)), advance, line_bits(receiver.stage), 0);
        return false;
    }
    if (world_.program.order()) {
        stage_over(line, time);
        return false;
    }
    return end_stage(line, time);
}

// Returns false when that was the rank's last stage.
bool Ranks::end_stage(std::size_t line, std::int64_t time) {
    const Rank r = world_.rank_of(line);
    Receiver& receiver = world_.receivers[line];
    if (world_.message_cost) {
        std::int64_t& cpu = world_.cpus[r];
        time = cpu =
            world_.done(r, std::max(cpu, time), world_.message_cost->receive(r, world_.program.at(receiver.stage)));
    }
    if (std::uint32_t step; world_.program.ends_step(receiver.stage, step)) {
        std::int64_t& end = counts_.step_end[step];
        end = std::max(end, world_.cpus.empty() ? time : std::max(time, world_.cpus[r]));
        if (const int question = world_.ending.question(step); question != Ending::none)
            ++counts_.ended[static_cast<std::size_t>(question)];
    }
    if (recorder_) recorder_->end_stage(r, receiver.stage, world_.cpus.empty() ? time : std::max(time, world_.cpus[r]));
    leave_stage(r, receiver);
    if (receiver.stage == world_.ending.stages()) {
        finish(r);
        return false;
    }
    if (world_.unexpected_byte_time > 0) {
        // Packets that come until then come before its receive.
        time = std::max(time, world_.cpus[r]);
        if (time > time_) {
            receiver.sending = world_.nics_per_node;  // it has not begun, so nothing may end it
            enqueue(time, static_cast<std::uint32_t>(r), post, 0, 0);
            return false;
        }
    }
    begin_stage(line, time);
    return true;
}

// Early arrivals for the stage that moves into the ring are counted there from now on.
void Ranks::leave_stage(Rank r, Receiver& receiver) {
    const std::uint32_t slot = receiver.stage % Receiver::ring;
    receiver.time[slot] = 0;
    if (receiver.early > 0) {
        const EarlyPackets::Some early = early_.take(r, receiver.stage + Receiver::ring);
        receiver.time[slot] = early.time;
        receiver.missing[slot] -= early.packets;
        receiver.early -= early.packets;
    }
    ++receiver.stage;
}

// Stages of other ranks may stand before its own: nothing comes for them. Those beyond the ring are skipped at once.
void Ranks::skip_to(Rank r, Receiver& receiver, std::uint32_t stage) {
    if (receiver.stage + Receiver::ring < stage) receiver.stage = stage - Receiver::ring;
    while (receiver.stage < stage) leave_stage(r, receiver);
}

// Receives are posted before anything is sent. The CPU copies what has come before, and goes on when that is done.
std::int64_t Ranks::post_receives(std::size_t line, std::int64_t time) {
    const Rank r = world_.rank_of(line);
    const std::uint32_t stage = world_.receivers[line].stage;
    if (stage < world_.posted[line]) return time;
    const auto [first, end] = posted_at_once(stage);
    world_.posted[line] = end;
    if (world_.unexpected_byte_time <= 0) return time;
    const std::int64_t bytes = unexpected_.take(r, first, time);
    counts_.unexpected += bytes;
    const double copying = std::ceil(static_cast<double>(bytes) * world_.unexpected_byte_time);
    const std::int64_t copied = after(time, copying, "a rank computes until");
    return world_.noise ? world_.done(r, time, copied - time) : copied;
}

std::array<std::uint32_t, 2> Ranks::posted_at_once(std::uint32_t stage) const {
    if (!world_.receives_at_start) return {stage, stage + 1};
    const auto at = world_.program.at(stage);
    const std::uint32_t first = stage - static_cast<std::uint32_t>(at.stage);
    return {first, first + static_cast<std::uint32_t>(world_.program.steps()[at.step].stages())};
}

// A packet that comes at `time`. Whether its receive will be posted by then is known when that is posted.
void Ranks::note_unexpected(Rank r, std::uint32_t stage, std::uint32_t bytes, std::int64_t time) {
    if (!is_posted(r, stage)) unexpected_.add(r, posted_at_once(stage)[0], bytes, time);
}

}  // namespace tradewind::sim
