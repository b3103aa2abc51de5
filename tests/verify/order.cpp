// Fences and collectives that groups of ranks begin and end in one order.
#include "verify/order.hpp"

#include "base/error.hpp"
#include "pattern/allreduce.hpp"
#include "testing/drawing.hpp"

namespace testing::verify_order {

using namespace tradewind;
using program::Exchange, program::Group, program::GroupStep, program::Order, program::StepKind;

Exchange summed(const std::string& name, Rank ranks, Rank first = 0) {
    return {name, algorithm::make_schedule(std::make_shared<pattern::AllReduce>(ranks, 1), "binomial"), 8, first};
}

GroupStep whole(int exchange) {
    return {"step", StepKind::exchange, exchange, 1, {}};
}

TEST("thousands of groups with fences in common are proved in a moment, and one that differs is found") {
    constexpr Rank groups = 4000, in_row = 40;
    constexpr int sums = 10, rows = groups / in_row;
    std::vector<Exchange> exchanges;
    for (int e = 0; e < sums; ++e) exchanges.push_back(summed("sum " + std::to_string(e), groups));
    for (int row = 0; row < rows; ++row)
        exchanges.push_back(summed("row " + std::to_string(row), in_row, row * in_row));
    std::vector<Group> made;
    for (Rank g = 0; g < groups; ++g) {
        std::vector<GroupStep> steps{whole(sums + g / in_row)};
        for (int e = 0; e < sums; ++e) steps.push_back(whole(e));
        made.push_back({std::to_string(g), 1, std::move(steps)});
    }
    const std::vector<std::string> fences(exchanges.size(), "put-fence");
    verify::check_order(Order(exchanges, made), fences);
    std::vector<std::string> mixed = fences;
    for (int e = 0; e < sums; ++e) mixed[static_cast<std::size_t>(e)] = "isend-irecv";
    verify::check_order(Order(exchanges, made), mixed);
    // With its own line for each exchange, as eight are enough, the program is made, and the order refused.
    exchanges.erase(exchanges.begin() + 2, exchanges.end());
    for (Group& group : made) group.steps = {whole(0), whole(1)};
    std::swap(made[3000].steps[0], made[3000].steps[1]);
    CHECK_THROWS(VerificationError,
                 ({"where group '0' starts 'sum 0', group '3000' starts 'sum 1' (transports put-fence and put-fence)"}),
                 verify::check_order(Order(exchanges, made), {"put-fence", "put-fence"}));
}

TEST("groups that have one fence in common with each other are not compared, and their cycle is a deadlock") {
    std::vector<Exchange> exchanges;
    for (const char* const name : {"a", "b", "c"}) exchanges.push_back(summed(name, 2));
    exchanges[0].members = program::Members(std::vector<Rank>{0, 1});
    exchanges[1].members = program::Members(std::vector<Rank>{1, 2});
    exchanges[2].members = program::Members(std::vector<Rank>{0, 2});
    const std::vector<Group> made{
        {"one", 1, {whole(0), whole(2)}}, {"two", 1, {whole(1), whole(0)}}, {"three", 1, {whole(2), whole(1)}}};
    CHECK_THROWS(VerificationError, ({"deadlock across exchanges: ", "a cycle of 3 ranks"}),
                 verify::check_order(Order(exchanges, made), std::vector<std::string>(3, "put-fence")));
}

}  // namespace testing::verify_order
