// The allreduce algorithms: stages, messages and elements of the closed forms, and onto whom ranks fold.
#include "pattern/allreduce.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "testing/drawing.hpp"

namespace testing::algorithm_allreduce {

using namespace tradewind;

SchedulePtr schedule_of(Rank ranks, Index count, const std::string& name) {
    return algorithm::make_schedule(std::make_shared<pattern::AllReduce>(ranks, count), name);
}

std::vector<Rank> peers(const std::vector<schedule::Message>& messages) {
    std::vector<Rank> ranks;
    for (const auto& message : messages) ranks.push_back(message.peer);
    return ranks;
}

TEST("every radix sums each value once") {
    for (const Rank ranks : {1, 2, 3, 5, 8, 12, 27, 40}) {
        for (Rank k = 2; k <= std::max(2, ranks); ++k) {
            for (const auto* name : {"recursive-", "recursive-near-"}) {
                verified(*schedule_of(ranks, 3, name + std::to_string(k)));
            }
        }
    }
}

TEST("recursive has log_k n stages, and two for a fold") {
    for (const Rank n : {1, 2, 3, 8, 9, 12, 27, 40, 64, 1000, 1'000'000}) {
        for (const Rank k : {2, 3, 5, 8}) {
            if (k > n && n > 1) continue;
            Rank power = 1, digits = 0;
            for (; std::int64_t{power} * k <= n; power *= k) ++digits;
            CHECK_EQUAL(schedule_of(n, 2, "recursive-" + std::to_string(k))->stages(), digits + (power < n ? 2 : 0));
        }
    }
}

TEST("ranks beyond the power fold onto their remainder") {
    for (const auto& [n, k, core] : {std::array{8, 3, 3}, {17, 9, 9}, {40, 7, 7}, {7, 4, 4}}) {
        const auto schedule = schedule_of(n, 1, "recursive-" + std::to_string(k));
        const int last = schedule->stages() - 1;
        for (Rank rank = core; rank < n; ++rank) {
            CHECK_EQUAL(peers(sent(*schedule, rank, 0)), std::vector<Rank>{rank % core});
            CHECK_EQUAL(peers(received(*schedule, rank, last)), std::vector<Rank>{rank % core});
            for (int stage = 1; stage < last; ++stage) CHECK(sent(*schedule, rank, stage).empty());
        }
        CHECK(schedule->combines(0) && !schedule->combines(last));
    }
}

TEST("of recursive-near ranks fold onto the neighbour below, in as many stages") {
    struct Case {
        Rank n, k;
        std::vector<Rank> core;  // i n / m, rounded down, by hand
    };
    for (const auto& [n, k, core] : std::vector<Case>{
             {8, 3, {0, 2, 5}}, {17, 9, {0, 1, 3, 5, 7, 9, 11, 13, 15}}, {7, 4, {0, 1, 3, 5}}, {5, 2, {0, 1, 2, 3}}}) {
        const auto schedule = schedule_of(n, 1, "recursive-near-" + std::to_string(k));
        const int last = schedule->stages() - 1;
        CHECK_EQUAL(schedule->stages(), schedule_of(n, 1, "recursive-" + std::to_string(k))->stages());
        std::size_t messages = 0;
        for (Rank rank = 0; rank < n; ++rank) {
            const Rank onto = *std::prev(std::upper_bound(core.begin(), core.end(), rank));
            const auto folds = onto == rank ? std::vector<Rank>{} : std::vector<Rank>{onto};
            CHECK_EQUAL(peers(sent(*schedule, rank, 0)), folds);
            CHECK_EQUAL(peers(received(*schedule, rank, last)), folds);
            for (int stage = 1; stage < last; ++stage) {
                for (const auto peer : peers(sent(*schedule, rank, stage))) {
                    CHECK(std::binary_search(core.begin(), core.end(), peer));
                }
            }
            messages += sent(*schedule, rank, 1).size();
        }
        CHECK_EQUAL(messages, core.size() * static_cast<std::size_t>(k - 1));
    }
}

TEST("folds are alike where nothing folds") {
    for (const auto& [n, k] : {std::array{8, 2}, {9, 3}, {125, 5}, {1, 2}}) {
        const auto near = schedule_of(n, 2, "recursive-near-" + std::to_string(k));
        const auto far = schedule_of(n, 2, "recursive-" + std::to_string(k));
        for (int stage = 0; stage < far->stages(); ++stage) {
            for (Rank rank = 0; rank < n; ++rank) {
                CHECK_EQUAL(peers(sent(*near, rank, stage)), peers(sent(*far, rank, stage)));
            }
        }
    }
}

TEST("the ring sends the minimum, and no chunk without elements") {
    for (const Rank n : {2, 3, 8, 13}) {
        const auto found = verified(*schedule_of(n, 3 * n, "ring"));
        CHECK_EQUAL(found.stages, 2 * (n - 1));
        CHECK_EQUAL(found.points, 2 * (n - 1) * 3 * n);
    }
    CHECK_EQUAL(verified(*schedule_of(10, 3, "ring")).messages, 2 * 9 * 3);
}

TEST("stages and elements of halving and trees") {
    // Each element is sent n - 1 times to be summed up and n - 1 times to be known, which is the minimum.
    for (Rank n = 1; n <= 100; n += n < 20 ? 1 : 13) {
        for (const Index count : {1, 3, 64, 1000}) {
            const auto bits = static_cast<unsigned>(n);
            const int above = static_cast<int>(std::bit_width(bits - 1)),
                      below = static_cast<int>(std::bit_width(bits)) - 1;
            for (const auto* name : {"halving-doubling", "binomial"}) {
                const auto found = verified(*schedule_of(n, count, name));
                CHECK_EQUAL(found.stages, 2 * above);
                CHECK_EQUAL(found.points, 2 * (n - 1) * count);
            }
            const Index core = Index{1} << below, pairs = n - core;
            const auto folded = verified(*schedule_of(n, count, "rabenseifner"));
            CHECK_EQUAL(folded.stages, 2 * below + (pairs ? 3 : 0));
            // A pair: a half either way, one of them back, and everything at the end.
            CHECK_EQUAL(folded.points, 2 * (core - 1) * count + pairs * (2 * count + count / 2));
        }
    }
}

TEST("halves shrink as distances grow, and back") {
    for (const auto* name : {"rabenseifner", "halving-doubling"}) {
        const auto schedule = schedule_of(16, 64, name);
        const std::vector<int> bits{0, 1, 2, 3, 3, 2, 1, 0};
        for (Rank rank = 0; rank < 16; ++rank) {
            for (int stage = 0; stage < 8; ++stage) {
                const auto messages = sent(*schedule, rank, stage);
                const int bit = bits[static_cast<std::size_t>(stage)];
                CHECK_EQUAL(peers(messages), std::vector<Rank>{rank ^ (1 << bit)});
                CHECK_EQUAL(messages.front().count, 64 >> (bit + 1));
            }
        }
    }
}

TEST("of nine ranks seven play two roles") {
    const auto schedule = schedule_of(9, 64, "halving-doubling");
    for (Rank rank = 0; rank < 9; ++rank) {
        CHECK_EQUAL(sent(*schedule, rank, 0).size(), rank < 7 ? 0u : 1u);
        CHECK_EQUAL(sent(*schedule, rank, 1).size(), rank < 7 ? 2u : 1u);
    }
}

TEST("allreduces that cannot be are refused") {
    using pattern::AllReduce;
    CHECK_THROWS(InputError, ({"0 ranks"}), AllReduce(0, 1));
    CHECK_THROWS(InputError, ({"0 elements"}), AllReduce(4, 0));
    CHECK_EQUAL(AllReduce(1 << 30, 1 << 30).storage(), Index{1} << 60);
    CHECK_THROWS(InputError, ({"allreduce among 1073741824 ranks: 1073741824 x 1073741825", "can be counted"}),
                 AllReduce(1 << 30, (1 << 30) + 1));
}

}  // namespace testing::algorithm_allreduce
