// Drives the parts of a simulation that this process has, a thread each, from window to window.
#pragma once

#include <array>
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/peers.hpp"
#include "sim/barrier.hpp"
#include "sim/mail.hpp"
#include "sim/pace.hpp"
#include "sim/part.hpp"

namespace tradewind::sim {

// From this many events a window on, chunks are long.
inline constexpr double full_window = 16;
// The first thread, alone, looks up after so many windows, or events where these are full.
inline constexpr int look_up_windows = 64;
inline constexpr std::uint64_t look_up_events = 50'000;
// How often the caller hears of progress.
inline constexpr std::chrono::milliseconds between_calls{100};

template <class Routing, bool finite>
class Engine {
  public:
    Engine(World& world, Routing& routing, const SimulationOptions& options, Peers& peers, double events_a_window)
        : world_(world), options_(options), peers_(peers), barrier_(options.threads) {
        const std::uint32_t events_a_chunk = events_a_window < full_window ? 7 : 63;
        for (auto& reports : reports_) reports.resize(world.parts.here);
        for (std::uint32_t p = 0; p < world.parts.here; ++p)
            parts_.push_back(
                std::make_unique<Part<Routing, finite>>(world, routing, world.parts.first + p, events_a_chunk));
        for (auto& part : parts_) outboxes_.push_back(&part->outbox());
        if (world.parts.processes > 1) mail_ = std::make_unique<Mail>(peers, world.parts);
    }

    // Throws what a thread has thrown; PeerFailed where one of another process has.
    void run() {
        {
            // Nobody begins before all are there: a thread that cannot be had would leave the others waiting.
            std::promise<bool> all_there;
            const std::shared_future<bool> go = all_there.get_future().share();
            std::vector<std::jthread> others;
            try {
                peers_.together([&] { start_threads(others, go); });
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

    std::uint64_t windows() const { return windows_; }
    std::uint64_t windows_alone() const { return windows_alone_; }

    const auto& parts() const { return parts_; }

  private:
    void start_threads(std::vector<std::jthread>& others, const std::shared_future<bool>& go) {
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

    // One thread. Each round every part reports, and every thread draws the same conclusions from the reports.
    void work(int id) {
        guarded(id, 0, [&] {
            parts_[id]->start();
            reports_[0][id] = parts_[id]->report();
            reports_[0][id].alone = options_.threads == 1;
        });
        for (std::size_t round = 0;; ++round) {
            const Report all = conclude(id, round % 2);
            if (all.stop || all.next == Wheel::never) return;
            if (all.ended == world_.program.ranks()) {
                if (id == 0) ask(all);
                barrier_.wait();
                if (refused_) return;
            }
            const bool alone = reports_[round % 2][0].alone;
            if (alone && id != 0) continue;
            const std::size_t turn = (round + 1) % 2;
            if (alone) {
                go_alone(all, turn);
                continue;
            }
            guarded(id, turn, [&] {
                process(id, all.next);
                reports_[turn][id] = parts_[id]->report();
                if (id == 0) {
                    ++windows_;
                    reports_[turn][0].alone = look_up(all);
                }
            });
        }
    }

    void process(int id, std::int64_t window) {
        if (mail_) mail_->deliver(static_cast<std::uint32_t>(id), parts_[id]->outbox());
        parts_[id]->process(window, outboxes_);
    }

    // The other threads sleep meanwhile; waking them for every few windows would cost what they cannot give.
    void go_alone(Report all, std::size_t turn) {
        std::vector<Report>& reports = reports_[turn];
        std::uint64_t enough = all.events + look_up_events;
        for (int i = 1;; ++i) {
            guarded(0, turn, [&] {
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
            all = agree(turn);
            if (!all.stop && all.next != Wheel::never) {
                if (all.ended == world_.program.ranks()) ask(all);
                if (!refused_) continue;
                all.stop = reports[0].stop = true;
            }
            totals_[turn] = all;
            agreed_ = true;
            return;
        }
    }

    // What all parts of all processes have reported.
    Report conclude(int id, std::size_t turn) {
        barrier_.wait();
        if (!mail_) return sum(reports_[turn]);
        if (id == 0) {
            if (!agreed_) totals_[turn] = agree(turn);
            agreed_ = false;
            stopped_ = totals_[turn].stop;
        }
        barrier_.wait();
        return totals_[turn];
    }

    Report agree(std::size_t turn) {
        Report all = sum(reports_[turn]);
        try {
            if (mail_) all = mail_->exchange(all, outboxes_);
        } catch (...) {
            peers_.sever();
            fail();
            all.stop = true;
        }
        return all;
    }

    // All ranks have ended what is asked about next. By the first thread, while the others wait.
    void ask(const Report& all) {
        try {
            std::vector<Picoseconds> ends;
            for (std::size_t step = 0; step < world_.ending.steps_asked(); ++step) {
                std::int64_t end = 0;
                for (const auto& part : parts_) end = std::max(end, part->step_end(step));
                ends.push_back({-peers_.least(-end)});
            }
            bool enough = false;
            peers_.together([&] {
                if (peers_.process() == 0) enough = options_.early_end.enough(ends);
            });
            world_.ending.answer(peers_.least(enough ? 0 : 1) == 0, all.furthest);
        } catch (...) {
            fail();
            refused_ = true;
        }
    }

    // What the first thread does between windows. Returns whether it goes on alone.
    bool look_up(const Report& all) {
        const auto now = std::chrono::steady_clock::now();
        if (options_.progress && now - told_ > between_calls) {
            told_ = now;
            if (!options_.progress(Picoseconds{all.next << world_.shift}, Bytes{all.arrived}, all.hops))
                throw Interrupted();
        }
        return options_.threads == 1 || (options_.adaptive && pace_.alone(all.events, now));
    }

    static Report sum(const std::vector<Report>& reports) {
        Report all;
        for (const Report& report : reports) all.add(report);
        return all;
    }

    // An exception in one thread stops all of them at the next barrier.
    template <class Action>
    void guarded(int id, std::size_t turn, Action action) {
        try {
            action();
        } catch (...) {
            fail();
            reports_[turn][id].stop = true;
        }
    }
    void fail() {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
    }

    World& world_;
    const SimulationOptions& options_;
    Peers& peers_;
    Barrier barrier_;
    std::array<std::vector<Report>, 2> reports_;  // [round % 2][part]
    std::vector<std::unique_ptr<Part<Routing, finite>>> parts_;
    std::vector<Outbox*> outboxes_;  // [part]
    std::unique_ptr<Mail> mail_;     // null where there is one process
    std::array<Report, 2> totals_;   // [round % 2], of all processes
    bool agreed_ = false;            // the first thread has the totals of the round already
    bool stopped_ = false;
    bool refused_ = false;  // the question whether the program may end early has failed
    std::uint64_t windows_ = 0, windows_alone_ = 0;
    Pace pace_;
    std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
    std::mutex mutex_;
    std::exception_ptr failure_;
};

}  // namespace tradewind::sim
