// Programs that differ in anything have different fingerprints, and equal ones the same.
#include "program/fingerprint.hpp"

#include <functional>
#include <set>

#include "layout/blocks.hpp"
#include "pattern/allreduce.hpp"
#include "testing/drawing.hpp"

namespace testing::program_fingerprint {

using namespace tradewind;
using program::Compute, program::Program, program::Step;

std::shared_ptr<const schedule::Schedule> sum(Index elements, const std::string& algorithm = "recursive-2") {
    return algorithm::make_schedule(std::make_shared<pattern::AllReduce>(4, elements), algorithm);
}

std::shared_ptr<const layout::Layout> blocks(Index nx) {
    return std::make_shared<layout::Blocks>(layout::Grid(nx, 8, 2), std::array<Index, 2>{2, 2}, "xy");
}

Compute work() {
    Compute made;
    made.seconds = 1, made.flops = 2, made.bytes = 3, made.point_seconds = 4;
    made.points = std::make_shared<const std::vector<double>>(std::vector<double>{1, 2, 3, 4});
    return made;
}

TEST("whatever changes in a program changes its fingerprint") {
    const std::vector<Step> steps{{"sum", sum(10), 2, {}}, {"work", nullptr, 1, work()}};
    const auto changed = [&](const std::function<void(std::vector<Step>&)>& change) {
        std::vector<Step> other = steps;
        change(other);
        return program::fingerprint(Program(other, 8));
    };
    const std::vector<std::uint64_t> found{
        changed([](auto&) {}),
        program::fingerprint(Program(steps, 16)),
        changed([](auto& s) { s[0].name = "total"; }),
        changed([](auto& s) { s[0].repeat = 3; }),
        changed([](auto& s) { s[0].schedule = sum(11); }),
        changed([](auto& s) { s[0].schedule = sum(10, "recursive-4"); }),
        changed([](auto& s) { s[1].compute.seconds += 1e-12; }),
        changed([](auto& s) { s[1].compute.flops = 3; }),
        changed([](auto& s) { s[1].compute.bytes = 2; }),
        changed([](auto& s) { s[1].compute.point_seconds = 5; }),
        changed([](auto& s) {
            s[1].compute.points = std::make_shared<const std::vector<double>>(std::vector<double>{1, 2, 4, 3});
        }),
        changed([](auto& s) { s[1].compute.points = nullptr; }),
        changed([](auto& s) { s[1].compute.points = nullptr, s[1].compute.layout = blocks(8); }),
        changed([](auto& s) { s[1].compute.points = nullptr, s[1].compute.layout = blocks(9); }),
        changed([](auto& s) { std::swap(s[0], s[1]); }),
        changed([](auto& s) { s.push_back(s[1]); }),
    };
    CHECK_EQUAL(std::set(found.begin(), found.end()).size(), found.size());
    CHECK_EQUAL(changed([](auto& s) { s[0].schedule = sum(10); }), found[0]);
}

TEST("so does what changes in the order of its exchanges, or in a group of its ranks") {
    using program::StepKind;
    const std::vector<program::Exchange> exchanges{{"a", sum(10), 8, 0}};
    std::vector<program::GroupStep> steps(3);
    steps[0].name = "1", steps[0].kind = StepKind::start, steps[0].exchange = 0;
    steps[1].name = "2";
    steps[2].name = "3", steps[2].kind = StepKind::wait, steps[2].exchange = 0;
    const std::vector<program::Group> groups{{"all", 4, steps}};
    const auto changed = [&](const std::function<void(program::Exchange&, program::Group&)>& change) {
        auto each = exchanges;
        auto group = groups;
        change(each[0], group[0]);
        return program::fingerprint(Program(std::make_shared<program::Order>(each, group)));
    };
    const std::vector<std::uint64_t> found{
        changed([](auto&, auto&) {}),
        changed([](auto& e, auto&) { e.name = "b"; }),
        changed([](auto& e, auto&) { e.schedule = sum(11); }),
        changed([](auto& e, auto&) { e.bytes_per_point = 16; }),
        changed([](auto&, auto& g) { g.name = "some"; }),
        changed([](auto&, auto& g) { g.repeat = 2; }),
        changed([](auto&, auto& g) { g.steps[1].kind = StepKind::poke; }),
        changed([](auto&, auto& g) { g.steps[1].repeat = 2; }),
        changed([](auto&, auto& g) { g.steps[1].compute.seconds = 1; }),
        changed([](auto&, auto& g) { std::swap(g.steps[1].name, g.steps[2].name); }),
    };
    CHECK_EQUAL(std::set(found.begin(), found.end()).size(), found.size());
}

TEST("so do the ranks of its groups") {
    program::GroupStep work;
    work.name = "work", work.compute.seconds = 1;
    const auto of = [&](const std::vector<Rank>& one, const std::vector<Rank>& other) {
        std::vector<program::Group> groups{{"one", static_cast<Rank>(one.size()), {work}},
                                           {"other", static_cast<Rank>(other.size()), {work}}};
        groups[0].members = program::Members(one), groups[1].members = program::Members(other);
        return program::fingerprint(
            Program(std::make_shared<program::Order>(std::vector<program::Exchange>{}, groups)));
    };
    const std::set<std::uint64_t> found{of({0}, {1, 2, 3}), of({3}, {0, 1, 2}), of({1}, {0, 2, 3})};
    CHECK_EQUAL(found.size(), std::size_t{3});
}

}  // namespace testing::program_fingerprint
