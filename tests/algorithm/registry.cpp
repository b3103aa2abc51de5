#include "algorithm/registry.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/error.hpp"
#include "pattern/allreduce.hpp"
#include "testing/drawing.hpp"
#include "testing/executed.hpp"
#include "verify/damage.hpp"

namespace testing::algorithm_registry {

using namespace tradewind;
using algorithm::AlgorithmEntry, algorithm::make_schedule;

// The algorithm for a random pattern that allows it; null where none of many is drawn.
SchedulePtr draw_allowed(Draw& draw, const AlgorithmEntry& entry, Lists& lists) {
    for (int tries = 0; tries < 50; ++tries) {
        lists = {};
        const auto pattern = draw_pattern(draw, entry.pattern, lists);
        const auto names = names_of(entry, *pattern);
        if (names.empty()) continue;
        const auto& name = draw.from(names);
        draw.note(name + ": " + pattern->signature());
        return make_schedule(pattern, name);
    }
    return nullptr;
}

struct Place {
    Rank rank;
    int stage, j;
};

std::vector<Place> all_messages(const schedule::Schedule& schedule) {
    std::vector<Place> places;
    for (int stage = 0; stage < schedule.stages(); ++stage) {
        for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
            for (int j = 0; j < schedule.sends(rank, stage); ++j) {
                if (schedule.send(rank, stage, j).count > 0) places.push_back({rank, stage, j});
            }
        }
    }
    return places;
}

bool copies(const schedule::Schedule& schedule, const Place& at) {
    std::vector<schedule::Copy> found;
    schedule.copies(at.rank, at.stage, found);
    return std::any_of(found.begin(), found.end(), [](auto& copy) { return !copy.from.box.empty(); });
}

// Faults, and words of the error beside the ranks.
const std::vector<std::pair<std::string, std::string>>& faults() {
    static const std::vector<std::pair<std::string, std::string>> words{
        {"drop", ""},
        {"drop-send", "that no rank sends"},
        {"drop-receive", "that no rank receives"},
        {"double", ""},
        {"misplace", ""},
        {"count", "the receiver expects"},
        {"tag", "that no rank"},
        {"parity", "the receiver expects the other parity"},
        {"no-copies", ""},
        {"swap", ""},
    };
    return words;
}

void damage_is_found(Draw& draw, const AlgorithmEntry& entry) {
    Lists lists;
    SchedulePtr sound;
    if (entry.name.starts_with("allreduce-")) {
        // A message of a reduction may hold nothing but values that change nothing: here all ranks have all ids.
        std::vector<Index> ids(static_cast<std::size_t>(draw.integer(1, 5)));
        std::iota(ids.begin(), ids.end(), 1);
        const std::vector<std::vector<Index>> all(static_cast<std::size_t>(draw.integer(2, 7)), ids);
        const auto pattern = std::make_shared<pattern::ListedGatherScatter>(all, "add");
        sound = make_schedule(pattern, draw.from(names_of(entry, *pattern)));
    } else {
        sound = draw_allowed(draw, entry, lists);
    }
    if (!sound) return;
    const auto places = all_messages(*sound);
    if (places.empty()) return;
    const auto& place = draw.from(places);
    const auto& [fault, words] = draw.from(faults());
    draw.note(fault + " of message " + std::to_string(place.j) + " of rank " + std::to_string(place.rank) +
              " in stage " + std::to_string(place.stage));
    const auto broken = [&](const std::string& fault) {
        return verify::damaged(sound, fault, place.rank, place.stage, place.j);
    };
    verified(*broken("reverse"));  // no matter where all is posted at once
    if (fault == "no-copies" && !copies(*sound, place)) return;
    // Elsewhere two messages may hold the same values.
    if (fault == "swap" && (entry.pattern != "transpose" || sent(*sound, place.rank, place.stage).size() < 2)) return;
    CHECK_THROWS(VerificationError, ({"rank", words}), verified(*broken(fault)));
}

