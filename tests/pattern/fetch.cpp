#include "pattern/fetch.hpp"

#include <numeric>
#include <set>

#include "base/error.hpp"
#include "pattern/fetch_adjoint.hpp"
#include "testing/drawing.hpp"

namespace testing::pattern_fetch {

using namespace tradewind;
using layout::Box, pattern::Fetch, pattern::FetchAdjoint, pattern::FetchList;

using Wanted = std::map<Index, std::array<Index, 2>>;  // by place: owner, index

PROPERTY("what a rank keeps and receives is what it wants, and its owners send it", 2000) {
    Lists lists;
    const auto fetch = draw_fetch(draw, lists);
    std::map<std::array<Rank, 2>, std::vector<Index>> sent, received;  // by owner and rank: indices, as they are sent
    Index all = 0;
    for (Rank rank = 0; rank < fetch->ranks(); ++rank) {
        const auto& list = lists.wanted[static_cast<std::size_t>(rank)];
        Wanted right, found;
        for (std::size_t i = 0; i < list.owner.size(); ++i) right[list.place[i]] = {list.owner[i], list.index[i]};
        const auto& part = fetch->part(rank);
        const auto add = [&](Rank owner, const pattern::Runs& runs, std::vector<Index>* indices) {
            for (const auto& run : runs) {
                for (Index i = 0; i < run.length; ++i) {
                    CHECK(found.try_emplace(run.target + i, std::array<Index, 2>{owner, run.source + i}).second);
                    if (indices) indices->push_back(run.source + i);
                }
            }
        };
        add(rank, part.kept, nullptr);
        for (const auto& bundle : part.receives) {
            CHECK(bundle.peer != rank && bundle.points > 0);
            add(bundle.peer, bundle.runs, &received[{bundle.peer, rank}]);
            CHECK_EQUAL(static_cast<Index>(received[{bundle.peer, rank}].size()), bundle.points);
        }
        CHECK(found == right);
        for (const auto& bundle : part.sends) {
            for (const auto& run : bundle.runs) {
                for (Index i = 0; i < run.length; ++i) sent[{rank, bundle.peer}].push_back(run.source + i);
            }
        }
        CHECK_EQUAL(part.target, list.target);
        all += static_cast<Index>(list.owner.size());
        // The expected result are the places that are wanted, on all levels.
        auto cells = count_points(fetch->expected(rank));
        for (const auto& each : right) {
            for (Index y = 0; y < fetch->levels()[0]; ++y) {
                for (Index z = 0; z < fetch->levels()[1]; ++z) CHECK_EQUAL((cells[Point{each.first, y, z}]--), 1);
            }
        }
        for (const auto& cell : cells) CHECK_EQUAL(cell.second, 0);
    }
    CHECK(sent == received);
    CHECK_EQUAL(fetch->points(), all);
}

PROPERTY("ids lead to the same fetch as owners and indices", 1000) {
    std::vector<Index> ids(static_cast<std::size_t>(draw.integer(1, 60)));
    std::iota(ids.begin(), ids.end(), 3);
    for (auto& id : ids) id *= 7;
    ids = draw.shuffled(ids);
    const auto ranks = static_cast<std::size_t>(draw.integer(1, 5));
    std::vector<std::vector<Index>> owned(ranks), wanted(ranks);
    std::map<Index, std::array<Index, 2>> place;
    for (const auto id : ids) {
        const auto rank = static_cast<std::size_t>(draw.integer(0, static_cast<Index>(ranks) - 1));
        place[id] = {static_cast<Index>(rank), static_cast<Index>(owned[rank].size())};
        owned[rank].push_back(id);
    }
    for (auto& list : wanted) {
        for (Index left = draw.integer(0, 20); left > 0; --left) list.push_back(draw.from(ids));
    }
    const auto lists = pattern::lists_of_ids(owned, wanted);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        CHECK_EQUAL(lists[rank].target, static_cast<Index>(wanted[rank].size()));
        for (std::size_t i = 0; i < wanted[rank].size(); ++i) {
            CHECK_EQUAL(lists[rank].owner[i], static_cast<Rank>(place[wanted[rank][i]][0]));
            CHECK_EQUAL(lists[rank].index[i], place[wanted[rank][i]][1]);
        }
    }
}

TEST("the places that are wanted are the result, and of the adjoint the points that are fetched") {
    const auto fetch = std::make_shared<Fetch>(std::vector<Index>{3, 2},
                                               std::vector<FetchList>{{{1, 1}, {0, 1}, {5, 1}, 6}, {{0}, {2}, {0}, 1}});
    CHECK(fetch->expected(0) == std::vector<Box>({{{1, 0, 0}, {2, 1, 1}}, {{5, 0, 0}, {6, 1, 1}}}));
    CHECK(FetchAdjoint(fetch).expected(0) == std::vector<Box>({{{2, 0, 0}, {3, 1, 1}}}));
}

