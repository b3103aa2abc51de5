#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "sim/clock.hpp"
#include "sim/computing.hpp"
#include "sim/ending.hpp"
#include "sim/loggp_messages.hpp"
#include "sim/loggp_order.hpp"
#include "sim/minimum_time.hpp"
#include "sim/simulate.hpp"

namespace tradewind::sim {

namespace {

// All ranks through one stage: from the times at which they begin it to those at which they end it. Each sender
// computes when its messages arrive at their receivers, so that a stage costs no more than its messages.
class StageTimes {
  public:
    StageTimes(const LogGpMessages& messages, const program::Program& program)
        : messages_(messages),
          program_(program),
          ranks_(0, program.ranks()),
          received_(static_cast<std::size_t>(program.ranks())),
          left_(received_.size()) {}

    // Replaces the times in `time`.
    template <class Check>
    void pass(const schedule::Schedule& schedule, int stage, std::vector<std::int64_t>& time, SimulationResult& result,
              Check check) {
        std::fill(received_.begin(), received_.end(), LogGpReceived{});
        const LogGpStage at{schedule, stage, program_.bytes_per_point(), ranks_};
        const auto received = [this](Rank peer) -> LogGpReceived& { return received_[peer]; };
        for (Rank r = 0; r < program_.ranks(); ++r) {
            std::int64_t free = time[r];
            left_[r] = messages_.send(at, r, time[r], free, result, received);
            if (r % ranks_per_check == 0) check(r);
        }
        for (Rank r = 0; r < program_.ranks(); ++r) time[r] = messages_.end(received_[r], time[r], left_[r]);
    }

  private:
    static constexpr Rank ranks_per_check = 64;

    const LogGpMessages& messages_;
    const program::Program& program_;
    program::Members ranks_;
    std::vector<LogGpReceived> received_;  // [rank]
    std::vector<std::int64_t> left_;       // [rank]
};

void wait_for(const std::vector<std::int64_t>& done, std::vector<std::int64_t>& time) {
    for (std::size_t r = 0; r < done.size(); ++r) time[r] = std::max(time[r], done[r]);
}

}  // namespace

SimulationResult simulate_loggp(const machine::Machine& machine, const program::Program& program,
                                const machine::Placement& placement, const SimulationOptions& options) {
    machine.check();
    if (options.noise.any())
        throw InputError("model 'loggp': the noise of an operating system needs the model 'packet'");
    sim::check_minimum_time(machine, program, placement, options);
    const LogGpMessages messages(machine, placement, options.one_sided);
    if (program.order()) return loggp_of_order(messages, machine, program, placement, options);
    StageTimes times(messages, program);
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
