// All-to-all algorithms between blocks: stages and messages of the closed forms, and who sends what to whom.
#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "testing/drawing.hpp"

namespace testing::algorithm_alltoall {

using namespace tradewind;
using algorithm::make_schedule, layout::Blocks, layout::Grid;

TransposePtr row(Rank n, Index points = 41) {
    const auto most = std::max<Index>(n, points);
    return row_of(n, {most, 3, most + 1});
}

std::vector<Rank> peers(const std::vector<schedule::Message>& messages) {
    std::vector<Rank> ranks;
    for (const auto& message : messages) ranks.push_back(message.peer);
    return ranks;
}

TEST("stages are those of the closed forms") {
    for (Rank n = 1; n <= 100; n += n < 41 ? 1 : 59) {
        const auto transpose = row(n);
        const auto stages = [&](const std::string& name) { return make_schedule(transpose, name)->stages(); };
        for (Rank k = 1; k < std::max(2, n); ++k) {
            CHECK_EQUAL(stages("ring-" + std::to_string(k)), std::max(1, (n - 1 + k - 1) / k));
        }
        CHECK_EQUAL(stages("burst"), 1);
        CHECK_EQUAL(stages("pairwise"), std::has_single_bit(static_cast<unsigned>(n)) ? std::max(1, n - 1) : n);
        CHECK_EQUAL(stages("bruck"), std::max(1, static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1)))));
    }
}

TEST("all but bruck send each block once") {
    for (const Rank n : {2, 3, 7, 8, 13, 16}) {
        const auto transpose = row(n);
        Index wanted = 0;
        for (Rank s = 0; s < n; ++s) {
            for (Rank r = 0; r < n; ++r) wanted += s == r ? 0 : transpose->block_volume(s, r);
        }
        for (const auto& name :
             {std::string("ring-1"), "ring-" + std::to_string(n - 1), std::string("burst"), std::string("pairwise")}) {
            const auto found = verified(*make_schedule(transpose, name));
            CHECK_EQUAL(found.messages, n * (n - 1));
            CHECK_EQUAL(found.points, wanted);
        }
    }
}

TEST("bruck sends one message per rank and stage, with the blocks whose distance has the bit") {
    for (const Rank n : {2, 3, 6, 8, 13, 16, 37}) {
        const auto transpose = row(n);
        const auto schedule = make_schedule(transpose, "bruck");
        for (int stage = 0; stage < schedule->stages(); ++stage) {
            const Rank hop = 1 << stage;
            for (Rank rank = 0; rank < n; ++rank) {
                const auto messages = sent(*schedule, rank, stage);
                CHECK_EQUAL(peers(messages), std::vector<Rank>{(rank + hop) % n});
                Index count = 0;
                for (Rank distance = 0; distance < n; ++distance) {
                    if (!(distance & hop)) continue;
                    const Rank sender = (rank - distance % hop + n) % n;
                    count += transpose->block_volume(sender, (sender + distance) % n);
                }
                CHECK_EQUAL(messages.front().count, count);
            }
        }
    }
}

TEST("pairwise partners send to each other where n is a power of two") {
    for (const Rank n : {4, 8, 32}) {
        const auto schedule = make_schedule(row(n), "pairwise");
        for (int stage = 0; stage < schedule->stages(); ++stage) {
            for (Rank rank = 0; rank < n; ++rank) {
                CHECK_EQUAL(peers(sent(*schedule, rank, stage)), std::vector<Rank>{rank ^ (stage + 1)});
                CHECK_EQUAL(peers(received(*schedule, rank, stage)), std::vector<Rank>{rank ^ (stage + 1)});
            }
        }
    }
}

TEST("ring goes outward k ranks in each stage") {
    for (const auto& [n, k] : {std::array{8, 3}, {13, 4}, {7, 6}}) {
        const auto schedule = make_schedule(row(n), "ring-" + std::to_string(k));
        for (int stage = 0; stage < schedule->stages(); ++stage) {
            for (Rank rank = 0; rank < n; ++rank) {
                std::vector<Rank> to, from;
                for (Rank d = stage * k + 1; d <= std::min((stage + 1) * k, n - 1); ++d) {
                    to.push_back((rank + d) % n), from.push_back((rank - d + n) % n);
                }
                CHECK_EQUAL(peers(sent(*schedule, rank, stage)), to);
                CHECK_EQUAL(peers(received(*schedule, rank, stage)), from);
            }
        }
    }
}

