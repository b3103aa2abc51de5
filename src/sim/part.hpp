// One part of a simulation: some of the switches, with their nodes and ranks; a thread's share.
//
// Time is cut into windows no longer than the smallest latency, so that nothing that happens in a window has an effect
// elsewhere before the next one. In a window each part (1) takes the packets that arrive at its switches and finds
// their ports, (2) lets them pass, port by port in the order of (time, input port), (3) processes the events of its
// ranks. Steps 2 and 3 only ever touch the part's own state and put events into later windows, so a barrier a window is
// all the synchronisation there is (and a buffer, between processes), and the order of events does not depend on the
// number of parts: two packets never enter one input port at one time.
#pragma once

#include <memory>
#include <vector>

#include "base/checked.hpp"
#include "sim/ranks.hpp"
#include "sim/report.hpp"
#include "sim/share.hpp"
#include "sim/switches.hpp"

namespace tradewind::sim {

class Part {
  public:
    Part(World& world, const SwitchFactory& switches, std::uint32_t id, std::uint32_t events_per_chunk)
        : world_(world),
          outbox_(world.parts, id, world.shift, events_per_chunk),
          ranks_(world, outbox_, id),
          switches_(switches.make(world, outbox_, ranks_)) {}

    Outbox& outbox() { return outbox_; }
    Ranks& ranks() { return ranks_; }
    Switches& switches() { return *switches_; }

    void start() {
        outbox_.enter(0);
        ranks_.start();
        outbox_.flush();
    }

    void process(std::int64_t window, const std::vector<Outbox*>& outboxes) {
        outbox_.enter(window);
        const std::size_t slices = switches_->collect(outboxes);
        for (std::size_t i = 0; i < slices; ++i) {
            if (i + 1 == slices) ranks_.take();
            switches_->process(i);
        }
        ranks_.process();
        outbox_.flush();
    }

    Report report() {
        Report report;
        report.next = outbox_.next();
        report.events = events();
        report.arrived = ranks_.counts().arrived;
        if (report.arrived < 0) [[unlikely]]  // a window brings far less than half of what can be counted
            refuse_count("messages of the simulation", "more", "bytes", max_counted);
        report.hops = switches_->hops() + ranks_.counts().hops;
        report.furthest = ranks_.counts().furthest;
        report.begun = ranks_.begun();
        if (world_.ending.asks()) report.ended = ranks_.counts().ended[world_.ending.next()];
        return report;
    }
    // When the last rank here ended a step, in ps.
    std::int64_t step_end(std::size_t step) const { return ranks_.counts().step_end[step]; }

    void tally(Tally& count) {
        switches_->tally(count);
        ranks_.tally(count);
    }

    void add_to(Share& share) const {
        const Ranks::Counts& counts = ranks_.counts();
        SimulationResult& result = share.result;
        for (std::size_t i = 0; i < result.step_end.size(); ++i)
            result.step_end[i] = std::max(result.step_end[i], Picoseconds{counts.step_end[i]});
        result.messages += counts.messages;
        result.bytes += counts.sent;
        result.unexpected_bytes += counts.unexpected;
        result.packet_hops += switches_->hops() + counts.hops;
        result.events += events();
        switches_->delays().add_to(result);
        const std::vector<Passage>& passages = switches_->passages();
        result.passages.insert(result.passages.end(), passages.begin(), passages.end());
        ranks_.add_trace_events_to(result.trace_events);
        if (ranks_.replay()) ranks_.replay()->add_to(result);
        result.busy.merge(counts.busy);
        share.finished += counts.finished;
        share.arrived += counts.arrived;
    }

  private:
    std::uint64_t events() const { return switches_->events() + ranks_.counts().actions; }

    const World& world_;
    Outbox outbox_;
    Ranks ranks_;
    std::unique_ptr<Switches> switches_;
};

}  // namespace tradewind::sim
