#include "sim/skip.hpp"

#include <algorithm>
#include <limits>

#include "sim/clock.hpp"

namespace tradewind::sim {

std::string Skip::obstacle(const SimulationOptions& options, const program::Program& program, bool spreads) {
    if (!options.skip) return "all steps were asked for";
    if (options.calls) return "ranks follow the calls of a trace";
    if (spreads) return "the routing draws a random number for each packet";
    if (options.order_seed != 0) return "the order of packets that come at one time is drawn at random";
    if (options.noise.any()) return "the noise of the operating system interrupts ranks at any time";
    if (program.changes_each_time()) return "a computation draws a random number each time";
    if (options.peers && options.peers->processes() > 1) return "several processes share the simulation";
    if (!options.shown.empty() || options.followed >= 0) return "single events are recorded";
    if (!options.early_end.asked.empty()) return "the simulation ends when its repetitions are steady";
    return "";
}

Skip::Skip(World& world, program::Program& program, const std::vector<std::unique_ptr<Part>>& parts)
    : world_(world), program_(program), parts_(parts), repeated_(program), steps_(program.steps().size()) {
    if (is_useful()) watch(1);
}

void Skip::watch(std::int64_t repetition) {
    watched_ = repetition;
    // Those that begin when nothing is left to skip are of no interest.
    const bool is_late = repetition + 2 >= repeated_.times();
    if (is_late && in_period_) end_period();
    if (repeated_.has_order())
        world_.watched_operation =
            is_late ? World::nothing : repeated_.operations(0) * static_cast<std::uint32_t>(repetition);
    else
        world_.watched_stage = is_late ? World::nothing : repeated_.first_stage(repetition);
}

void Skip::watch_next(std::int64_t repetition) {
    std::int64_t next = std::max(repetition, furthest()) + 1;
    if (!in_period_ && next >= row_ + in_a_row) {
        row_ = std::max<std::int64_t>(pause * row_, 2 * in_a_row);
        next = std::max(next, row_);
        seen_.clear();
    }
    watch(next);
}

std::int64_t Skip::act(const Report& all) {
    std::int64_t next = all.next;
    if (!is_cutting_) {
        const std::int64_t window = std::int64_t{1} << world_.shift, end = parts_[0]->outbox().end();
        cut_ = all.begun + window;
        if (cut_ < end) cut_ += (end - cut_ + window - 1) / window * window;
        next = Wheel::never;
        for (const auto& part : parts_) {
            part->ranks().take_begun();
            part->outbox().align(cut_);
            next = std::min(next, part->outbox().next());
        }
        world_.watched_stage = world_.watched_operation = World::nothing;
        is_cutting_ = true;
    }
    if (parts_[0]->outbox().start_of(next) < cut_) return next;
    is_cutting_ = false;
    look(cut_here());
    return next;
}

Skip::Cut Skip::cut_here() {
    Cut cut{watched_, cut_, 0};
    if (repeated_.has_order()) return cut;
    std::uint32_t least = ~0u;
    for (Rank r = 0; r < world_.program.ranks(); ++r) least = std::min(least, world_.receivers[r].stage);
    cut.step = least < world_.program.stages() ? world_.program.at(least).step : world_.program.steps().size();
    return cut;
}

// The last repetition that a rank is in, or waits to begin.
std::int64_t Skip::furthest() const {
    std::int64_t furthest = 0;
    for (Rank r = 0; r < world_.program.ranks(); ++r)
        furthest = std::max<std::int64_t>(furthest, repeated_.has_order()
                                                        ? world_.walkers[r].operation / repeated_.operations(r)
                                                        : repeated_.repetition_of(world_.receivers[r].stage));
    return furthest;
}

void Skip::look(const Cut& cut) {
    State state;
    if (in_period_) {
        if (cut.repetition < target_) {
            watch_next(cut.repetition);
            return;
        }
        const bool is_same = write(cut, true, state) && state == state_;
        const bool is_done = is_same && skip(cut);
        end_period();
        if (is_done) return;
        seen_.clear();
    } else if (write(cut, false, state)) {
        const auto before = std::find_if(seen_.rbegin(), seen_.rend(), [&](auto& s) { return s.hash == state.hash; });
        if (before == seen_.rend()) {
            seen_.push_back({cut.repetition, state.hash});
        } else if (const std::int64_t target = 2 * cut.repetition - before->repetition;
                   target + 2 < repeated_.times()) {
            target_ = target;
            begin_period(cut);
        }
    }
    watch_next(cut.repetition);
}

// Returns false where the state cannot be written down, or ranks are not all among the repetitions.
bool Skip::write(const Cut& cut, bool kept, State& state) {
    std::vector<const Ranks*> ranks;
    for (const auto& part : parts_) {
        if (part->ranks().counts().finished > 0) return false;
        ranks.push_back(&part->ranks());
    }
    if (!repeated_.has_order() && cut.step < repeated_.first_step(0)) return false;
    StateWriter out(world_, repeated_, cut.repetition, cut.time, std::move(ranks), kept);
    for (const auto& part : parts_) {
        part->ranks().settle();
        part->ranks().write(out);
        part->switches().write(out);
        part->outbox().for_each(
            [&](const Event& event) {
                if (event.kind() == Event::aside && event.memory == call_next) out.refuse();
                const auto words = out.packet(event);
                State::Record record{of_packet};
                std::copy(words.begin(), words.end(), record.begin() + 1);
                out.put(record);
            },
            [&](const Event& event) {
                const auto words = out.action(event);
                State::Record record{of_action};
                std::copy(words.begin(), words.end(), record.begin() + 1);
                out.put(record);
            });
        if (out.refused()) return false;
    }
    if (!repeated_.has_order() && repeated_.steps() > 0) {
        // When the last rank so far ended a step that others have not ended.
        std::uint32_t furthest = 0;
        for (const auto& part : parts_) furthest = std::max(furthest, part->ranks().counts().furthest);
        const std::size_t last = world_.program.at(furthest).step;
        for (std::size_t step = cut.step; step <= last; ++step) {
            std::int64_t end = 0;
            for (const auto& part : parts_) end = std::max(end, part->step_end(step));
            out.put(step - repeated_.first_step(cut.repetition), 0);
            out.put(out.busy(end));
        }
    }
    state = std::move(out).finish();
    return true;
}

void Skip::begin_period(const Cut& cut) {
    if (!write(cut, true, state_)) return;
    begin_ = cut;
    tallies_.assign(parts_.size(), {});
    sent_ = 0;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        parts_[p]->tally(tallies_[p]);
        parts_[p]->switches().delays().keep_log(true);
        sent_ += parts_[p]->ranks().counts().sent;
    }
    in_period_ = true;
}

