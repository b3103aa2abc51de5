// In which order groups of ranks start exchanges and wait for them: what can be, and how lines and stages are given.
#include "program/order.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "pattern/allreduce.hpp"
#include "testing/drawing.hpp"

namespace testing::program_order {

using namespace tradewind;
using program::Group, program::GroupStep, program::Order, program::StepKind;

program::Exchange summed(const std::string& name, Rank ranks = 4, Rank first = 0) {
    return {name, algorithm::make_schedule(std::make_shared<pattern::AllReduce>(ranks, 10), "recursive-2"), 8, first};
}

// Steps as letters: "A" starts exchange a, "a" waits for it, "(a)" is both in one step, "." is a poke.
Group group(const std::string& name, Rank ranks, const std::string& letters) {
    Group made{name, ranks, {}};
    for (std::size_t i = 0; i < letters.size(); ++i) {
        GroupStep step;
        step.name = "step " + std::to_string(made.steps.size());
        step.kind = StepKind::poke;
        const char c = letters[i];
        if (c == '(') {
            step.kind = StepKind::exchange, step.exchange = letters[i + 1] - 'a';
            i += 2;
        } else if (c >= 'a' && c <= 'z') {
            step.kind = StepKind::wait, step.exchange = c - 'a';
        } else if (c != '.') {
            step.kind = StepKind::start, step.exchange = c - 'A';
        }
        made.steps.push_back(step);
    }
    return made;
}

Order alone(const std::string& letters) {
    std::vector<program::Exchange> exchanges;
    for (const char c : std::string("abcdefghi")) exchanges.push_back(summed(std::string(1, c)));
    return Order(exchanges, {group("all", 4, letters)});
}

TEST("a line is used again when its exchange has ended, and eight are open at once") {
    CHECK_EQUAL(alone("(a)(b)(c)(a)").lines(), 1u);
    CHECK_EQUAL(alone("A(b)aC(a)c").lines(), 2u);
    CHECK_EQUAL(alone("ABCbac").lines(), 3u);
    CHECK_EQUAL(alone("ABCDEFGHabcdefgh").lines(), 8u);
    CHECK_THROWS(InputError, ({"9 exchanges are open at once, 9 of them within a group", "at most 8 are allowed"}),
                 alone("ABCDEFGHIabcdefghi"));
}

TEST("what cannot be is refused") {
    CHECK_THROWS(InputError, ({"step 'step 1': exchange 'a' is open already: wait"}), alone("AAa"));
    CHECK_THROWS(InputError, ({"exchange 'a' is open already"}), alone("A(a)a"));
    CHECK_THROWS(InputError, ({"exchange 'a' is not open: start it before"}), alone("a"));
    CHECK_THROWS(InputError, ({"exchange 'a' is started and never awaited"}), alone("A(b)"));
    CHECK_THROWS(InputError, ({"a program without ranks"}), Order({}, {}));
    CHECK_THROWS(InputError, ({"ranks 0 to 2: all ranks of a group"}),
                 Order({summed("a", 3)}, {group("all", 4, "(a)")}));
    CHECK_THROWS(InputError, ({"'b' takes place 0 times in group 'two' and 1 times in group 'one'"}),
                 Order({summed("a"), summed("b")}, {group("one", 2, "(a)(b)"), group("two", 2, "(a)")}));
    CHECK_THROWS(InputError, ({"'a' takes place 1 times in group 'two' and 2 times in group 'one'"}),
                 Order({summed("a"), summed("b")}, {group("one", 2, "(a)(a)(b)"), group("two", 2, "(a)(b)")}));
    CHECK_THROWS(InputError, ({"take no part in exchange 'a'"}),
                 Order({summed("a", 2)}, {group("one", 2, "(a)"), group("two", 2, "(a)")}));
    auto twice = group("all", 4, "Aa");
    twice.steps[0].repeat = 2;
    CHECK_THROWS(InputError, ({"step 'step 0': a start or a wait is not repeated"}), Order({summed("a")}, {twice}));
    program::Compute back_in_time;
    back_in_time.seconds = -1;
    CHECK_THROWS(InputError, ({"0 or more seconds"}), program::check(back_in_time, 4));
}

TEST("a step ends with the last of its repetitions") {
    auto repeated = group("all", 4, "(a).");
    repeated.steps[0].repeat = 2;
    repeated.steps[1].kind = StepKind::compute, repeated.steps[1].repeat = 3;
    const Order order({summed("a")}, {repeated});
    std::string ends;
    for (const auto& operation : order.operations(0)) ends += operation.ends_step ? '1' : '0';
    CHECK_EQUAL(ends, "0101001");  // start and wait, twice; three computations
}

TEST("an exchange between groups has a line of its own, as they may do them in different orders") {
    const Order order({summed("own", 2), summed("b"), summed("c")},
                      {group("one", 2, "(a)(b)(c)"), group("two", 2, "(c)(b)")});
    CHECK_EQUAL(order.lines(), 3u);
    CHECK_EQUAL(order.ranks(), 4);
    for (std::size_t i = 0; i < 3; ++i) CHECK_EQUAL(order.times(i), 1);
}

TEST("exchanges between groups share lines where these are too few, in any orders that can end") {
    std::vector<program::Exchange> exchanges;
    for (const char c : std::string("abcdefghi")) exchanges.push_back(summed(std::string(1, c)));
    const auto of = [&](const std::string& one, const std::string& two) {
        return Order(exchanges, {group("one", 2, one), group("two", 2, two)});
    };
    const Order order = of("(a)(b)CD(e)dc(f)(g)(h)(i)", "(a)(b)C.Dd(e)c(f)(g)(h)(i)");
    CHECK(order.shares_lines() && !alone("(a)").shares_lines());
    CHECK_EQUAL(order.lines(), 3u);  // c, d and e are open at once in one of the groups
    std::uint32_t next = 0;
    for (const std::uint32_t i : {0u, 1u, 2u, 5u, 6u, 7u, 8u}) {
        CHECK_EQUAL(order.instance(i).first, next);
        next += order.instance(i).stages;
    }
    // The second group starts e first, and both end it before they end d: d has a line of its own.
    const Order crossed = of("(a)(b)(c)DEed(f)(g)(h)(i)", "(a)(b)(c)EDed(f)(g)(h)(i)");
    CHECK_EQUAL(crossed.lines(), 2u);
    CHECK(crossed.instance(3).line != crossed.instance(4).line);
    CHECK_THROWS(InputError,
                 ({"orders that cannot end: group 'one' waits for exchange 'b', and group 'two' waits for exchange 'c' "
                   "before it starts that",
                   "each is started by all of its groups before one of them waits for it"}),
                 of("(a)(b)(c)(d)(e)(f)(g)(h)(i)", "(a)(c)(b)(d)(e)(f)(g)(h)(i)"));
    CHECK_THROWS(InputError, ({"9 exchanges are open at once, 0 of them within a group and 9 between groups"}),
                 of("ABCDEFGHIabcdefghi", "IHGFEDCBAabcdefghi"));
}

// Groups that start and end the exchanges of each block in orders of their own.
PROPERTY("stages of shared lines ascend in all groups, and no group has two exchanges open on a line", 300) {
    constexpr int groups = 3;
    const auto ranks = static_cast<Rank>(groups);
    std::vector<program::Exchange> exchanges;
    std::vector<std::string> letters(groups);
    for (int e = 0; e < 12;) {
        std::string block;
        for (auto left = draw.integer(1, 4); left > 0 && e < 12; --left, ++e) {
            exchanges.push_back(summed(std::string(1, static_cast<char>('a' + e)), ranks));
            block += static_cast<char>('a' + e);
        }
        for (std::string& own : letters)
            for (const int shift : {'A' - 'a', 0}) {
                for (std::size_t i = block.size(); i > 1; --i)
                    std::swap(block[i - 1],
                              block[static_cast<std::size_t>(draw.integer(0, static_cast<std::int64_t>(i) - 1))]);
                for (const char c : block) own += static_cast<char>(c + shift);
            }
    }
    std::vector<Group> made;
    for (const std::string& own : letters) draw.note(own), made.push_back(group(own, 1, own));
    const Order order(exchanges, made);
    CHECK(order.shares_lines() && order.lines() <= 4);
    for (std::size_t g = 0; g < groups; ++g) {
        std::map<std::uint32_t, std::uint32_t> open, next;  // by line
        for (const auto& operation : order.operations(g)) {
            const auto& instance = order.instance(operation.instance);
            if (operation.kind == program::Operation::wait) {
                open.erase(instance.line);
                continue;
            }
            CHECK(open.emplace(instance.line, operation.instance).second);
            CHECK(instance.first >= next[instance.line]);
            next[instance.line] = instance.first + instance.stages;
        }
    }
}

TEST("a group has any ranks, each in one") {
    const auto of = [](const std::vector<Rank>& one, const std::vector<Rank>& two, program::Members of_b) {
        auto a = group("one", 2, "(a)(b)"), b = group("two", 2, "(a)");
        a.members = program::Members(one), b.members = program::Members(two);
        auto among = summed("b", 2);
        among.members = std::move(of_b);
        return Order({summed("a"), among}, {a, b});
    };
    const program::Members outer(std::vector<Rank>{0, 3});
    const Order order = of({0, 3}, {1, 2}, outer);
    std::string groups;
    for (Rank rank = 0; rank < order.ranks(); ++rank) groups += std::to_string(order.group_of(rank));
    CHECK_EQUAL(groups, "0110");
    CHECK(order.takes_part(1, 0) && !order.takes_part(1, 1));
    CHECK_EQUAL(outer.place(3), 1);
    CHECK(!outer.has(1) && outer.at(1) == 3);
    CHECK_THROWS(InputError, ({"rank 3 is in group 'one' and in group 'two'"}), of({0, 3}, {2, 3}, outer));
    CHECK_THROWS(InputError, ({"group 'two': rank 4; 0..3 are allowed"}), of({0, 3}, {1, 4}, outer));
    CHECK_THROWS(InputError, ({"group 'two' of 2 ranks lists 1 of them"}), of({0, 3}, {1}, outer));
    CHECK_THROWS(InputError, ({"exchange 'b' of the ranks 0 to 1: all ranks of a group"}), of({0, 3}, {1, 2}, 0));
    CHECK_THROWS(InputError, ({"rank 0 behind rank 3: ascending"}), of({3, 0}, {1, 2}, outer));
}

// Random sound programs of one group: each stage belongs to one instance, lines are never shared by what is open.
PROPERTY("stages of a line follow each other, and exchanges that are open have lines of their own", 2000) {
    std::string letters, open;
    for (auto left = draw.integer(1, 25); left > 0; --left) {
        const char c = static_cast<char>('a' + draw.integer(0, 4));
        if (const auto at = open.find(c); at != open.npos) {
            letters += c, open.erase(at, 1);
        } else if (draw.boolean()) {
            letters += static_cast<char>(c - 'a' + 'A'), open += c;
        } else {
            letters += std::string("(") + c + ")";
        }
        if (draw.boolean()) letters += '.';
    }
    letters += open;
    draw.note(letters);
    const auto order = alone(letters);
    std::map<std::uint32_t, std::uint32_t> next;   // by line: its next stage
    std::map<std::uint32_t, std::uint32_t> taken;  // by line: the open instance
    std::size_t most = 0;
    for (const auto& operation : order.operations(0)) {
        if (operation.kind == program::Operation::start) {
            const auto& instance = order.instance(operation.instance);
            CHECK(taken.emplace(instance.line, operation.instance).second);
            const auto first = next.try_emplace(instance.line, order.first_stage(0, instance.line)).first;
            CHECK_EQUAL(instance.first, first->second);
            for (std::uint32_t s = 0; s < instance.stages; ++s) {
                CHECK(order.has(instance.first + s) && &order.at(instance.first + s) == &instance);
            }
            first->second += instance.stages;
        } else if (operation.kind == program::Operation::wait) {
            CHECK_EQUAL(taken.erase(order.instance(operation.instance).line), 1u);
        }
        most = std::max(most, taken.size());
    }
    CHECK(taken.empty());
    CHECK_EQUAL(order.lines(), std::max<std::size_t>(1, most));
    std::int64_t stages = 0;
    for (std::size_t e = 0; e < order.exchanges().size(); ++e) {
        const auto times = std::count(letters.begin(), letters.end(), static_cast<char>('a' + e));
        CHECK_EQUAL(order.times(e), times);
        stages += times * order.exchanges()[e].schedule->stages();
    }
    CHECK_EQUAL(order.stages(), stages);
}

}  // namespace testing::program_order
