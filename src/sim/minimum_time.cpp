#include "sim/minimum_time.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "sim/clock.hpp"
#include "sim/computing.hpp"

namespace tradewind::sim {

namespace {

// The stages and messages of a rank's schedule that are counted; more would only make its time longer.
constexpr int enough = 4096;
// The times of one rank, in seconds.
struct Needs {
    double sending = 0;    // stage after stage
    double receiving = 0;  // in all: what others send may come before its stage
};

class MinimumTime {
  public:
    MinimumTime(const machine::Machine& machine, const program::Program& program, const machine::Placement& placement,
                const SimulationOptions& options)
        : machine_(machine), program_(program), placement_(placement), options_(options) {}

    double of(Rank rank) const {
        std::map<std::pair<const schedule::Schedule*, std::int64_t>, Needs> known;
        double sending = 0, receiving = 0, alone = 0;
        for (const program::Step& step : program_.steps()) {
            Needs needs;
            if (step.exchanges()) {
                const auto [found, is_new] = known.try_emplace({step.schedule.get(), program_.bytes_per_point(step)});
                if (is_new) found->second = of(rank, *step.schedule, program_.bytes_per_point(step));
                needs = found->second;
            }
            const double computing =
                step.is_of(rank) ? time_of(step.compute, machine_, placement_, step.members.place(rank)).seconds() : 0;
            if (program_.order()) {
                sending += step.repeat * needs.sending;
                alone += step.repeat * computing;
            } else {  // a computation goes on beside the exchange
                sending += step.repeat * std::max(needs.sending, computing);
            }
            receiving += step.repeat * needs.receiving;
        }
        return std::max({sending, receiving, alone});
    }

  private:
    Needs of(Rank rank, const schedule::Schedule& schedule, std::int64_t bytes_per_point) const {
        Needs needs;
        int looks = 0;
        for (int stage = 0; stage < schedule.stages() && looks < enough; ++stage, ++looks) {
            double out = 0, copied = 0, posted = 0;
            for (int j = 0, n = schedule.sends(rank, stage); j < n && looks < enough; ++j, ++looks) {
                const schedule::Message message = schedule.send(rank, stage, j);
                if (message.count == 0) continue;
                (is_near(rank, message) ? copied : out) += bytes(message, bytes_per_point);
                posted += machine_.send_overhead.seconds();
            }
            // A transport that is named may do without the copies and the overhead.
            const double others = options_.intranode ? 0 : std::max(posted, copied / copy_rate());
            needs.sending += std::max(out / (machine_.injection.bandwidth.value * machine_.nics), others);
            for (int j = 0, n = schedule.receives(rank, stage); j < n && looks < enough; ++j, ++looks) {
                const schedule::Message message = schedule.receive(rank, stage, j);
                if (!is_near(rank, message))
                    needs.receiving +=
                        bytes(message, bytes_per_point) / (machine_.ejection.bandwidth.value * machine_.nics);
            }
        }
        return needs;
    }

    bool is_near(Rank rank, const schedule::Message& message) const {
        return placement_.node(rank) == placement_.node(message.peer);
    }
    static double bytes(const schedule::Message& message, std::int64_t bytes_per_point) {
        return static_cast<double>(message.count) * static_cast<double>(bytes_per_point);
    }
    // Each NIC of a node has a queue, in which copies take their turn too.
    double copy_rate() const {
        return std::min(machine_.memory_bandwidth.value, machine_.copy_bandwidth.value) * machine_.nics;
    }

    const machine::Machine& machine_;
    const program::Program& program_;
    const machine::Placement& placement_;
    const SimulationOptions& options_;
};

}  // namespace

void check_minimum_time(const machine::Machine& machine, const program::Program& program,
                        const machine::Placement& placement, const SimulationOptions& options) {
    const MinimumTime time(machine, program, placement, options);
    const Rank ranks = program.ranks();
    for (const Rank rank : std::set<Rank>{0, ranks / 3, ranks - 1})  // the first one has the largest part of a grid
        if (const double seconds = time.of(rank); seconds > latest.seconds())
            refuse_time("the messages and computations of rank " + std::to_string(rank) + " take at least", seconds);
}

}  // namespace tradewind::sim
