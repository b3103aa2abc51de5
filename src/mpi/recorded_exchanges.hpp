// The exchanges and the groups of ranks of a program, from the calls that all ranks have recorded.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "mpi/recorded_rank.hpp"

namespace tradewind::mpi {

class RecordedExchanges {
  public:
    // A plan with all of its ranks.
    struct Plan {
        Carried carried;
        std::vector<Rank> ranks;  // in the order of its communicator
        std::int64_t kind = 0, times = 0;
        std::vector<std::pair<Rank, std::size_t>> uses;  // ascending ranks, and its place among their plans
    };
    // Plans of one kind, of different ranks, which are one exchange of the program.
    struct Exchange {
        std::vector<std::size_t> plans;
        std::vector<Rank> ranks;  // ascending
    };

    // Throws InputError where not all ranks of a plan carry it out, or not equally often.
    explicit RecordedExchanges(std::vector<RecordedRank> ranks);

    std::size_t ranks() const { return ranks_.size(); }
    const RecordedRank& of(Rank rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
    const std::vector<Plan>& plans() const { return plans_; }
    const std::vector<Exchange>& exchanges() const { return exchanges_; }
    // Ranks with the same calls of the same exchanges.
    const std::vector<std::vector<Rank>>& groups() const { return groups_; }
    std::size_t group_of(Rank rank) const { return group_of_[static_cast<std::size_t>(rank)]; }
    // By the place of a plan among those of a rank.
    std::size_t exchange_of(Rank rank, std::int64_t plan) const {
        return exchange_of_[plan_of_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(plan)]];
    }

  private:
    void find_plans();
    void check(const Plan& plan) const;
    void merge_plans();
    std::vector<std::int64_t> levels() const;
    std::vector<std::int64_t> manners(const std::vector<std::int64_t>& levels) const;
    void find_groups();

    std::vector<RecordedRank> ranks_;
    std::vector<Plan> plans_;
    std::vector<std::vector<std::size_t>> plan_of_;  // by rank, of each of its plans: in plans_
    std::vector<Exchange> exchanges_;
    std::vector<std::size_t> exchange_of_;  // by plan
    std::vector<std::vector<Rank>> groups_;
    std::vector<std::size_t> group_of_;  // by rank
};

}  // namespace tradewind::mpi
