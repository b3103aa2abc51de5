#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "base/error.hpp"
#include "machine/routing/dispatch.hpp"
#include "sim/engine.hpp"
#include "sim/pace.hpp"

namespace tradewind {

namespace sim {

namespace {

// With fewer events a window than this for each thread, more threads do not pay.
constexpr double few_events = 300;
// From this many events a window on, chunks are long.
constexpr double full_window = 16;
// The first thread, alone, looks up after so many windows, or events where these are full.
constexpr int look_up_windows = 64;
constexpr std::uint64_t look_up_events = 50'000;
// How often the caller hears of progress.
constexpr std::chrono::milliseconds between_calls{100};

template <class Routing>
class Engine {
  public:
    Engine(World<Routing>& world, const SimulationOptions& options, double events_a_window)
        : world_(world), options_(options), barrier_(options.threads) {
        const std::uint32_t events_a_chunk = events_a_window < full_window ? 7 : 63;
        for (auto& reports : reports_) reports.resize(static_cast<std::size_t>(options.threads));
        for (int p = 0; p < options.threads; ++p)
            parts_.push_back(std::make_unique<Part<Routing>>(world, p, options.threads, events_a_chunk));
    }

    void run() {
        {
            std::vector<std::jthread> others;
            for (int p = 1; p < options_.threads; ++p) others.emplace_back([this, p] { work(p); });
            work(0);
        }
        if (failure_) std::rethrow_exception(failure_);
    }

    std::uint64_t windows() const { return windows_; }
    std::uint64_t windows_alone() const { return windows_alone_; }

    const std::vector<std::unique_ptr<Part<Routing>>>& parts() const { return parts_; }

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
                    parts_[id]->process(all.next, parts_);
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
                for (auto& part : parts_) part->process(all.next, parts_);
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
            if (!options_.progress(Picoseconds{all.next << world_.shift}, Bytes{all.arrived})) throw Interrupted();
        }
        return options_.threads == 1 || (options_.adaptive && pace_.alone(all.events, now));
    }

    static Report sum(const std::vector<Report>& reports) {
        Report all;
        for (const Report& report : reports) {
            all.next = std::min(all.next, report.next);
            all.events += report.events;
            all.arrived += report.arrived;
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

    World<Routing>& world_;
    const SimulationOptions& options_;
    Barrier barrier_;
    std::array<std::vector<Report>, 2> reports_;  // [round % 2][part]
    std::vector<std::unique_ptr<Part<Routing>>> parts_;
    std::uint64_t windows_ = 0, windows_alone_ = 0;
    Pace pace_;
    std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
    std::mutex mutex_;
    std::exception_ptr failure_;
};

// The bound and the imbalance of a finished run.
void judge_load(const Network& network, SimulationResult& result) {
    const auto time = [&](std::uint64_t bytes, std::uint32_t rate) {
        return Picoseconds{static_cast<std::int64_t>(static_cast<double>(bytes) *
                                                     static_cast<double>(network.rates[rate].byte_time) / 65536)};
    };
    const auto consider = [&](Picoseconds needed, const char* what) {
        if (needed > result.bound) {
            result.bound = needed;
            result.bound_by = what;
        }
    };
    std::uint64_t most = 0, total = 0, used = 0;
    for (const Port& port : network.ports) {
        if (port.bytes == 0) continue;
        const bool terminal = port.kind == static_cast<std::uint8_t>(LinkKind::terminal);
        const bool global = port.kind == static_cast<std::uint8_t>(LinkKind::global);
        consider(time(port.bytes, port.rate), terminal ? "ejection" : global ? "global link" : "link");
        if (terminal) continue;
        most = std::max(most, port.bytes);
        total += port.bytes;
        ++used;
    }
    for (const Nic& nic : network.nics) consider(time(nic.bytes, Network::injection), "injection");
    if (total > 0)
        result.imbalance = static_cast<double>(most) * static_cast<double>(used) / static_cast<double>(total);
}

// Packets of a message that a rank sends first, times the ports on a path, over the time that the NIC takes for one:
// what a window would hold if every rank sent without a pause.
double events_a_window(const Machine& machine, const Program& program, const SimulationOptions& options) {
    const std::int64_t most = options.packet.value > 0 ? options.packet.value : SimulationOptions::largest_packet;
    double packet = 1;
    const Schedule& schedule = *program.steps().front().schedule;
    for (int j = 0; schedule.stages() > 0 && j < schedule.sends(0, 0); ++j)
        packet = std::max(
            packet, static_cast<double>(std::min(most, schedule.send(0, 0, j).count * program.bytes_per_point())));
    const double packet_time = packet / machine.injection.bandwidth.value;
    const double window = std::min(machine.local.latency.value, machine.injection.latency.value) * 1e-12;
    return program.ranks() * 5.0 * window / packet_time;
}

template <class Routing>
SimulationResult simulate_with(const Machine& machine, const Program& program, const Placement& placement,
                               const SimulationOptions& asked, Routing routing) {
    SimulationOptions options = asked;
    const double events = events_a_window(machine, program, options);
    if (options.adaptive)
        options.threads = static_cast<int>(std::clamp(events / few_events, 1.0, static_cast<double>(asked.threads)));
    auto world = std::make_unique<World<Routing>>(machine, program, placement, options, std::move(routing));
    Engine<Routing> engine(*world, options, events);
    SimulationResult result;
    result.step_end.resize(program.steps().size());
    engine.run();
    result.windows = engine.windows();
    result.solo_windows = engine.windows_alone();
    std::int64_t finished = 0, arrived = 0;
    for (const auto& part : engine.parts()) part->add_to(result, finished, arrived);
    if (finished != program.ranks() || arrived != result.bytes)
        throw std::runtime_error(std::to_string(program.ranks() - finished) +
                                 " ranks wait for messages that nobody sends: verify the schedule");
    for (Picoseconds& end : result.step_end) {  // a step without stages ends with the one before
        end = std::max(end, result.time);
        result.time = end;
    }
    judge_load(world->network, result);
    result.port_bytes.reserve(world->network.ports.size());
    result.nic_bytes.reserve(world->network.nics.size());
    for (const Port& port : world->network.ports) result.port_bytes.push_back(port.bytes);
    for (const Nic& nic : world->network.nics) result.nic_bytes.push_back(nic.bytes);
    return result;
}

}  // namespace

}  // namespace sim

SimulationResult simulate_packets(const Machine& machine, const Program& program, const Placement& placement,
                                  const SimulationOptions& options) {
    machine.check();
    if (options.packet.value < 0 || options.packet.value > SimulationOptions::largest_packet)
        throw InputError("packet of " + std::to_string(options.packet.value) + " bytes: 1 to " +
                         std::to_string(SimulationOptions::largest_packet) + " are allowed, or one packet a message");
    if (options.threads < 1 || options.threads > 256)
        throw InputError(std::to_string(options.threads) + " threads: 1 to 256 are allowed");
    return with_routing(machine, [&](auto routing) {
        return sim::simulate_with(machine, program, placement, options, std::move(routing));
    });
}

}  // namespace tradewind
