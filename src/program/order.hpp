// In which order ranks start exchanges, wait for them and compute, where several may be open at once, and groups of
// ranks have steps of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "program/compute.hpp"
#include "program/members.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::program {

// An exchange as steps name it: its schedule, the bytes of a point in its messages, and which ranks of the program are
// those of the schedule; of consecutive ones the first says it.
struct Exchange {
    std::string name;
    std::shared_ptr<const schedule::Schedule> schedule;
    std::int64_t bytes_per_point = 8;
    Members members;

    Rank ranks() const { return schedule->ranks(); }
};

enum class StepKind : std::uint8_t {
    exchange,  // from its start to its end; with a computation, which begins when the first stage has been posted
    start,     // the first stage is posted
    wait,      // until it has ended
    compute,
    poke,  // a call that lets all exchanges that are open post their next stage, if the last one is over
};

struct GroupStep {
    std::string name;
    StepKind kind = StepKind::compute;
    int exchange = -1;  // of exchange, start and wait
    int repeat = 1;     // of exchange and compute
    Compute compute;    // whose ranks are numbered from 0 inside the group
};

// Ranks with the same steps, which they do `repeat` times.
struct Group {
    std::string name;
    Rank ranks = 0;
    std::vector<GroupStep> steps;
    int repeat = 1;
    Members members{};  // those that follow the group before, where no group of the program says which
};

// The next thing that a rank of a group does.
struct Operation {
    enum Kind : std::uint8_t { compute, start, wait, poke } kind;
    bool ends_step;          // the last of a step
    std::uint32_t step;      // of all groups, numbered through
    std::uint32_t instance;  // of start and wait
};

// One time that an exchange takes place. Both ends know its stages by the same numbers, and those of a line ascend on
// every rank: a rank receives for one stage of each line at a time.
struct Instance {
    std::uint32_t exchange, line;
    std::uint32_t first;  // stage; the line stands in its upper bits
    std::uint32_t stages;
};

class Order {
  public:
    // More exchanges cannot be open at once. Those between groups have lines of their own; where these are too few,
    // they share lines, if no group waits for one that another can start only after a wait of its own.
    static constexpr std::uint32_t max_lines = 8;
    static constexpr int line_shift = 21;
    static constexpr std::int64_t max_stages = 1 << line_shift;  // of a line
    static constexpr std::int64_t max_operations = 1 << 24;      // of a group

    // Throws InputError for what cannot be carried out: an exchange whose ranks are not those of whole groups, which is
    // started twice, awaited without a start or left open, or does not take place as often in each of its groups.
    Order(std::vector<Exchange> exchanges, std::vector<Group> groups);

    const std::vector<Exchange>& exchanges() const { return exchanges_; }
    const std::vector<Group>& groups() const { return groups_; }
    Rank ranks() const { return ranks_; }
    std::uint32_t lines() const { return lines_; }
    // Whether exchanges between groups share lines: on the lines of a rank there may be stages of others.
    bool shares_lines() const { return shares_lines_; }

    std::size_t group_of(Rank rank) const {
        if (!of_rank_.empty()) return of_rank_[static_cast<std::size_t>(rank)];
        const auto before = [&](const Group& group) { return group.members.last() < rank; };
        return static_cast<std::size_t>(std::partition_point(groups_.begin(), groups_.end(), before) - groups_.begin());
    }
    bool takes_part(std::size_t exchange, std::size_t group) const { return takes_part_[exchange][group]; }
    const std::vector<Operation>& operations(std::size_t group) const { return operations_[group]; }
    const Instance& instance(std::uint32_t i) const { return instances_[i]; }
    std::size_t instances() const { return instances_.size(); }
    // The stage with which a line begins on the ranks of a group.
    std::uint32_t first_stage(std::size_t group, std::uint32_t line) const { return begins_[group][line]; }
    // Stages of all exchanges, as often as they take place.
    std::int64_t stages() const;
    // Whether a number is that of a stage, and whose it is.
    bool has(std::uint32_t stage) const;
    const Instance& at(std::uint32_t stage) const;
    // The number of times that an exchange takes place.
    std::int64_t times(std::size_t exchange) const { return times_[exchange]; }
    // The same without the last operations of each group: a number of `all` equal parts of them. Those that are left,
    // and their exchanges, keep their numbers.
    Order without(std::int64_t parts, std::int64_t all) const;

  private:
    void find_members();
    void check_exchange(std::size_t exchange);
    std::string place(const Group& group, const GroupStep& step) const;  // the opening of an error about a step
    void check_steps(std::size_t group) const;
    void add_operations(std::size_t group);
    void number();
    std::uint32_t instance_of(std::size_t exchange, std::int64_t occurrence) const;
    bool between_groups(std::size_t exchange) const;
    std::uint32_t share_lines(const std::function<void(std::uint32_t, std::uint32_t)>& place) const;

    std::vector<Exchange> exchanges_;
    std::vector<Group> groups_;
    Rank ranks_ = 0;
    std::vector<std::uint32_t> of_rank_;              // group of each rank, where groups do not follow one another
    std::vector<std::vector<bool>> takes_part_;       // [exchange][group]
    std::vector<std::vector<Operation>> operations_;  // [group]
    std::vector<Instance> instances_;
    std::vector<std::vector<std::uint32_t>> of_exchange_;  // [exchange][occurrence] -> instance
    std::vector<std::int64_t> times_;
    std::uint32_t lines_ = 1;
    bool shares_lines_ = false;
    std::vector<std::vector<std::uint32_t>> begins_;   // [group][line]
    std::vector<std::vector<std::uint32_t>> of_line_;  // [line]: instances in the order of their stages
};

}  // namespace tradewind::program