PROPERTY("messages stay within a group", 300) {
    const auto transpose = draw_transpose(draw);
    const auto schedule = make_schedule(transpose, "burst");
    for (Rank rank = 0; rank < transpose->ranks(); ++rank) {
        for (const auto peer : peers(sent(*schedule, rank, 0))) {
            CHECK_EQUAL(transpose->group(peer), transpose->group(rank));
        }
    }
}

PROPERTY("two-level sends one message between two nodes of a group, of all their points", 1000) {
    const auto transpose = draw_slab_transpose(draw);
    const auto size = static_cast<Rank>(draw.integer(1, transpose->ranks()));
    std::map<std::array<Rank, 3>, Index> wanted, found;  // by group and nodes
    for (Rank sender = 0; sender < transpose->ranks(); ++sender) {
        for (Rank receiver = 0; receiver < transpose->ranks(); ++receiver) {
            const auto points = transpose->block_volume(sender, receiver);
            if (points == 0 || sender / size == receiver / size) continue;
            wanted[{transpose->group(sender), sender / size, receiver / size}] += points;
        }
    }
    const auto schedule = make_schedule(transpose, "two-level-" + std::to_string(size));
    for (int stage = 0; stage < schedule->stages(); ++stage) {
        for (Rank rank = 0; rank < transpose->ranks(); ++rank) {
            for (const auto& message : sent(*schedule, rank, stage)) {
                if (rank / size == message.peer / size) continue;
                const std::array nodes{transpose->group(rank), rank / size, message.peer / size};
                CHECK(found.emplace(nodes, message.count).second);
            }
        }
    }
    CHECK(found == wanted);
}

TEST("two-level of even nodes: between nodes each rank deals with one node in each stage") {
    for (const auto& [nodes, size] : {std::array{2, 2}, {3, 2}, {4, 3}, {7, 2}, {9, 4}, {1, 5}, {6, 1}}) {
        const auto schedule = make_schedule(row(nodes * size), "two-level-" + std::to_string(size));
        const int exchanges = (nodes - 1 + size - 1) / size, first = size > 1;
        CHECK_EQUAL(schedule->stages(), exchanges + (size == 1 ? 0 : nodes == 1 ? 1 : 2));
        for (int stage = 0; stage < schedule->stages(); ++stage) {
            const bool between = first <= stage && stage < first + exchanges;
            for (Rank rank = 0; rank < schedule->ranks(); ++rank) {
                const auto messages = sent(*schedule, rank, stage);
                CHECK(static_cast<int>(messages.size()) <= (between ? 1 : size - 1));
                for (const auto& m : messages) CHECK_EQUAL(m.peer / size != rank / size, between);
            }
        }
    }
}

TEST("two-level is a ring where each rank of a column is on a node of its own") {
    struct Case {
        std::array<Index, 2> split;
        int size;
    };
    for (const auto& [split, size] : {Case{{4, 5}, 4}, {{4, 5}, 3}, {{3, 8}, 1}, {{1, 6}, 1}}) {
        const Grid grid(20, 21, 22);
        const auto columns = std::make_shared<pattern::Transpose>(Blocks(grid, split, "zy"), Blocks(grid, split, "zx"));
        const auto two_level = make_schedule(columns, "two-level-" + std::to_string(size));
        const auto ring = make_schedule(columns, "ring-1");
        CHECK_EQUAL(two_level->stages(), ring->stages());
        for (int stage = 0; stage < ring->stages(); ++stage) {
            for (Rank rank = 0; rank < ring->ranks(); ++rank) {
                const auto one = sent(*two_level, rank, stage), other = sent(*ring, rank, stage);
                CHECK_EQUAL(peers(one), peers(other));
                for (std::size_t i = 0; i < one.size(); ++i) CHECK_EQUAL(one[i].count, other[i].count);
            }
        }
    }
}

TEST("what is passed on is refused where ranks have nothing for each other") {
    const Grid grid(12, 12, 12);
    const auto transpose = std::make_shared<pattern::Transpose>(Blocks(grid, {4, 1}), Blocks(grid, {2, 2}));
    for (const auto* name : {"bruck", "two-level-2"}) {
        CHECK_THROWS(InputError, ({"use ring-k, pairwise or burst"}), make_schedule(transpose, name));
    }
}

}  // namespace testing::algorithm_alltoall
