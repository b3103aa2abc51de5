#include "verify/deadlock.hpp"

#include <algorithm>
#include <cstdio>

#include "base/error.hpp"
#include "testing/drawing.hpp"
#include "verify/damage.hpp"

namespace testing::verify_deadlock {

using namespace tradewind;
using algorithm::make_schedule;

SchedulePtr reversed(Rank rank) {
    return verify::damaged(make_schedule(row_of(6, {24, 6, 24}), "burst"), "reverse", rank, 0, 0);
}

TEST("sends in reverse order deadlock with sendrecv, and the cycle is named") {
    std::string text;
    try {
        verified(*reversed(2), "sendrecv");
    } catch (const VerificationError& error) {
        text = error.what();
    }
    CHECK(text.starts_with("deadlock in stage 0 with sendrecv: "));
    std::vector<std::array<int, 2>> waits;
    for (auto at = text.find("rank "); at != text.npos; at = text.find("rank ", at + 1)) {
        int rank = 0, other = 0, tag = 0;
        for (const auto* wait :
             {"rank %d waits to send to rank %d (tag %d)", "rank %d waits to receive from rank %d (tag %d)"}) {
            if (std::sscanf(text.c_str() + at, wait, &rank, &other, &tag) == 3) waits.push_back({rank, other});
        }
    }
    CHECK(waits.size() > 1);
    for (std::size_t i = 0; i < waits.size(); ++i) CHECK_EQUAL(waits[i][1], waits[(i + 1) % waits.size()][0]);
    CHECK(text.ends_with("a cycle of " + std::to_string(waits.size()) + " ranks"));
}

TEST("other posting orders do not mind") {
    for (const auto* transport : {"isend-recv", "send-irecv", "isend-irecv", "even-odd"}) {
        CHECK_EQUAL(verified(*reversed(2), transport).messages, 30);
    }
}

TEST("the stage of a deadlock is named") {
    const auto schedule = verify::damaged(make_schedule(row_of(9, {9, 1, 9}), "ring-4"), "reverse", 0, 1, 0);
    CHECK_THROWS(VerificationError, ({"deadlock in stage 1 with sendrecv"}), verified(*schedule, "sendrecv"));
}

TEST("rings of every size are free of deadlock") {  // in odd ones a neighbour takes the same turn
    for (Rank ranks = 1; ranks < 25; ++ranks) {
        for (const auto* name : {"ring-1", "burst"}) {
            CHECK_EQUAL(proved(*make_schedule(row_of(ranks, {30, 1, 30}), name)).messages, ranks * (ranks - 1));
        }
    }
}

TEST("ranks at the edge, which have fewer neighbours, do not block the others") {
    const layout::Blocks layout(layout::Grid(15, 10, 1), {5, 5});
    for (const auto& periodic : {std::array{false, false}, {true, false}, {true, true}}) {
        const auto halo = std::make_shared<pattern::Halo>(layout, 7, periodic);
        for (const auto* name : {"sweep", "direct"}) CHECK(proved(*make_schedule(halo, name)).messages > 0);
    }
}

// Whether ranks get stuck: all that can go on does, one operation at a time, until nothing can.
bool gets_stuck(const schedule::Schedule& schedule, int stage, schedule::PostingOrder posting) {
    struct State {
        std::vector<schedule::Operation> operations;
        std::size_t next = 0;
        std::vector<bool> posted_sends, posted_receives;
    };
    std::vector<State> ranks;
    for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
        ranks.push_back({posting(schedule, rank, stage), 0,
                         std::vector<bool>(static_cast<std::size_t>(schedule.sends(rank, stage))),
                         std::vector<bool>(static_cast<std::size_t>(schedule.receives(rank, stage)))});
    }
    // Whether the other end of a message has been posted.
    const auto met = [&](Rank rank, const schedule::Operation& operation) {
        const auto& [sending, j] = std::pair{operation.sending, operation.j};
        const auto mine = sending ? schedule.send(rank, stage, j) : schedule.receive(rank, stage, j);
        const auto& other = ranks[static_cast<std::size_t>(mine.peer)];
        const auto& posted = sending ? other.posted_receives : other.posted_sends;
        for (int k = 0; k < static_cast<int>(posted.size()); ++k) {
            const auto theirs = sending ? schedule.receive(mine.peer, stage, k) : schedule.send(mine.peer, stage, k);
            if (theirs.count > 0 && theirs.peer == rank && theirs.tag == mine.tag) {
                return bool{posted[static_cast<std::size_t>(k)]};
            }
        }
        return false;
    };
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
            auto& state = ranks[static_cast<std::size_t>(rank)];
            while (state.next < state.operations.size()) {
                const auto& operation = state.operations[state.next];
                if (operation.kind == schedule::Operation::wait && !met(rank, operation)) break;
                if (operation.kind == schedule::Operation::post) {
                    auto& posted = operation.sending ? state.posted_sends : state.posted_receives;
                    posted[static_cast<std::size_t>(operation.j)] = true;
                }
                ++state.next, goes_on = true;
            }
        }
    }
    return std::any_of(ranks.begin(), ranks.end(), [](auto& state) { return state.next < state.operations.size(); });
}

PROPERTY("a deadlock is found exactly where ranks that go on as far as they can get stuck", 5000) {
    PatternPtr pattern = draw_slab_transpose(draw, 12);
    if (draw.boolean()) pattern = draw_halo(draw, 12, 6);
    auto schedule = draw_schedule(draw, pattern);
    if (schedule->stages() == 0) return;
    const auto stage = static_cast<int>(draw.integer(0, schedule->stages() - 1));
    for (Index left = draw.integer(0, 3); left > 0; --left) {
        const auto rank = static_cast<Rank>(draw.integer(0, schedule->ranks() - 1));
        for (int j = 0; j < schedule->sends(rank, stage); ++j) {
            if (schedule->send(rank, stage, j).count == 0) continue;
            schedule = verify::damaged(schedule, "reverse", rank, stage, j);
            break;
        }
    }
    const auto& transport = draw.from(schedule::transports());
    draw.note("stage " + std::to_string(stage) + " with " + transport.name);
    const auto matches = verify::match_stage(*schedule, stage);
    if (gets_stuck(*schedule, stage, transport.posting)) {
        CHECK_THROWS(VerificationError, ({"deadlock in stage " + std::to_string(stage), " with " + transport.name}),
                     verify::check_deadlock(*schedule, stage, matches, transport));
    } else {
        verify::check_deadlock(*schedule, stage, matches, transport);
    }
}

}  // namespace testing::verify_deadlock
