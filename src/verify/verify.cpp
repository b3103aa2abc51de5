#include "verify/verify.hpp"

#include "base/checked.hpp"
#include "base/error.hpp"
#include "schedule/mirror.hpp"
#include "schedule/transport.hpp"
#include "verify/deadlock.hpp"
#include "verify/match.hpp"
#include "verify/movement.hpp"
#include "verify/reduction.hpp"
#include "verify/sharing.hpp"

namespace tradewind::verify {

namespace {

// A schedule that adds is right exactly when its mirror image moves every point to where it is wanted, once: then it is
// the transposed matrix that it adds by. Its own messages are those that could deadlock.
struct Mirrored {
    explicit Mirrored(const schedule::Schedule& schedule)
        : image(std::shared_ptr<const schedule::Schedule>(std::shared_ptr<void>(), &schedule),
                schedule.pattern().forward()),
          movement(image) {}
    void run_stage(int, const std::vector<Match>&) {}
    void finish() {
        for (int stage = 0; stage < image.stages(); ++stage) movement.run_stage(stage, match_stage(image, stage));
        movement.finish();
    }
    Index copied() const { return movement.copied(); }

    schedule::Mirror image;
    Movement movement;
};

using Orders = std::vector<const schedule::TransportEntry*>;

template <class Model>
Verified run(const schedule::Schedule& schedule, Model& model, const Orders& orders,
             const std::function<void(int)>& progress) {
    Verified verified{schedule.ranks(), schedule.stages()};
    for (int stage = 0; stage < schedule.stages(); ++stage) {
        progress(stage);
        const std::vector<Match> matches = match_stage(schedule, stage);
        model.run_stage(stage, matches);
        for (const schedule::TransportEntry* order : orders) check_deadlock(schedule, stage, matches, *order);
        verified.messages += static_cast<Index>(matches.size());
        for (const Match& m : matches) {
            add_checked(verified.points, m.count, "messages of all ranks", "points");
            verified.largest = std::max(verified.largest, m.count);
        }
    }
    model.finish();
    return verified;
}

}  // namespace

Verified prove(const schedule::Schedule& schedule, const std::vector<std::string>& transports,
               const std::function<void(int)>& progress) {
    Orders orders;
    for (const std::string& name : transports) orders.push_back(&tradewind::schedule::transport(name));
    if (schedule.pattern().partial())
        throw InputError("the " + schedule.pattern().describe() +
                         " describes one rank alone: make it of the lists of all ranks to verify it");
    const auto moved = [&](auto model) {
        Verified verified = run(schedule, *model, orders, progress);
        verified.copied = model->copied();
        return verified;
    };
    if (const auto* whole = dynamic_cast<const pattern::GatherScatter*>(&schedule.pattern()))
        return moved(std::make_unique<Sharing>(schedule, *whole));
    if (schedule.pattern().reduces()) {
        Reduction reduction(schedule);
        return run(schedule, reduction, orders, progress);
    }
    return schedule.adds() ? moved(std::make_unique<Mirrored>(schedule)) : moved(std::make_unique<Movement>(schedule));
}

}  // namespace tradewind::verify
