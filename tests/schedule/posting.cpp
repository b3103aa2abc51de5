#include "schedule/posting.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "schedule/transport.hpp"
#include "testing/drawing.hpp"

namespace testing::schedule_posting {

using namespace tradewind;
using schedule::Operation;

// "S0" and "R0" for what is posted, "s0" and "r0" for what is awaited.
std::string text_of(const Operation& operation) {
    const char* const letters = operation.kind == Operation::post ? "RS" : "rs";
    return letters[operation.sending] + std::to_string(operation.j) + " ";
}

std::string order(const std::string& transport, Rank rank = 1) {
    std::string text;
    const auto ring = algorithm::make_schedule(row_of(4, {12, 4, 12}), "ring-2");
    for (const auto& each : schedule::transport(transport).posting(*ring, rank, 0)) text += text_of(each);
    return text;
}

TEST("what each posting order does, one call after another") {
    CHECK_EQUAL(order("sendrecv"), "R0 S0 r0 s0 R1 S1 r1 s1 ");
    CHECK_EQUAL(order("isend-recv"), "S0 S1 R0 r0 R1 r1 s0 s1 ");
    CHECK_EQUAL(order("send-irecv"), "R0 R1 S0 s0 S1 s1 r0 r1 ");
    CHECK_EQUAL(order("isend-irecv"), "R0 R1 S0 S1 r0 r1 s0 s1 ");
    CHECK(order("even-odd", 0).starts_with("S0 s0 "));
    CHECK(order("even-odd", 1).starts_with("R0 r0 "));
}

PROPERTY("each message that is not empty is posted once, and awaited after it", 1000) {
    static const std::vector<std::string> patterns{"transpose", "halo", "fetch", "gather-scatter", "allreduce"};
    const auto schedule = draw_schedule(draw, draw_pattern(draw, draw.from(patterns)));
    const auto& transport = draw.from(schedule::transports());
    const auto rank = static_cast<Rank>(draw.integer(0, schedule->ranks() - 1));
    for (int stage = 0; stage < schedule->stages(); ++stage) {
        std::vector<std::string> posted, wanted;
        for (int j = 0; j < schedule->sends(rank, stage); ++j) {
            if (schedule->send(rank, stage, j).count > 0) wanted.push_back(text_of({Operation::post, true, j}));
        }
        for (int j = 0; j < schedule->receives(rank, stage); ++j) {
            if (schedule->receive(rank, stage, j).count > 0) wanted.push_back(text_of({Operation::post, false, j}));
        }
        for (auto operation : transport.posting(*schedule, rank, stage)) {
            const bool waits = operation.kind == Operation::wait;
            operation.kind = Operation::post;
            if (waits) {
                const auto found = std::find(posted.begin(), posted.end(), text_of(operation));
                CHECK(found != posted.end());
                wanted.erase(std::find(wanted.begin(), wanted.end(), *found));
                posted.erase(found);
            } else {
                CHECK(std::find(wanted.begin(), wanted.end(), text_of(operation)) != wanted.end());
                CHECK(std::find(posted.begin(), posted.end(), text_of(operation)) == posted.end());
                posted.push_back(text_of(operation));
            }
        }
        CHECK(wanted.empty() && posted.empty());
    }
}

TEST("every transport goes with known packings, and the default with the default") {
    for (const auto& entry : schedule::transports()) {
        CHECK(!entry.packings.empty());
        for (const auto& name : entry.packings) {
            CHECK(std::any_of(schedule::packings().begin(), schedule::packings().end(),
                              [&](auto& packing) { return packing.name == name; }));
        }
    }
    CHECK_EQUAL(schedule::default_transport().packings.front(), schedule::default_packing().name);
}

TEST("an unknown transport is refused with those that are known") {
    CHECK_THROWS(InputError, ({"unknown transport 'pigeon' (known: sendrecv, isend-recv"}), order("pigeon"));
}

}  // namespace testing::schedule_posting
