#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "sim/simulate.hpp"

namespace tradewind {

namespace {

// A path without traffic: its latency, and the byte time (ps) of its slowest link.
struct Path {
    std::int64_t latency = 0;
    double byte_time = 0;
};

class Paths {
  public:
    Paths(const Machine& machine, const Placement& placement) : machine_(machine), placement_(placement) {}

    bool same_node(Rank a, Rank b) const { return placement_.node(a) == placement_.node(b); }
    double memory_byte_time() const { return 1e12 / machine_.memory_bandwidth.value; }
    double injection_byte_time() const { return 1e12 / machine_.injection.bandwidth.value; }

    Path between(Rank a, Rank b) const {
        const Topology& topology = *machine_.topology;
        const auto links =
            topology.distance(topology.switch_of(placement_.node(a)), topology.switch_of(placement_.node(b)));
        Path path{0, 0};
        const auto cross = [&](const LinkRate& rate, int times) {
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
    const Machine& machine_;
    const Placement& placement_;
};

// All ranks through one stage: from the times at which they begin it to those at which they end it.
class StageTimes {
  public:
    StageTimes(const Machine& machine, const Program& program, const Placement& placement)
        : machine_(machine), program_(program), paths_(machine, placement) {}

    std::int64_t end(Rank r, const Schedule& schedule, int stage, const std::vector<std::int64_t>& begin,
                     SimulationResult& result) const {
        std::int64_t end = begin[r], bytes_received = 0, last = 0, received = 0;
        for (int j = 0, n = schedule.receives(r, stage); j < n; ++j) {
            const Message message = schedule.receive(r, stage, j);
            if (message.count == 0) continue;
            ++received;
            bytes_received += message.count * program_.bytes_per_point();
            last = std::max(last, arrival(r, message, schedule, stage, begin));
        }
        // The receiver's NIC takes its bytes one after another; its CPU each message in turn.
        const auto drain =
            static_cast<std::int64_t>(static_cast<double>(bytes_received) * 1e12 / machine_.ejection.bandwidth.value);
        if (received > 0) end = std::max({end, last, begin[r] + drain}) + received * machine_.receive_overhead.value;
        return std::max(end, departure(r, schedule, stage, -1, begin, &result));
    }

  private:
    // When the message to a peer (with a tag) has left the sender, or with tag -1 when all have.
    std::int64_t departure(Rank r, const Schedule& schedule, int stage, std::int64_t tag,
                           const std::vector<std::int64_t>& begin, SimulationResult* result, Rank peer = -1) const {
        std::int64_t post = begin[r], left = begin[r];
        for (int j = 0, n = schedule.sends(r, stage); j < n; ++j) {
            const Message message = schedule.send(r, stage, j);
            if (message.count == 0) continue;
            const std::int64_t bytes = message.count * program_.bytes_per_point();
            post += machine_.send_overhead.value;
            const double byte_time =
                paths_.same_node(r, message.peer) ? paths_.memory_byte_time() : paths_.injection_byte_time();
            left = std::max(left, post) + static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) * byte_time));
            if (result) {
                ++result->messages;
                result->bytes += bytes;
            }
            if (message.peer == peer && message.tag == tag) return left;
        }
        return left;
    }

    std::int64_t arrival(Rank r, const Message& message, const Schedule& schedule, int stage,
                         const std::vector<std::int64_t>& begin) const {
        const std::int64_t left = departure(message.peer, schedule, stage, message.tag, begin, nullptr, r);
        if (paths_.same_node(r, message.peer)) return left;
        const Path path = paths_.between(message.peer, r);
        const double bytes = static_cast<double>(message.count) * static_cast<double>(program_.bytes_per_point());
        // Its tail leaves the NIC at injection speed and arrives at the speed of the slowest link.
        return left + path.latency + static_cast<std::int64_t>(bytes * (path.byte_time - paths_.injection_byte_time()));
    }

    const Machine& machine_;
    const Program& program_;
    Paths paths_;
};

}  // namespace

SimulationResult simulate_loggp(const Machine& machine, const Program& program, const Placement& placement,
                                const SimulationOptions& options) {
    machine.check();
    const StageTimes times(machine, program, placement);
    const auto ranks = static_cast<std::size_t>(program.ranks());
    std::vector<std::int64_t> begin(ranks, 0), end(ranks);
    SimulationResult result;
    for (const Step& step : program.steps()) {
        for (int turn = 0; turn < step.repeat; ++turn)
            for (int stage = 0; stage < step.schedule->stages(); ++stage) {
                for (Rank r = 0; r < program.ranks(); ++r) end[r] = times.end(r, *step.schedule, stage, begin, result);
                begin.swap(end);
                const Picoseconds now{*std::max_element(begin.begin(), begin.end())};
                if (options.progress && !options.progress(now, Bytes{result.bytes})) throw Interrupted();
            }
        result.step_end.push_back({*std::max_element(begin.begin(), begin.end())});
    }
    result.time = result.step_end.back();
    return result;
}

}  // namespace tradewind