[[maybe_unused]] const bool registered = [] {
    for (const auto& entry : algorithm::algorithms()) {
        const auto name = entry.name + " of any " + entry.pattern;
        Register(name + " is right by every posting order", __FILE__, 300, [&entry](Draw& draw) {
            Lists lists;
            if (const auto schedule = draw_allowed(draw, entry, lists)) proved(*schedule);
        });
        Register(name + " gives what it should on arrays", __FILE__, 200, [&entry](Draw& draw) {
            Lists lists;
            if (const auto schedule = draw_allowed(draw, entry, lists)) check_on_arrays(draw, *schedule, lists);
        });
        Register("damage to " + name + " is found", __FILE__, 200,
                 [&entry](Draw& draw) { damage_is_found(draw, entry); });
    }
    return true;
}();

TEST("each pattern has one default, and each algorithm a name, stages and a source with its year") {
    std::map<std::string, int> defaults;
    std::set<std::string> names;
    for (const auto& entry : algorithm::algorithms()) {
        defaults[entry.pattern] += entry.is_default;
        CHECK(names.insert(entry.pattern + entry.name).second);
        CHECK_EQUAL(entry.has_radix, entry.name.ends_with("-k"));
        CHECK(entry.description.find("stage") != std::string::npos);
        CHECK(entry.source.find(" 19") != std::string::npos || entry.source.find(" 20") != std::string::npos);
    }
    for (const auto& [pattern, count] : defaults) CHECK_EQUAL(count, 1);
}

const layout::Grid grid(16, 16, 16);
const PatternPtr transpose = row_of(8, {16, 16, 16});
const PatternPtr halo = std::make_shared<pattern::Halo>(layout::Blocks(grid, {4, 2}), 1, std::array{false, false});
const PatternPtr reduce = std::make_shared<pattern::AllReduce>(8, 3);

TEST("a schedule is named as it was asked for") {
    for (const auto& [pattern, name] : {std::pair{transpose, "ring-1"},
                                        {transpose, "ring-7"},
                                        {transpose, "burst"},
                                        {halo, "direct"},
                                        {reduce, "ring"}}) {
        CHECK_EQUAL(make_schedule(pattern, name)->algorithm(), name);
    }
}

TEST("a name that cannot be is refused with those that can") {
    const std::vector<std::array<std::string, 3>> cases{
        {"t", "ring-9", "ring-9: radix 9 is out of range, 1..7 are allowed for groups of 8 ranks"},
        {"t", "ring-0", "ring-0: radix 0 is out of range, 1..7 are allowed for groups of 8 ranks"},
        {"t", "ring-99999999999999999999", "is out of range, 1..7 are allowed"},
        {"r", "recursive-1", "radix 1 is out of range, 2..8 are allowed for 8 ranks"},
        {"r", "recursive-9", "radix 9 is out of range, 2..8 are allowed for 8 ranks"},
        {"t", "ring", "ring: the radix is missing, write ring-1 (1..7 are allowed for groups of 8 ranks)"},
        {"r", "recursive-k", "the radix is missing, write recursive-2"},
        {"t", "burst-3", "burst-3: burst takes no radix"},
        {"r", "ring-3", "ring-3: ring takes no radix"},
        {"t", "brook", "unknown transpose algorithm 'brook'; did you mean 'bruck'?"},
        {"t", "rings-4", "did you mean 'ring-k'?"},
        {"h", "swepe", "did you mean 'sweep'? (known: sweep, direct, two-level-k, leaders-k)"},
        {"h", "zzzzzz", "unknown halo algorithm 'zzzzzz' (known: sweep, direct, two-level-k, leaders-k)"},
        {"h", "two-level-9", "two-level-9: radix 9 is out of range, 1..8 are allowed for 8 ranks"},
        {"h", "leaders", "leaders: the radix is missing, write leaders-1 (1..8 are allowed for 8 ranks)"},
        {"t", "leaders-2", "leaders-2 is an algorithm of halo, not of transpose"},
        {"h", "bruck",
         "bruck is an algorithm of transpose, not of halo (which has sweep, direct, two-level-k, leaders-k)"},
    };
    for (const auto& [of, name, words] : cases) {
        CHECK_THROWS(InputError, {words}, make_schedule(of == "t" ? transpose : of == "h" ? halo : reduce, name));
    }
}

TEST("one rank allows any radix and has nothing to do") {
    CHECK_EQUAL(make_schedule(std::make_shared<pattern::AllReduce>(1, 3), "recursive-32")->stages(), 0);
}

}  // namespace testing::algorithm_registry
