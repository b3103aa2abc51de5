#include <algorithm>
#include <cmath>
#include <vector>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "sim/clock.hpp"
#include "sim/computing.hpp"
#include "sim/ending.hpp"
#include "sim/minimum_time.hpp"
#include "sim/simulate.hpp"

namespace tradewind::sim {

namespace {

// A path without traffic: its latency, and the byte time (ps) of its slowest link.
struct Path {
    std::int64_t latency = 0;
    double byte_time = 0;
};

class Paths {
  public:
    Paths(const machine::Machine& machine, const machine::Placement& placement)
        : machine_(machine), placement_(placement) {}

    bool same_node(Rank a, Rank b) const { return placement_.node(a) == placement_.node(b); }
    double copy_byte_time() const {
        return 1e12 / std::min(machine_.memory_bandwidth.value, machine_.copy_bandwidth.value);
    }
    // Picoseconds per injected byte of a rank: its messages leave through all NICs of its node.
    double injection_byte_time() const { return 1e12 / (machine_.injection.bandwidth.value * machine_.nics); }

    Path between(Rank a, Rank b) const {
        const machine::Topology& topology = *machine_.topology;
        const auto links = topology.distance(topology.switch_of(placement_.node(a) * machine_.nics),
                                             topology.switch_of(placement_.node(b) * machine_.nics));
        Path path{0, 0};
        const auto cross = [&](const machine::LinkRate& rate, int times) {
            if (times == 0) return;
            path.latency += times * rate.latency.value;
            path.byte_time = std::max(path.byte_time, 1e12 / rate.bandwidth.value);
        };
        cross(machine_.injection, 1);
        cross(machine_.local, links.local);
        cross(machine_.global, links.global);
        cross(machine_.ejection, 1);
        return path;
    }

  private:
    const machine::Machine& machine_;
    const machine::Placement& placement_;
};

// All ranks through one stage: from the times at which they begin it to those at which they end it. Each sender
// computes when its messages arrive at their receivers, so that a stage costs no more than its messages.
class StageTimes {
  public:
    // `one_sided`: as SimulationOptions has it.
    StageTimes(const machine::Machine& machine, const program::Program& program, const machine::Placement& placement,
               bool one_sided)
        : machine_(machine),
          program_(program),
          paths_(machine, placement),
          receive_overhead_(one_sided ? 0 : static_cast<double>(machine.receive_overhead.value)),
          asks_(!one_sided && machine.eager_limit.value >= 0),
          received_(static_cast<std::size_t>(program.ranks())),
          left_(received_.size()) {}

    // Replaces the times in `time`.
    template <class Check>
    void pass(const schedule::Schedule& schedule, int stage, std::vector<std::int64_t>& time, SimulationResult& result,
              Check check) {
        std::fill(received_.begin(), received_.end(), Received{});
        for (Rank r = 0; r < program_.ranks(); ++r) {
            left_[r] = send_all(r, schedule, stage, time[r], result);
            if (r % ranks_per_check == 0) check(r);
        }
        for (Rank r = 0; r < program_.ranks(); ++r) {
            const Received& received = received_[r];
            // The receiver's NICs take its bytes one after another; its CPU each message in repetition.
            const double drain =
                static_cast<double>(received.bytes) * 1e12 / (machine_.ejection.bandwidth.value * machine_.nics);
            if (received.messages > 0)
                time[r] = sim::after(std::max(received.last, sim::after(time[r], drain, ends)),
                                     static_cast<double>(received.messages) * receive_overhead_, ends);
            time[r] = std::max(time[r], left_[r]);
        }
    }

  private:
    static constexpr Rank ranks_per_check = 64;
    static constexpr const char* ends = "a stage ends at";

    struct Received {
        std::int64_t messages = 0, bytes = 0;  // bytes from other nodes
        std::int64_t last = 0;                 // arrival of the last tail, ps
    };

