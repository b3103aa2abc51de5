// Faults are named with their place. tests/algorithm/registry.cpp damages every algorithm.
#include "verify/damage.hpp"

#include "base/error.hpp"
#include "pattern/allreduce.hpp"
#include "testing/drawing.hpp"

namespace testing::verify_damage {

using namespace tradewind;
using algorithm::make_schedule;

PatternPtr pattern_of(const std::string& name) {
    if (name == "row") return row_of(5, {20, 6, 21});
    if (name == "reduce") return std::make_shared<pattern::AllReduce>(7, 10);
    const layout::Blocks layout(layout::Grid(20, 6, 21), {5, 2});
    return std::make_shared<pattern::Halo>(layout, 2, std::array{true, false});
}

SchedulePtr damaged(const std::string& pattern, const std::string& algorithm, const std::string& fault, Rank rank = 1,
                    int stage = 0, int j = 0) {
    return verify::damaged(make_schedule(pattern_of(pattern), algorithm), fault, rank, stage, j);
}

TEST("a fault is named with its place") {
    const std::string never = "of its target array is never written; exactly once is right", twice = "written";
    struct Case {
        std::string pattern, algorithm, fault;
        std::vector<std::string> words;
    };
    const std::vector<Case> cases{
        {"row", "ring-2", "drop", {"rank 2: point x 4, y 0, z 9 " + never}},
        {"row",
         "ring-2",
         "drop-send",
         {"stage 0: rank 2 waits for a message from rank 1 (tag 1, 96 points) that no rank sends"}},
        {"row",
         "ring-2",
         "drop-receive",
         {"stage 0: rank 1 sends rank 2 a message (tag 1, 96 points) that no rank receives"}},
        {"row", "ring-2", "double", {"rank 2: point x 4, y 0, z 9 of its target array is written 2 times"}},
        {"row", "ring-2", "swap", {"stage 0, message of rank 1 to rank 2 ", " is not the same points as target"}},
        {"row",
         "ring-2",
         "misplace",
         {"source [x 4:8, ", "] of rank 1 is not the same points as target [x 5:9, ", " of rank 2"}},
        {"row", "ring-2", "count", {"rank 1 to rank 2 ", ": the receiver expects 97 points"}},
        {"row", "ring-2", "tag", {"rank 1 sends rank 2 a message ", " that no rank receives"}},
        {"row", "ring-2", "parity", {"the receiver expects the other parity"}},
        {"row", "ring-2", "no-copies", {"rank 1: point x 4, y 0, z 5 of its target array is never written"}},
        {"row", "bruck", "drop", {"scratch ", " of rank 2 holds nothing by then"}},
        {"row", "bruck", "double", {"scratch ", " of rank 2 is written twice"}},
        {"row", "two-level-2", "drop", {"scratch ", " of rank ", " holds nothing by then"}},
        {"row", "two-level-2", "double", {"is written twice"}},
        {"halo", "sweep", "drop", {"has only ", " of its ", " points by then"}},
        {"halo", "sweep", "double", {"rank ", " is written 2 times; exactly once is right"}},
        {"halo", "sweep", "misplace", {"is not the same points as target"}},
        {"halo", "direct", "drop", {"is never written; exactly once is right"}},
        {"halo", "two-level-3", "drop", {"scratch ", " of rank ", " holds nothing by then"}},
        {"halo", "two-level-3", "double", {"is written twice"}},
        {"halo", "leaders-5", "drop", {"rank 2: ", " is never written; exactly once is right"}},
        {"halo", "leaders-5", "misplace", {"is not the same points as"}},
        {"reduce", "recursive-3", "drop", {"rank 0, element 0: the value of rank 6 is missing"}},
        {"reduce", "recursive-3", "double", {"rank 0, element 0: the value of rank 6 is in it twice"}},
        {"reduce", "ring", "drop", {"rank ", ", element ", " is missing"}},
        {"reduce", "ring", "double", {"rank ", ", element ", "twice"}},
        {"reduce", "ring", "misplace", {"is not the same elements as"}},
        {"reduce", "rabenseifner", "drop", {"rank ", ", element ", ": the value of rank 1 is missing"}},
        {"reduce", "halving-doubling", "double", {"rank ", ", element ", "twice"}},
        {"reduce", "binomial", "drop", {"rank ", ", element 0: the value of rank 1 is missing"}},
    };
    for (const auto& [pattern, algorithm, fault, words] : cases) {
        const Rank rank = algorithm == "recursive-3" ? 6 : 1;
        const auto sound = make_schedule(pattern_of(pattern), algorithm);
        int j = 0;
        while (sound->send(rank, 0, j).count == 0) ++j;
        verified(*sound);
        const std::vector<std::string_view> all(words.begin(), words.end());
        check_throws<VerificationError>([&] { verified(*verify::damaged(sound, fault, rank, 0, j)); }, all);
    }
}

TEST("a value that is given back twice is refused") {
    const int last = make_schedule(pattern_of("reduce"), "recursive-3")->stages() - 1;
    CHECK_THROWS(VerificationError, ({"is given element 0 twice"}),
                 verified(*damaged("reduce", "recursive-3", "double", 0, last)));
}

TEST("a message of one point on the way between nodes is missed in each of their stages") {
    const layout::Blocks layout(layout::Grid(32, 32, 1), {8, 8});
    const auto halo = std::make_shared<pattern::Halo>(layout, 9, std::array{true, true});
    const auto sound = make_schedule(halo, "two-level-8");
    for (int stage = 0; stage < 3; ++stage) {
        Rank rank = 0;
        while (sent(*sound, rank, stage).empty()) ++rank;
        int j = 0;
        while (sound->send(rank, stage, j).count == 0) ++j;
        CHECK_THROWS(VerificationError, ({"rank"}), verified(*verify::damaged(sound, "drop", rank, stage, j)));
    }
}

TEST("what cannot be damaged is refused") {
    CHECK_THROWS(InputError, ({"unknown fault 'burn'"}), damaged("row", "burst", "burn"));
    CHECK_THROWS(InputError, ({"rank 1 sends no message 4 in stage 0"}), damaged("row", "burst", "drop", 1, 0, 4));
    CHECK_THROWS(InputError, ({"swap: the rank sends only one message"}), damaged("row", "bruck", "swap"));
}

}  // namespace testing::verify_damage
