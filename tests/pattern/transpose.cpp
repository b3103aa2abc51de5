// The groups of a transposition between blocks, by search: who has something for whom.
#include "pattern/transpose.hpp"

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "testing/drawing.hpp"

namespace testing::pattern_transpose {

using namespace tradewind;
using layout::Blocks, layout::Grid, pattern::Transpose;

std::vector<Rank> others(const Transpose::InGroup& here) {
    std::vector<Rank> ranks;
    for (Index p = 0; p < here.others(); ++p) ranks.push_back(here.rank_at(p));
    return ranks;
}

std::vector<Rank> receivers(const Transpose& transpose, Rank sender) {
    return others(transpose.sending(sender));
}

std::vector<Rank> senders(const Transpose& transpose, Rank receiver) {
    return others(transpose.receiving(receiver));
}

// [sender][receiver]: the points that go from one to the other, one by one.
std::vector<std::vector<Index>> counted(const layout::Layout& before, const layout::Layout& after) {
    const auto from = owners_of(before), to = owners_of(after);
    const auto ranks = static_cast<std::size_t>(before.ranks());
    std::vector<std::vector<Index>> count(ranks, std::vector<Index>(ranks, 0));
    for (std::size_t i = 0; i < from.size(); ++i) {
        ++count[static_cast<std::size_t>(from[i])][static_cast<std::size_t>(to[i])];
    }
    return count;
}

struct Group {
    std::set<Rank> senders, receivers;
};

// The sets of senders and receivers that are connected by points.
std::vector<Group> groups_by_search(const std::vector<std::vector<Index>>& count) {
    const auto ranks = static_cast<Rank>(count.size());
    std::vector<Group> groups;
    std::set<Rank> seen;
    for (Rank first = 0; first < ranks; ++first) {
        if (seen.contains(first)) continue;
        Group group{{first}, {}};
        for (std::size_t known = 0; known != group.senders.size() + group.receivers.size();) {
            known = group.senders.size() + group.receivers.size();
            for (Rank s = 0; s < ranks; ++s) {
                for (Rank r = 0; r < ranks; ++r) {
                    if (count[static_cast<std::size_t>(s)][static_cast<std::size_t>(r)] == 0) continue;
                    if (group.senders.contains(s)) group.receivers.insert(r);
                    if (group.receivers.contains(r)) group.senders.insert(s);
                }
            }
        }
        seen.insert(group.senders.begin(), group.senders.end());
        groups.push_back(group);
    }
    return groups;
}

PROPERTY("blocks hold the points that go from one rank to another, and groups are the connected sets of ranks", 1000) {
    const auto transpose = draw.boolean() ? draw_slab_transpose(draw, 12) : draw_transpose(draw, 24);
    const auto count = counted(transpose->from(), transpose->to());
    for (Rank s = 0; s < transpose->ranks(); ++s) {
        for (Rank r = 0; r < transpose->ranks(); ++r) {
            const auto points = count[static_cast<std::size_t>(s)][static_cast<std::size_t>(r)];
            CHECK_EQUAL(transpose->block_volume(s, r), points);
            CHECK(transpose->largest_block() >= points);
        }
    }
    Index largest = 0;
    bool closed = true, complete = true;
    for (const auto& [sending, receiving] : groups_by_search(count)) {
        const std::vector sorted_senders(sending.begin(), sending.end());
        const std::vector sorted_receivers(receiving.begin(), receiving.end());
        for (const auto sender : sending) {
            const auto found = receivers(*transpose, sender);
            CHECK_EQUAL(std::set(found.begin(), found.end()), receiving);
            CHECK_EQUAL(found.size(), receiving.size());
            const auto position = static_cast<std::size_t>(transpose->sending(sender).position());
            CHECK_EQUAL(senders(*transpose, found.front())[position], sender);
            for (std::size_t p = 0; p < found.size(); ++p)
                CHECK_EQUAL(transpose->sending(sender).volume_at(static_cast<Index>(p)),
                            count[static_cast<std::size_t>(sender)][static_cast<std::size_t>(found[p])]);
            closed = closed && found == senders(*transpose, sender);
            for (const auto receiver : receiving) {
                complete = complete && count[static_cast<std::size_t>(sender)][static_cast<std::size_t>(receiver)] > 0;
            }
        }
        for (const auto receiver : receiving) {
            const auto found = senders(*transpose, receiver);
            CHECK_EQUAL(std::set(found.begin(), found.end()), sending);
            const auto position = static_cast<std::size_t>(transpose->receiving(receiver).position());
            CHECK_EQUAL(receivers(*transpose, found.front())[position], receiver);
            for (std::size_t p = 0; p < found.size(); ++p)
                CHECK_EQUAL(transpose->receiving(receiver).volume_at(static_cast<Index>(p)),
                            count[static_cast<std::size_t>(found[p])][static_cast<std::size_t>(receiver)]);
        }
        largest = std::max(largest, static_cast<Index>(std::max(sending.size(), receiving.size())));
    }
    CHECK_EQUAL(transpose->largest_group(), largest);
    CHECK(closed || !transpose->closed());
    CHECK_EQUAL(transpose->complete(), transpose->closed() && complete);
    CHECK_EQUAL(transpose->collective() == pattern::Collective::all_to_all, transpose->complete());
}

PROPERTY("a group of MPI's all-to-all is all that a rank exchanges with, in one row or column of ranks", 500) {
    const auto transpose = draw_slab_transpose(draw, 24);
    CHECK(transpose->complete());
    const auto columns = static_cast<Rank>(transpose->from().split()[0]);
    for (Rank rank = 0; rank < transpose->ranks(); ++rank) {
        std::vector<Rank> members;
        for (Rank other = 0; other < transpose->ranks(); ++other) {
            if (transpose->group(other) == transpose->group(rank)) members.push_back(other);
        }
        auto found = receivers(*transpose, rank);
        std::sort(found.begin(), found.end());
        CHECK_EQUAL(found, members);
        const auto all = [&](auto same) { return std::all_of(members.begin(), members.end(), same); };
        CHECK(all([&](Rank r) { return r % columns == rank % columns; }) ||
              all([&](Rank r) { return r / columns == rank / columns; }));
    }
}

TEST("layouts of different grids or ranks are refused") {
    const Grid one(8, 8, 8), other(8, 8, 9);
    CHECK_THROWS(InputError, ({"different grids"}), Transpose(Blocks(one, {2, 2}), Blocks(other, {2, 2})));
    CHECK_THROWS(InputError, ({"4 ranks before and 6 after"}), Transpose(Blocks(one, {2, 2}), Blocks(one, {2, 3})));
}

}  // namespace testing::pattern_transpose
