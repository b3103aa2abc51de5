// Which method a plan takes: by argument, environment, tuning file or default, and what cannot be carried out.
#include "algorithm/method.hpp"

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "pattern/allreduce.hpp"
#include "schedule/transport.hpp"
#include "testing/drawing.hpp"

namespace testing::algorithm_method {

using namespace tradewind;
using algorithm::Method, algorithm::TunedMethod, algorithm::choose_method;

std::string draw_part(Draw& draw, const std::vector<std::string>& names) {
    return draw.boolean() ? "" : draw.from(names);
}

Method draw_method(Draw& draw, const pattern::Pattern& pattern) {
    std::vector<std::string> transports, packings;
    for (const auto& entry : schedule::transports()) transports.push_back(entry.name);
    for (const auto& entry : schedule::packings()) packings.push_back(entry.name);
    return {draw_part(draw, algorithm_names(pattern)), draw_part(draw, transports), draw_part(draw, packings)};
}

PROPERTY("each part is of the first that names it, and open parts go with those that are named", 2000) {
    static const std::vector<std::string> patterns{"transpose", "halo", "fetch", "gather-scatter", "allreduce"};
    const auto pattern = draw_pattern(draw, draw.from(patterns));
    const auto asked = draw_method(draw, *pattern), named = draw_method(draw, *pattern);
    auto of_file = draw_method(draw, *pattern);
    const auto variable = algorithm::variable_of(pattern->name());
    draw.note(text_of(asked) + " " + text_of(named) + " " + text_of(of_file));
    const bool tuned = of_file.complete();  // counts as a whole, and only where it goes with what is named
    const auto part = [](const Method& method, int i) {
        return i == 0 ? method.algorithm : i == 1 ? method.transport : method.packing;
    };
    const auto first = [&](int i) { return part(asked, i).empty() ? part(named, i) : part(asked, i); };
    bool agrees = tuned;
    for (int i = 0; i < 3; ++i) agrees = agrees && (first(i).empty() || first(i) == part(of_file, i));
    algorithm::ChosenMethod chosen;
    try {
        chosen = choose_method(pattern, asked, text_of(named), [&]() -> std::optional<TunedMethod> {
            if (!tuned) return {};
            return TunedMethod{of_file, "tuned.toml", "a warning"};
        });
    } catch (const InputError&) {  // what is named cannot be carried out together
        const Method together{first(0), first(1), first(2)};
        const auto full = agrees ? of_file : algorithm::completed(pattern->name(), together);
        CHECK(!algorithm::method_refusal(pattern, full).empty());
        return;
    }
    CHECK(chosen.method.complete() && algorithm::method_refusal(pattern, chosen.method).empty());
    for (int i = 0; i < 3; ++i) {
        const auto origin = part(chosen.origin, i), found = part(chosen.method, i);
        if (!part(asked, i).empty()) {
            CHECK(origin == "argument" && found == part(asked, i));
        } else if (!part(named, i).empty()) {
            CHECK(origin == variable && found == part(named, i));
        } else if (agrees) {
            CHECK(origin == "tuned.toml" && found == part(of_file, i));
        } else {
            CHECK_EQUAL(origin, "default");
        }
    }
    CHECK(algorithm::parse_method(algorithm::text_of(chosen.method)) == chosen.method);
}

TEST("every pattern has a default that can be carried out, and goes with each transport and packing") {
    std::set<std::string> patterns;
    for (const auto& entry : algorithm::algorithms()) patterns.insert(entry.pattern);
    for (const auto& name : patterns) {
        CHECK(algorithm::completed(name, {}) ==
              (Method{algorithm::default_algorithm(name), schedule::default_transport().name,
                      schedule::default_packing().name}));
        for (const auto& entry : schedule::transports()) {
            const auto found = algorithm::completed(name, {"", entry.name, ""});
            CHECK_EQUAL(found.packing, entry.packings.front());
        }
        for (const auto& entry : schedule::packings()) {
            const auto found = algorithm::completed(name, {"", "", entry.name});
            const auto& packings = schedule::transport(found.transport).packings;
            CHECK(std::find(packings.begin(), packings.end(), entry.name) != packings.end());
        }
    }
    CHECK_THROWS(InputError, ({"pattern \"wave\" has no algorithms"}), algorithm::default_algorithm("wave"));
}

TEST("nonsense is named with the variable that has it") {
    const auto reduce = std::make_shared<pattern::AllReduce>(4, 7);
    CHECK_THROWS(InputError, ({"4 parts, but ALGORITHM,TRANSPORT,PACKING are allowed"}),
                 algorithm::parse_method("a,b,c,d"));
    CHECK_THROWS(InputError, ({"TRADEWIND_ALLREDUCE='rung': ", "unknown allreduce algorithm 'rung'"}),
                 choose_method(reduce, {}, "rung"));
    CHECK_THROWS(InputError, ({"TRADEWIND_ALLREDUCE=',pigeon': ", "pigeon"}), choose_method(reduce, {}, ",pigeon"));
    CHECK_THROWS(InputError, ({"tuned.toml: ", "recursive-9"}), choose_method(reduce, {}, "", [] {
                     return TunedMethod{{"recursive-9", "shared", "direct"}, "tuned.toml", ""};
                 }));
    CHECK_EQUAL(algorithm::variable_of("gather-scatter"), "TRADEWIND_GATHER_SCATTER");
}

TEST("MPI's own collective is a transport of an all-to-all, and has no other one") {
    const PatternPtr row = row_of(2, {4, 2, 4}), reduce = std::make_shared<pattern::AllReduce>(2, 3);
    const Method native{"native", "", ""};
    CHECK(algorithm::carried_method(*row, native) == algorithm::all_to_all_of_mpi());
    CHECK(algorithm::method_refusal(row, algorithm::all_to_all_of_mpi()).empty());
    CHECK_EQUAL(algorithm::carried_method(*reduce, native).algorithm, "native");
    CHECK_THROWS(InputError, ({"algorithm 'native' is MPI_Alltoallv of packed data, not transport 'shared'"}),
                 algorithm::carried_method(*row, {"native", "shared", ""}));
}

}  // namespace testing::algorithm_method