TEST("fetches that differ in a point of any list have signatures of their own") {
    const FetchList other{{0}, {2}, {0}, 1};
    std::set<std::string> signatures;
    for (const auto& list : std::vector<FetchList>{{{0, 1}, {1, 0}, {0, 1}, 2},     // keeps point 1, fetches point 0
                                                   {{0, 1}, {2, 0}, {0, 1}, 2},     // keeps another
                                                   {{0, 1}, {1, 0}, {1, 0}, 2},     // puts them elsewhere
                                                   {{0, 1}, {1, 1}, {0, 1}, 2},     // fetches another
                                                   {{0, 1}, {1, 0}, {0, 1}, 3}}) {  // into a larger array
        signatures.insert(Fetch(std::vector<Index>{3, 2}, {list, other}).signature());
    }
    CHECK_EQUAL(signatures.size(), 5u);
}

TEST("owners that come up in turn are distinguished") {
    const Rank ranks = 200;
    std::vector<FetchList> lists(ranks);
    for (Index i = 0; i < 100; ++i) {
        lists[0].owner.push_back(std::array{1, 65, 129, 193, 2}[static_cast<std::size_t>(i % 5)]);
        lists[0].index.push_back(i * 37 % 100);
        lists[0].place.push_back(i);
    }
    lists[0].target = 100;
    const Fetch fetch(std::vector<Index>(ranks, 100), lists);
    Index found = 0;
    for (const auto& bundle : fetch.part(0).receives) {
        for (const auto& run : bundle.runs) {
            for (Index i = 0; i < run.length; ++i, ++found) {
                CHECK_EQUAL(lists[0].owner[static_cast<std::size_t>(run.target + i)], bundle.peer);
                CHECK_EQUAL(lists[0].index[static_cast<std::size_t>(run.target + i)], run.source + i);
            }
        }
    }
    CHECK_EQUAL(found, 100);
}

TEST("lists that cannot be are refused") {
    const auto made = [](std::vector<FetchList> lists, bool one_array = false) {
        return Fetch(one_array ? std::vector<Index>{4, 3} : std::vector<Index>{3, 2}, lists, one_array);
    };
    CHECK_THROWS(InputError, ({"a fetch of 2 ranks with 1 lists"}), made({{}}));
    CHECK_THROWS(InputError, ({"rank 0 wants point 2 of rank 1, which has 2"}), made({{{1}, {2}, {0}, 1}, {}}));
    CHECK_THROWS(InputError, ({"owner 2; ranks 0..1 are allowed"}), made({{{2}, {0}, {0}, 1}, {}}));
    CHECK_THROWS(InputError, ({"index -1; 0 and more are allowed"}), made({{{0}, {-1}, {0}, 1}, {}}));
    CHECK_THROWS(InputError, ({"2 owners, 1 indices"}), made({{{1, 1}, {0}, {0}, 1}, {}}));
    CHECK_THROWS(InputError, ({"rank 0, entry 1 of its list: place 2 of the target array is taken twice"}),
                 made({{{1, 1}, {0, 1}, {2, 2}, 3}, {}}));
    CHECK_THROWS(InputError, ({"place 3 of the target array, which has 3"}), made({{{1}, {0}, {3}, 3}, {}}));
    CHECK_THROWS(InputError,
                 ({"rank 1 wants point 3 of rank 0, which that rank takes from elsewhere itself: no rank owns it"}),
                 made({{{1}, {0}, {3}, 4}, {{0}, {3}, {2}, 3}}, true));
    const auto of_ids = pattern::lists_of_ids;
    CHECK_THROWS(InputError, ({"rank 0 wants point 9 (entry 0 of its list), which no rank owns"}),
                 of_ids({{0, 1}, {3}}, {{9}, {}}));
    CHECK_THROWS(InputError, ({"rank 1 wants point -1 (entry 1 of its list), which no rank owns"}),
                 of_ids({{0, 1}, {3}}, {{}, {1, -1}}));
    CHECK_THROWS(InputError, ({"point 1 is owned twice: by rank 0 (its point 1) and by rank 1 (its point 0)"}),
                 of_ids({{0, 1}, {1}}, {{}, {}}));
    CHECK_THROWS(InputError, ({"rank 0 owns point -4: 0 and more are allowed"}), of_ids({{0, -4}, {1}}, {{}, {}}));
}

TEST("levels do not change the lists, and may be as many as can be counted") {
    const auto fetch =
        std::make_shared<Fetch>(std::vector<Index>{1, 1}, std::vector<FetchList>{{}, {{0}, {0}, {0}, 1}});
    const auto deep = fetch->with_levels({2, 5});
    CHECK(deep->source_box(0) == Box({{0, 0, 0}, {1, 2, 5}}));
    CHECK_EQUAL(deep->describe(), "fetch of 1 point, 10 levels");
    const auto found = verified(*algorithm::make_schedule(deep, "direct"));
    CHECK_EQUAL(found.messages, 1);
    CHECK_EQUAL(found.points, 10);
    const Index most = (Index{1} << 31) / 3;
    CHECK(fetch->with_levels({1 << 29, most}) && FetchAdjoint(fetch).with_levels({1 << 29, most}));
    CHECK_THROWS(InputError, ({"arrays of a fetch with levels: 3 x 536870912 x"}),
                 fetch->with_levels({1 << 29, most + 1}));
    CHECK_THROWS(InputError, ({"arrays of a fetch with levels"}), FetchAdjoint(fetch).with_levels({1 << 29, most + 1}));
}

}  // namespace testing::pattern_fetch
