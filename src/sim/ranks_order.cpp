// Ranks that start exchanges and wait for them by steps of their own, with several open at once: see program::Order.
//
// The CPU of a rank does its operations one after another. An exchange that is open goes on, stage after stage, by
// SimulationOptions::progress_by; what comes while the rank computes, and must be dealt with by its CPU, is held
// until the next call.
#include <algorithm>
#include <utility>

#include "sim/ranks.hpp"

namespace tradewind::sim {

void Ranks::start_walk(Rank r) {
    const program::Order& order = *world_.program.order();
    const std::size_t group = order.group_of(r);
    for (std::uint32_t l = 0; l < world_.lines; ++l) {
        Receiver& receiver = world_.receivers[static_cast<std::size_t>(r) * world_.lines + l];
        receiver.stage = order.first_stage(group, l);
        receiver.sending = world_.nics_per_node;  // it has not begun, so nothing may end it
    }
    enqueue(0, static_cast<std::uint32_t>(r), resume, 0, 0);
}

// Goes on until the rank has to wait, or its CPU is busy: then an action will go on from there.
void Ranks::walk(Rank r) {
    Walker& walker = world_.walkers[r];
    const program::Order& order = *world_.program.order();
    const std::size_t group = order.group_of(r);
    const std::vector<program::Operation>& operations = order.operations(group);
    const auto is_busy = [&] {
        if (world_.cpus[r] <= time_) return false;
        enqueue(world_.cpus[r], static_cast<std::uint32_t>(r), resume, 0, 0);
        return true;
    };
    while (!is_busy()) {
        if (walker.operation == operations.size()) {
            finish(r);
            return;
        }
        if (walker.operation == world_.watched_operation && group == 0) [[unlikely]]
            begun_ = std::min(begun_, time_);
        const program::Operation& operation = operations[walker.operation];
        if (recorder_) recorder_->begin_operation(r, time_);
        switch (operation.kind) {
            case program::Operation::compute:
                world_.cpus[r] =
                    world_.computed(operation.step, r, order.groups()[group].members.place(r), walker.operation, time_);
                break;
            case program::Operation::start:
                if (!start(r, operation)) return;
                break;
            case program::Operation::wait:
                if (!wait(r, operation)) return;
                break;
            case program::Operation::poke:
                if (!poke(r)) return;
        }
        finish_operation(r, operation);
        ++walker.operation;
    }
}

void Ranks::finish_operation(Rank r, const program::Operation& operation) {
    if (recorder_) {
        constexpr TraceEventKind kinds[] = {TraceEventKind::work, TraceEventKind::start, TraceEventKind::wait,
                                            TraceEventKind::poke};
        recorder_->end_operation(r, operation.step, kinds[operation.kind], std::max(time_, world_.cpus[r]));
    }
    if (!operation.ends_step) return;
    std::int64_t& end = counts_.step_end[operation.step];
    end = std::max({end, time_, world_.cpus[r]});
}

// Deals with what was held, which may keep the CPU busy beyond this moment.
void Ranks::call(Rank r) {
    Walker& walker = world_.walkers[r];
    const Rank before = std::exchange(calling_, r);
    while (walker.first > 0) {
        const std::uint32_t id = walker.first - 1;
        Event event = held_[id].event;
        walker.first = held_[id].next;
        held_.give(id);
        event.time = time_;
        process(event);
    }
    calling_ = before;
}

bool Ranks::held(Rank r, const Event& event) {
    if (world_.walkers.empty() || attends(r)) return false;
    const std::uint32_t id = held_.take();
    held_[id] = {event, 0};
    Walker& walker = world_.walkers[r];
    if (walker.first == 0)
        walker.first = id + 1;
    else
        held_[walker.last - 1].next = id + 1;
    walker.last = id + 1;
    return true;
}

// Each of these returns false where the rank does not get beyond the operation now.
bool Ranks::start(Rank r, const program::Operation& operation) {
    call(r);
    if (world_.cpus[r] > time_) {
        enqueue(world_.cpus[r], static_cast<std::uint32_t>(r), resume, 0, 0);
        return false;
    }
    const program::Instance& instance = world_.program.order()->instance(operation.instance);
    const std::size_t line = static_cast<std::size_t>(r) * world_.lines + instance.line;
    world_.line_states[line] = {instance.stages > 0 ? LineState::posting : LineState::done, operation.instance, 0};
    if (instance.stages > 0) {
        skip_to(r, world_.receivers[line], instance.first);
        const Rank before = std::exchange(calling_, r);
        post_stage(line);
        calling_ = before;
    }
    return true;
}

bool Ranks::wait(Rank r, const program::Operation& operation) {
    const program::Instance& instance = world_.program.order()->instance(operation.instance);
    const std::size_t line = static_cast<std::size_t>(r) * world_.lines + instance.line;
    Walker& walker = world_.walkers[r];
    walker.waits = instance.line + 1;
    call(r);
    LineState& state = world_.line_states[line];
    if (state.what == LineState::over) bring_on(line);
    if (state.what != LineState::done) return false;
    walker.waits = 0;
    state.what = LineState::closed;
    world_.cpus[r] =
        std::max(world_.cpus[r], clock(r));  // a thread may have taken longer than the CPU that waits for it
    return true;
}

bool Ranks::poke(Rank r) {
    if (world_.progress == Progress::calls) return true;
    call(r);
    if (world_.cpus[r] > time_) {  // what it has matched then may end stages
        enqueue(world_.cpus[r], static_cast<std::uint32_t>(r), resume, 0, 0);
        return false;
    }
    const Rank before = std::exchange(calling_, r);
    for (std::uint32_t l = 0; l < world_.lines; ++l) {
        const std::size_t line = static_cast<std::size_t>(r) * world_.lines + l;
        if (world_.line_states[line].what == LineState::over) bring_on(line);
    }
    calling_ = before;
    return true;
}

// A stage has ended for its rank. Whoever brings the exchange on posts the next one, now or later.
void Ranks::stage_over(std::size_t line, std::int64_t time) {
    LineState& state = world_.line_states[line];
    state.what = LineState::over;
    state.time = time;
    if (going_ == line) return;
    const Rank r = world_.rank_of(line);
    const bool waits = world_.walkers[r].waits == line % world_.lines + 1;
    if (!waits && world_.progress != Progress::thread) return;
    bring_on(line);
    if (!waits || state.what != LineState::done || calling_ == r) return;
    state.what = LineState::closed;
    Walker& walker = world_.walkers[r];
    walker.waits = 0;
    world_.cpus[r] = std::max({world_.cpus[r], time_, clock(r)});
    finish_operation(r, world_.program.order()->operations(world_.program.order()->group_of(r))[walker.operation]);
    ++walker.operation;
    walk(r);
}

// From a stage that is over to the next ones, as far as that goes at once.
void Ranks::bring_on(std::size_t line) {
    const std::size_t before = std::exchange(going_, line);
    const Rank r = world_.rank_of(line);
    LineState& state = world_.line_states[line];
    Receiver& receiver = world_.receivers[line];
    while (state.what == LineState::over) {
        const program::Instance& instance = world_.program.order()->instance(state.instance);
        if (world_.message_cost) {
            std::int64_t& busy = clock(r);
            busy = world_.done(r, std::max(busy, state.time),
                               world_.message_cost->receive(r, world_.program.at(receiver.stage)));
        }
        if (recorder_)
            recorder_->end_stage(r, receiver.stage, world_.message_cost ? std::max(state.time, clock(r)) : state.time);
        leave_stage(r, receiver);
        receiver.sending = world_.nics_per_node;  // the next one has not begun
        if (receiver.stage == instance.first + instance.stages) {
            state.what = LineState::done;
        } else if (clock(r) > time_) {
            state.what = LineState::posting;
            enqueue(clock(r), static_cast<std::uint32_t>(r), post, line_bits(receiver.stage), 0);
        } else {
            post_stage(line);
        }
    }
    going_ = before;
}

void Ranks::post_stage(std::size_t line) {
    world_.line_states[line].what = LineState::under_way;
    begin_stage(line, time_);
    run(line);
}

}  // namespace tradewind::sim
