// Drives the parts of a simulation that this process has, a thread each, from window to window.
#pragma once

#include <array>
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/peers.hpp"
#include "sim/barrier.hpp"
#include "sim/pace.hpp"
#include "sim/part.hpp"
#include "sim/process_exchange.hpp"
#include "sim/skip.hpp"

namespace tradewind::sim {

class Engine {
  public:
    Engine(World& world, const SwitchFactory& switches, const SimulationOptions& options, Peers& peers,
           double events_per_window);

    // Lets it act between windows; of one process.
    void skip_by(Skip& skip) { skip_ = &skip; }
    // Throws what a thread has thrown; PeerFailed where one of another process has.
    void run();

    std::uint64_t windows() const { return windows_; }
    std::uint64_t windows_alone() const { return windows_alone_; }

    const auto& parts() const { return parts_; }

  private:
    void start_threads(std::vector<std::jthread>& others, const std::shared_future<bool>& go);
    // One thread. Each round every part reports, and every thread draws the same conclusions from the reports.
    void work(int id);
    void process(int id, std::int64_t window);
    // The other threads sleep meanwhile; waking them for every few windows would cost what they cannot give.
    void go_alone(Report all, std::size_t parity);
    // The sum of the reports of all parts of all processes.
    Report conclude(int id, std::size_t parity);
    Report agree(std::size_t parity);
    // All ranks have ended what is asked about next. By the first thread, while the others wait.
    void ask(const Report& all);
    // One thread alone. Returns the next window.
    std::int64_t skip(const Report& all);
    // Runs in the first thread between windows. Returns whether it goes on alone.
    bool look_up(const Report& all);
    // An exception in one thread stops all of them at the next barrier.
    template <class Action>
    void guarded(int id, std::size_t parity, Action action) {
        try {
            action();
        } catch (...) {
            fail();
            reports_[parity][id].stop = true;
        }
    }
    void fail();

    World& world_;
    const SimulationOptions& options_;
    Peers& peers_;
    Barrier barrier_;
    std::array<std::vector<Report>, 2> reports_;  // [round % 2][part]
    std::vector<std::unique_ptr<Part>> parts_;
    std::vector<Outbox*> outboxes_;              // [part]
    std::unique_ptr<ProcessExchange> exchange_;  // null where there is one process
    std::array<Report, 2> totals_;               // [round % 2], of all processes
    bool agreed_ = false;                        // the first thread has the totals of the round already
    bool stopped_ = false;
    bool refused_ = false;  // the question whether the program may end early has failed
    std::uint64_t windows_ = 0, windows_alone_ = 0;
    const Rank ranks_;  // of the program, which may become shorter
    Skip* skip_ = nullptr;
    std::int64_t next_ = 0;  // window, where it acts
    Pace pace_;
    std::chrono::steady_clock::time_point reported_ = std::chrono::steady_clock::now();
    std::mutex mutex_;
    std::exception_ptr failure_;
};

}  // namespace tradewind::sim
