// Drives the parts of a simulation, a thread each, from window to window.
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
#include "sim/barrier.hpp"
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
    using Parts = std::vector<std::unique_ptr<Part<Routing, finite>>>;

    Engine(World& world, Routing& routing, const SimulationOptions& options, double events_a_window)
        : world_(world), options_(options), barrier_(options.threads) {
        const std::uint32_t events_a_chunk = events_a_window < full_window ? 7 : 63;
        for (auto& reports : reports_) reports.resize(static_cast<std::size_t>(options.threads));
        for (int p = 0; p < options.threads; ++p)
            parts_.push_back(
                std::make_unique<Part<Routing, finite>>(world, routing, p, options.threads, events_a_chunk));
        for (auto& part : parts_) outboxes_.push_back(&part->outbox());
    }

    void run() {
        {
            // Nobody begins before all are there: a thread that cannot be had would leave the others waiting.
            std::promise<bool> all_there;
            const std::shared_future<bool> go = all_there.get_future().share();
            std::vector<std::jthread> others;
            try {
                for (int p = 1; p < options_.threads; ++p)
                    others.emplace_back([this, p, go] {
                        if (go.get()) work(p);
                    });
            } catch (const std::system_error& error) {
                all_there.set_value(false);
                throw std::runtime_error("thread " + std::to_string(others.size() + 2) + " of " +
                                         std::to_string(options_.threads) + " cannot be started: " + error.what());
            }
            all_there.set_value(true);
            work(0);
        }
        if (failure_) std::rethrow_exception(failure_);
    }

    std::uint64_t windows() const { return windows_; }
    std::uint64_t windows_alone() const { return windows_alone_; }

    const Parts& parts() const { return parts_; }

  private:
    // One thread. Each round every part reports, and every thread draws the same conclusions from the reports.
    void work(int id) {
        guarded(id, 0, [&] {
            parts_[id]->start();
            reports_[0][id] = parts_[id]->report();
            reports_[0][id].alone = options_.threads == 1;
        });
        for (std::size_t round = 0;; ++round) {
            barrier_.wait();
            const auto& reports = reports_[round % 2];
            const Report all = sum(reports);
            if (all.stop || all.next == Wheel::never) return;
            const bool alone = reports[0].alone;
            if (alone && id != 0) continue;
            const std::size_t turn = (round + 1) % 2;
            guarded(id, turn, [&] {
                if (alone) {
                    go_alone(all, reports_[turn]);
                } else {
                    parts_[id]->process(all.next, outboxes_);
                    reports_[turn][id] = parts_[id]->report();
                    if (id == 0) {
                        ++windows_;
                        reports_[turn][0].alone = look_up(all);
                    }
                }
            });
        }
    }

    // The other threads sleep meanwhile; waking them for every few windows would cost what they cannot give.
    void go_alone(Report all, std::vector<Report>& reports) {
        for (bool alone = true; alone && all.next != Wheel::never; alone = look_up(all)) {
            const std::uint64_t enough = all.events + look_up_events;
            for (int i = 0; i < look_up_windows && all.next != Wheel::never && all.events < enough; ++i) {
                for (auto& part : parts_) part->process(all.next, outboxes_);
                for (std::size_t p = 0; p < parts_.size(); ++p) reports[p] = parts_[p]->report();
                all = sum(reports);
                ++windows_;
                ++windows_alone_;
            }
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
        for (const Report& report : reports) {
            all.next = std::min(all.next, report.next);
            all.events += report.events;
            all.arrived += report.arrived;
            all.hops += report.hops;
            all.stop = all.stop || report.stop;
        }
        return all;
    }

    // An exception in one thread stops all of them at the next barrier.
    template <class Action>
    void guarded(int id, std::size_t turn, Action action) {
        try {
            action();
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
            reports_[turn][id].stop = true;
        }
    }

    World& world_;
    const SimulationOptions& options_;
    Barrier barrier_;
    std::array<std::vector<Report>, 2> reports_;  // [round % 2][part]
    Parts parts_;
    std::vector<Outbox*> outboxes_;  // [part]
    std::uint64_t windows_ = 0, windows_alone_ = 0;
    Pace pace_;
    std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
    std::mutex mutex_;
    std::exception_ptr failure_;
};

}  // namespace tradewind::sim
