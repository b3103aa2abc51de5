#include "verify/verify.hpp"

#include "schedule/transport.hpp"
#include "verify/deadlock.hpp"
#include "verify/match.hpp"
#include "verify/movement.hpp"
#include "verify/reduction.hpp"

namespace tradewind {

namespace {

template <class Model>
Verified run(const Schedule& schedule, Model& model, const TransportEntry& order,
             const std::function<void(int)>& progress) {
    Verified verified{schedule.ranks(), schedule.stages()};
    for (int stage = 0; stage < schedule.stages(); ++stage) {
        progress(stage);
        const std::vector<Match> matches = match_stage(schedule, stage);
        model.run_stage(stage, matches);
        check_deadlock(schedule, stage, matches, order);
        verified.messages += static_cast<Index>(matches.size());
        for (const Match& m : matches) {
            verified.points += m.count;
            verified.largest = std::max(verified.largest, m.count);
        }
    }
    model.finish();
    return verified;
}

}  // namespace

Verified verify(const Schedule& schedule, const std::string& transport, const std::function<void(int)>& progress) {
    const TransportEntry& order = tradewind::transport(transport);
    if (schedule.pattern().reduces()) {
        Reduction reduction(schedule);
        return run(schedule, reduction, order, progress);
    }
    Movement movement(schedule);
    Verified verified = run(schedule, movement, order, progress);
    verified.copied = movement.copied();
    return verified;
}

}  // namespace tradewind
