#include "sim/engine.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <system_error>

#include "base/error.hpp"

namespace tradewind::sim {

namespace {

// From this many events per window on, chunks are long.
constexpr double full_window = 16;
// Windows, or events where these are full, after which the first thread alone checks progress and memory.
constexpr int look_up_windows = 64;
constexpr std::uint64_t look_up_events = 50'000;

Report sum(const std::vector<Report>& reports) {
    Report all;
    for (const Report& report : reports) all.add(report);
    return all;
}

}  // namespace

Engine::Engine(World& world, const SwitchFactory& switches, const SimulationOptions& options, Peers& peers,
               double events_per_window)
    : world_(world), options_(options), peers_(peers), barrier_(options.threads), ranks_(world.program.ranks()) {
    const std::uint32_t events_per_chunk = events_per_window < full_window ? 7 : 63;
    for (auto& reports : reports_) reports.resize(world.parts.here);
    for (std::uint32_t p = 0; p < world.parts.here; ++p)
        parts_.push_back(std::make_unique<Part>(world, switches, world.parts.first + p, events_per_chunk));
    for (auto& part : parts_) outboxes_.push_back(&part->outbox());
    if (world.parts.processes > 1) exchange_ = std::make_unique<ProcessExchange>(peers, world.parts);
}

void Engine::run() {
    {
        // Nobody begins before all are there: a thread that cannot be had would leave the others waiting.
        std::promise<bool> all_there;
        const std::shared_future<bool> go = all_there.get_future().share();
        std::vector<std::jthread> others;
        try {
            peers_.collective([&] { start_threads(others, go); });
        } catch (...) {
            all_there.set_value(false);
            throw;
        }
        all_there.set_value(true);
        work(0);
    }
    if (failure_) std::rethrow_exception(failure_);
    if (stopped_) throw PeerFailed();
}

void Engine::start_threads(std::vector<std::jthread>& others, const std::shared_future<bool>& go) {
    try {
        for (int p = 1; p < options_.threads; ++p)
            others.emplace_back([this, p, go] {
                if (go.get()) work(p);
            });
    } catch (const std::system_error& error) {
        throw std::runtime_error("thread " + std::to_string(others.size() + 2) + " of " +
                                 std::to_string(options_.threads) + " cannot be started: " + error.what());
    }
}

void Engine::work(int id) {
    guarded(id, 0, [&] {
        parts_[id]->start();
        reports_[0][id] = parts_[id]->report();
        reports_[0][id].alone = options_.threads == 1;
    });
    for (std::size_t round = 0;; ++round) {
        Report all = conclude(id, round % 2);
        if (all.stop || all.next == Wheel::never) return;
        if (all.ended == ranks_) {
            if (id == 0) ask(all);
            barrier_.wait();
            if (refused_) return;
        }
        const bool alone = reports_[round % 2][0].alone;
        if (alone && id != 0) continue;  // and look at nothing that the first thread changes
        const std::size_t parity = (round + 1) % 2;
        if (skip_ && skip_->due(all)) {
            if (!alone) barrier_.wait();  // all know that it is
            if (id == 0) next_ = skip(all);
            if (!alone) barrier_.wait();
            all.next = next_;
            if (refused_ && !alone) return;
            if (refused_) {
                reports_[parity][0].stop = true;
                continue;
            }
        }
        if (alone) {
            go_alone(all, parity);
            continue;
        }
        guarded(id, parity, [&] {
            process(id, all.next);
            reports_[parity][id] = parts_[id]->report();
            if (id == 0) {
                ++windows_;
                reports_[parity][0].alone = look_up(all);
            }
        });
    }
}

void Engine::process(int id, std::int64_t window) {
    if (exchange_) exchange_->deliver(static_cast<std::uint32_t>(id), parts_[id]->outbox());
    parts_[id]->process(window, outboxes_);
}

void Engine::go_alone(Report all, std::size_t parity) {
    std::vector<Report>& reports = reports_[parity];
    std::uint64_t enough = all.events + look_up_events;
    for (int i = 1;; ++i) {
        guarded(0, parity, [&] {
            for (std::size_t p = 0; p < parts_.size(); ++p) process(static_cast<int>(p), all.next);
            for (std::size_t p = 0; p < parts_.size(); ++p) reports[p] = parts_[p]->report();
            reports[0].alone = true;
            ++windows_;
            ++windows_alone_;
            if (i % look_up_windows != 0 && all.events < enough) return;
            reports[0].alone = look_up(all);
            enough = all.events + look_up_events;
        });
        if (reports[0].stop || !reports[0].alone) return;
        all = agree(parity);
        if (!all.stop && all.next != Wheel::never) {
            if (all.ended == ranks_) ask(all);
            if (skip_ && skip_->due(all)) all.next = skip(all);
            if (!refused_) continue;
            all.stop = reports[0].stop = true;
        }
        totals_[parity] = all;
        agreed_ = true;
        return;
    }
}

Report Engine::conclude(int id, std::size_t parity) {
    barrier_.wait();
    if (!exchange_) return sum(reports_[parity]);
    if (id == 0) {
        if (!agreed_) totals_[parity] = agree(parity);
        agreed_ = false;
        stopped_ = totals_[parity].stop;
    }
    barrier_.wait();
    return totals_[parity];
}

Report Engine::agree(std::size_t parity) {
    Report all = sum(reports_[parity]);
    try {
        if (exchange_) all = exchange_->exchange(all, outboxes_);
    } catch (...) {
        peers_.sever();
        fail();
        all.stop = true;
    }
    return all;
}

void Engine::ask(const Report& all) {
    try {
        std::vector<Picoseconds> ends;
        for (std::size_t step = 0; step < world_.ending.steps_asked(); ++step) {
            std::int64_t end = 0;
            for (const auto& part : parts_) end = std::max(end, part->step_end(step));
            ends.push_back({-peers_.minimum(-end)});
        }
        bool enough = false;
        peers_.collective([&] {
            if (peers_.process() == 0) enough = options_.early_end.enough(ends);
        });
        world_.ending.conclude(peers_.minimum(enough ? 0 : 1) == 0, all.furthest);
    } catch (...) {
        fail();
        refused_ = true;
    }
}

std::int64_t Engine::skip(const Report& all) {
    try {
        return skip_->act(all);
    } catch (...) {
        fail();
        refused_ = true;
        return all.next;
    }
}

bool Engine::look_up(const Report& all) {
    const auto now = std::chrono::steady_clock::now();
    if (options_.progress && now - reported_ >= options_.between_calls) {
        reported_ = now;
        if (!options_.progress(Picoseconds{all.next << world_.shift}, Bytes{all.arrived}, all.hops))
            throw Interrupted();
    }
    return options_.threads == 1 || (options_.adaptive && pace_.alone(all.events, now));
}

void Engine::fail() {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
}

}  // namespace tradewind::sim
