#include "schedule/one_by_one.hpp"

#include "base/error.hpp"
#include "testing/drawing.hpp"

namespace testing::schedule_one_by_one {

using namespace tradewind;

PROPERTY("the same messages in the same order, one sent and one received in a stage, or an error that names one", 500) {
    const auto whole = draw_schedule(draw, draw_slab_transpose(draw, 12));
    SchedulePtr single;
    try {
        single = schedule::one_by_one(whole);
    } catch (const InputError& error) {
        CHECK(std::string(error.what()).starts_with("posting sendrecv: message "));
        return;
    }
    for (Rank rank = 0; rank < whole->ranks(); ++rank) {
        std::vector<std::array<Index, 4>> expected, found;
        for (const bool sending : {true, false}) {
            const auto messages = sending ? sent : received;
            const auto add = [&](auto& list, const schedule::Schedule& schedule, int stage) {
                for (const auto& m : messages(schedule, rank, stage)) list.push_back({sending, m.peer, m.count, m.tag});
            };
            for (int stage = 0; stage < whole->stages(); ++stage) add(expected, *whole, stage);
            for (int stage = 0; stage < single->stages(); ++stage) {
                add(found, *single, stage);
                CHECK(messages(*single, rank, stage).size() <= 1);
            }
        }
        CHECK(found == expected);
    }
}

}  // namespace testing::schedule_one_by_one