    // Returns when the last message has left.
    std::int64_t send_all(Rank r, const schedule::Schedule& schedule, int stage, std::int64_t begin,
                          SimulationResult& result) {
        std::int64_t post = begin, left = begin;
        for (int j = 0, n = schedule.sends(r, stage); j < n; ++j) {
            const schedule::Message message = schedule.send(r, stage, j);
            if (message.count == 0) continue;
            const std::int64_t bytes = message.count * program_.bytes_per_point();
            const bool same_node = paths_.same_node(r, message.peer);
            const double byte_time = same_node ? paths_.copy_byte_time() : paths_.injection_byte_time();
            post += machine_.send_overhead.value;
            left = sim::after(std::max(left, post), std::ceil(static_cast<double>(bytes) * byte_time), ends);
            ++result.messages;
            add_checked(result.bytes, bytes, "messages of all ranks", "bytes");
            Received& received = received_[message.peer];
            ++received.messages;
            if (!same_node) received.bytes += bytes;
            received.last = std::max(received.last, same_node ? left : arrival(left, r, message.peer, bytes));
        }
        return left;
    }

    // A tail leaves the NIC at injection speed and arrives at the speed of the slowest link.
    std::int64_t arrival(std::int64_t left, Rank from, Rank to, std::int64_t bytes) const {
        const Path path = paths_.between(from, to);
        const double behind = static_cast<double>(bytes) * (path.byte_time - paths_.injection_byte_time());
        // A long message leaves once it has been announced and asked for.
        const bool rendezvous = asks_ && bytes > machine_.eager_limit.value;
        return sim::after(sim::after(left, (rendezvous ? 3 : 1) * path.latency, ends), behind, ends);
    }

    const machine::Machine& machine_;
    const program::Program& program_;
    Paths paths_;
    double receive_overhead_;         // ps
    bool asks_;                       // long messages wait until they are asked for
    std::vector<Received> received_;  // [rank]
    std::vector<std::int64_t> left_;  // [rank]
};

void wait_for(const std::vector<std::int64_t>& done, std::vector<std::int64_t>& time) {
    for (std::size_t r = 0; r < done.size(); ++r) time[r] = std::max(time[r], done[r]);
}

}  // namespace

SimulationResult simulate_loggp(const machine::Machine& machine, const program::Program& program,
                                const machine::Placement& placement, const SimulationOptions& options) {
    machine.check();
    if (program.order())
        throw InputError(
            "model 'loggp': a program with steps start, wait or poke, or with groups of ranks, is simulated by the "
            "model "
            "'packet'");
    if (options.noise.any())
        throw InputError("model 'loggp': the noise of an operating system needs the model 'packet'");
    sim::check_minimum_time(machine, program, placement, options);
    StageTimes times(machine, program, placement, options.one_sided);
    std::vector<std::int64_t> time(static_cast<std::size_t>(program.ranks()), 0);
    SimulationResult result;
    sim::Ending ending(program, options.early_end);
    for (const program::Step& step : program.steps()) {
        const auto check = [&](Rank r) {
            if (options.progress && !options.progress({time[r]}, Bytes{result.bytes}, 0)) throw Interrupted();
        };
        for (int repetition = 0; repetition < step.repeat; ++repetition) {
            // A computation goes on beside the first stage; the next one waits for both.
            std::vector<std::int64_t> computed;
            for (Rank r = 0; step.compute.any() && r < program.ranks(); ++r)
                computed.push_back(sim::after(
                    time[r], time_of(step.compute, machine, placement, r, {mix(options.seed), r, repetition}).value,
                    "a computation ends at"));
            for (int stage = 0; step.exchanges() && stage < step.schedule->stages(); ++stage) {
                times.pass(*step.schedule, stage, time, result, check);
                if (stage == 0) wait_for(computed, time);
            }
            wait_for(computed, time);
        }
        result.step_end.push_back({*std::max_element(time.begin(), time.end())});
        if (ending.asks() && result.step_end.size() == ending.steps_asked()) {
            if (options.early_end.enough(result.step_end)) break;
            ending.conclude(false, 0);
        }
    }
    result.time = result.step_end.back();
    return result;
}

}  // namespace tradewind::sim