void Skip::end_period() {
    in_period_ = false;
    state_ = {};
    for (const auto& part : parts_) part->switches().delays().keep_log(false);
}

bool Skip::skip(const Cut& cut) {
    const std::int64_t repetitions = cut.repetition - begin_.repetition, period = cut.time - begin_.time;
    const std::int64_t periods = (repeated_.times() - 1 - furthest()) / repetitions;
    if (periods < 1) return false;
    std::int64_t sent = 0;
    for (const auto& part : parts_) sent += part->ranks().counts().sent;
    // More than can be counted, or a time too late for the clock, is left to the simulation to refuse.
    const auto in_all = [&](std::int64_t now, std::int64_t in_period) {
        return static_cast<__int128>(now) + static_cast<__int128>(in_period) * (periods + 1);
    };
    if (in_all(cut.time, period) > latest.value) return false;
    if (in_all(sent, sent - sent_) > std::numeric_limits<std::int64_t>::max() / 2) return false;
    for (const auto& part : parts_)
        if (!part->switches().delays().can_repeat(period * periods)) return false;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        tallies_[p].repeat(static_cast<std::uint64_t>(periods));
        parts_[p]->tally(tallies_[p]);
        parts_[p]->switches().delays().repeat(period, periods);
    }
    program_ = repeated_.without(program_, periods * repetitions);
    world_.ending.shorten();
    end_ = cut;
    periods_ = periods;
    return true;
}

void Skip::complete(SimulationResult& result) const {
    const std::int64_t repetitions = periods_ * (end_.repetition - begin_.repetition);
    result.steps_simulated = repeated_.times() - repetitions;
    result.steps_skipped = repetitions;
    if (periods_ == 0) {
        result.no_skip = is_useful() ? "no step was found to be the same as one before it"
                                     : "no steps are repeated " + std::to_string(Repeated::fewest) + " times or more";
        return;
    }
    const std::int64_t period = end_.time - begin_.time, ahead = periods_ * period;
    const auto later = [](Picoseconds end, std::int64_t by) {
        if (by > latest.value - end.value)
            refuse_time("the simulation reaches", end.seconds() + static_cast<double>(by) * 1e-12);
        return Picoseconds{end.value + by};
    };
    // The steps that are left after those that were left out, and how far before a step the one stands that it repeats.
    const std::size_t skipped = steps_ - program_.steps().size(), row = end_.step - begin_.step;
    const std::size_t first = repeated_.has_order() ? 0 : repeated_.steps() == 0 ? repeated_.first_step(0) : end_.step;
    std::vector<Picoseconds> ends(steps_);
    for (std::size_t i = 0; i < steps_; ++i)
        ends[i] = i < first             ? result.step_end[i]
                  : i < first + skipped ? later(ends[i - row], period)
                                        : later(result.step_end[i - skipped], ahead);
    result.step_end = std::move(ends);
}

}  // namespace tradewind::sim
