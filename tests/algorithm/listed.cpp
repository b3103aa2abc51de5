// Messages that are listed one by one.
#include "algorithm/listed.hpp"

#include <array>
#include <set>

#include "base/error.hpp"
#include "testing/drawing.hpp"

namespace testing::algorithm_listed {

using namespace tradewind;
using algorithm::ListedMessage;

// Those of a schedule, as they are sent.
std::vector<ListedMessage> messages_of(const schedule::Schedule& schedule) {
    std::vector<ListedMessage> all;
    for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
        for (int stage = 0; stage < schedule.stages(); ++stage) {
            for (const auto& m : sent(schedule, rank, stage)) {
                all.push_back({stage, rank, m.peer, m.count, m.tag, m.parity});
            }
        }
    }
    return all;
}

using Ends = std::set<std::array<std::int64_t, 4>>;

Ends ends_of(const std::vector<schedule::Message>& messages) {
    Ends all;
    for (const auto& m : messages) all.insert({m.peer, m.count, m.tag, m.parity});
    return all;
}

PROPERTY("listed messages are those of the schedule that they were taken from, and every one arrives", 200) {
    static const std::vector<std::string> patterns{"transpose", "halo", "fetch", "allreduce"};
    const auto schedule = draw_schedule(draw, draw_pattern(draw, draw.from(patterns)));
    const auto listed = algorithm::listed(schedule->ranks(), messages_of(*schedule));
    for (Rank rank = 0; rank < schedule->ranks(); ++rank) {
        for (int stage = 0; stage < schedule->stages(); ++stage) {
            if (stage >= listed->stages()) {
                CHECK(sent(*schedule, rank, stage).empty());
                continue;
            }
            CHECK(ends_of(sent(*listed, rank, stage)) == ends_of(sent(*schedule, rank, stage)));
            CHECK(ends_of(received(*listed, rank, stage)) == ends_of(received(*schedule, rank, stage)));
        }
    }
    proved(*listed);
}

TEST("where all send to one rank there are as many rounds as ends of messages, and no two meet in one") {
    constexpr Rank ranks = 20'000;
    std::vector<ListedMessage> messages;
    for (Rank rank = 1; rank < ranks; ++rank) messages.push_back({0, rank, 0, 1, 0, 0});
    const auto listed = algorithm::listed(ranks, messages);
    std::int64_t rounds = 0;
    for (Rank rank = 0; rank < ranks; ++rank) rounds += listed->sends(rank, 0);
    CHECK_EQUAL(rounds, 2 * (ranks - 1));
    for (Rank rank = 1; rank < ranks; ++rank) CHECK_EQUAL(listed->receive(0, 0, rank - 1).peer, rank);
}

TEST("a message that cannot be is refused") {
    const std::vector<std::pair<ListedMessage, std::string>> wrong{
        {{0, 0, 3, 1, 0, 0}, "message 1: rank 3; 0..2 are allowed"},
        {{0, 1, 1, 1, 0, 0}, "message 1: rank 1 sends to itself"},
        {{-1, 0, 2, 1, 0, 0}, "message 1: stage -1"},
        {{0, 0, 2, 0, 0, 0}, "message 1: 0 points"},
        {{0, 0, 2, 1, 0, 2}, "message 1: half 2"},
        {{0, 0, 1, 7, 0, 0}, "message 1: rank 0 sends rank 1 a second one with tag 0 in stage 0"},
    };
    for (const auto& [message, words] : wrong)
        CHECK_THROWS(InputError, ({words}), algorithm::listed(3, {{0, 0, 1, 1, 0, 0}, message}));
}

}  // namespace testing::algorithm_listed
