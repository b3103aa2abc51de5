#include "program/order.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "program/line_sharing.hpp"

namespace tradewind::program {

double Compute::points_of(Rank rank) const {
    if (points) return (*points)[static_cast<std::size_t>(rank)];
    if (!layout) return 1;
    Index owned = 0;
    for (const layout::Box& box : layout->boxes(rank)) owned += box.volume();
    return static_cast<double>(owned);
}

void check(const Compute& compute, Rank ranks) {
    for (const double value : {compute.seconds, compute.flops, compute.bytes, compute.point_seconds})
        if (!(value >= 0)) throw InputError("a computation takes 0 or more seconds, flops and bytes");
    const Imbalance& imbalance = compute.imbalance;
    if (!(imbalance.spread >= 0 && imbalance.spread <= largest_spread(imbalance.distribution)))
        throw InputError("spread " + std::to_string(imbalance.spread) + " of an imbalance: 0 to " +
                         std::to_string(largest_spread(imbalance.distribution)) + " is allowed");
    const auto differ = [&](std::size_t n) {
        throw InputError("a computation on the points of " + std::to_string(n) + " ranks, in steps of " +
                         std::to_string(ranks));
    };
    if (compute.layout && compute.layout->ranks() != ranks) differ(static_cast<std::size_t>(compute.layout->ranks()));
    if (!compute.points) return;
    if (compute.points->size() != static_cast<std::size_t>(ranks)) differ(compute.points->size());
    for (const double points : *compute.points)
        if (!(points >= 0)) throw InputError("a computation on " + std::to_string(points) + " points of a rank");
}

namespace {

std::string quoted(const std::string& name) {
    return "'" + name + "'";
}

// The open exchanges of a group, while its steps are read.
class Open {
  public:
    explicit Open(std::size_t exchanges) : instance_(exchanges, none), line_(exchanges, 0) {}
    static constexpr std::uint32_t none = ~0u;

    bool is(std::size_t exchange) const { return instance_[exchange] != none; }
    std::uint32_t& operator[](std::size_t exchange) { return instance_[exchange]; }
    std::size_t any() const {
        return static_cast<std::size_t>(
            std::find_if(instance_.begin(), instance_.end(), [](auto i) { return i != none; }) - instance_.begin());
    }
    // The lowest line that no exchange has.
    std::uint32_t take_line(std::size_t exchange) {
        std::uint32_t line = 0;
        while (line < taken_.size() && taken_[line]) ++line;
        if (line == taken_.size()) taken_.push_back(false);
        taken_[line] = true;
        return line_[exchange] = line;
    }
    void give_line(std::size_t exchange) { taken_[line_[exchange]] = false; }
    std::uint32_t lines() const { return static_cast<std::uint32_t>(taken_.size()); }

  private:
    std::vector<std::uint32_t> instance_, line_;
    std::vector<bool> taken_;
};

}  // namespace

Order::Order(std::vector<Exchange> exchanges, std::vector<Group> groups)
    : exchanges_(std::move(exchanges)), groups_(std::move(groups)) {
    if (groups_.empty()) throw InputError("a program without ranks");
    find_members();
    if (std::all_of(groups_.begin(), groups_.end(), [](const Group& group) { return group.steps.empty(); }))
        throw InputError("a program without steps");
    for (std::size_t e = 0; e < exchanges_.size(); ++e) check_exchange(e);
    times_.resize(exchanges_.size(), -1);
    of_exchange_.resize(exchanges_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        check_steps(g);
        add_operations(g);
    }
    number();
}

void Order::find_members() {
    bool listed = false;
    for (Group& group : groups_) {
        if (group.ranks < 1) throw InputError("group " + quoted(group.name) + ": 1 or more ranks are allowed");
        if (group.repeat < 1) throw InputError("the steps of a group are repeated 1 or more times");
        listed = listed || group.members.count() > 0;
        ranks_ += group.ranks;
    }
    Rank first = 0;
    constexpr auto no_group = ~std::uint32_t{0};
    if (listed) of_rank_.resize(static_cast<std::size_t>(ranks_), no_group);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        Group& group = groups_[g];
        if (!listed) {
            group.members = {first, group.ranks};
            first += group.ranks;
            continue;
        }
        if (group.members.count() != group.ranks)
            throw InputError("group " + quoted(group.name) + " of " + std::to_string(group.ranks) + " ranks lists " +
                             std::to_string(group.members.count()) + " of them");
        for (Rank i = 0; i < group.ranks; ++i) {
            const Rank rank = group.members.at(i);
            if (rank < 0 || rank >= ranks_)
                throw InputError("group " + quoted(group.name) + ": rank " + std::to_string(rank) + "; 0.." +
                                 std::to_string(ranks_ - 1) + " are allowed, each in one group");
            std::uint32_t& known = of_rank_[static_cast<std::size_t>(rank)];
            if (known != no_group)
                throw InputError("rank " + std::to_string(rank) + " is in group " + quoted(groups_[known].name) +
                                 " and in group " + quoted(group.name) + ": each is allowed in one");
            known = static_cast<std::uint32_t>(g);
        }
    }
}

bool Order::between_groups(std::size_t exchange) const {
    return std::count(takes_part_[exchange].begin(), takes_part_[exchange].end(), true) > 1;
}

void Order::check_exchange(std::size_t e) {
    Exchange& exchange = exchanges_[e];
    if (exchange.members.count() == 0) exchange.members = {exchange.members.first(), exchange.ranks()};
    const Members& members = exchange.members;
    if (members.count() != exchange.ranks())
        throw InputError("exchange " + quoted(exchange.name) + " is made for " + std::to_string(exchange.ranks()) +
                         " ranks, and its groups have " + std::to_string(members.count()));
    std::vector<bool>& takes_part = takes_part_.emplace_back(groups_.size(), false);
    Rank found = 0;
    bool fits = true;
    for (std::size_t g = 0; g < groups_.size() && fits; ++g) {
        const Members& own = groups_[g].members;
        if (!members.has(own.first())) continue;
        takes_part[g] = true;
        found += own.count();
        fits = members.has(own.last());
        if (own.consecutive() && members.consecutive()) continue;
        for (Rank i = 0; i < own.count() && fits; ++i) fits = members.has(own.at(i));
    }
    fits = fits && found == exchange.ranks();
    if (!fits)
        throw InputError("exchange " + quoted(exchange.name) + " of the " + members.text() +
                         ": all ranks of a group, or of several, take part");
    if (exchange.bytes_per_point < 1) throw InputError("bytes per point: 1 or more are allowed");
    pattern::check_bytes(exchange.schedule->pattern(), exchange.bytes_per_point);
}

std::string Order::place(const Group& group, const GroupStep& step) const {
    return (groups_.size() > 1 ? "group " + quoted(group.name) + ", " : "") + "step " + quoted(step.name) + ": ";
}

void Order::check_steps(std::size_t g) const {
    const Group& group = groups_[g];
    const auto where = [&](const GroupStep& s) { return place(group, s); };
    for (const GroupStep& s : group.steps) {
        check(s.compute, group.ranks);
        if (s.repeat < 1) throw InputError(where(s) + "a step is repeated 1 or more times");
        if (s.kind == StepKind::compute || s.kind == StepKind::poke) continue;
        if (s.exchange < 0 || s.exchange >= static_cast<int>(exchanges_.size()))
            throw InputError(where(s) + "no such exchange");
        const Exchange& exchange = exchanges_[static_cast<std::size_t>(s.exchange)];
        if (!takes_part(static_cast<std::size_t>(s.exchange), g))
            throw InputError(where(s) + "the ranks of the group take no part in exchange " + quoted(exchange.name));
        if (s.kind != StepKind::exchange && s.repeat > 1)
            throw InputError(where(s) + "a start or a wait is not repeated: the exchange would be opened twice");
    }
}

// The order of a group's operations; instances are numbered as they turn up, lines are given later.
void Order::add_operations(std::size_t g) {
    const Group& group = groups_[g];
    std::uint32_t step = 0;
    for (std::size_t i = 0; i < g; ++i) step += static_cast<std::uint32_t>(groups_[i].steps.size());
    const auto where = [&](const GroupStep& s) { return place(group, s); };
    std::vector<Operation>& operations = operations_.emplace_back();
    std::vector<std::int64_t> occurrences(exchanges_.size(), 0);
    Open open(exchanges_.size());
    const auto add = [&](Operation::Kind kind, bool ends, std::uint32_t instance) {
        if (static_cast<std::int64_t>(operations.size()) >= max_operations)
            throw InputError("a program of more than " + std::to_string(max_operations) +
                             " steps of a rank, repeated ones counted");
        operations.push_back({kind, ends, step, instance});
    };
    const auto start = [&](const GroupStep& s, bool ends) {
        const auto e = static_cast<std::size_t>(s.exchange);
        if (open.is(e))
            throw InputError(where(s) + "exchange " + quoted(exchanges_[e].name) +
                             " is open already: wait for it before it is started again");
        const std::int64_t occurrence = occurrences[e]++;
        auto& known = of_exchange_[e];
        if (occurrence == static_cast<std::int64_t>(known.size())) {
            known.push_back(static_cast<std::uint32_t>(instances_.size()));
            instances_.push_back({static_cast<std::uint32_t>(e), 0, 0,
                                  static_cast<std::uint32_t>(std::max(0, exchanges_[e].schedule->stages()))});
        }
        open[e] = known[static_cast<std::size_t>(occurrence)];
        add(Operation::start, ends, open[e]);
    };
    const auto wait = [&](const GroupStep& s) {
        const auto e = static_cast<std::size_t>(s.exchange);
        if (!open.is(e))
            throw InputError(where(s) + "exchange " + quoted(exchanges_[e].name) +
                             " is not open: start it before it is awaited");
        add(Operation::wait, true, open[e]);
        open[e] = Open::none;
    };
    for (int repetition = 0; repetition < group.repeat;
         ++repetition, step -= static_cast<std::uint32_t>(group.steps.size()))
        for (const GroupStep& s : group.steps) {
            switch (s.kind) {
                case StepKind::compute:
                    for (int i = 0; i < s.repeat; ++i) add(Operation::compute, i + 1 == s.repeat, 0);
                    break;
                case StepKind::poke: add(Operation::poke, true, 0); break;
                case StepKind::start: start(s, true); break;
                case StepKind::wait: wait(s); break;
                case StepKind::exchange:
                    for (int i = 0; i < s.repeat; ++i) {
                        start(s, false);
                        if (s.compute.any()) add(Operation::compute, false, 0);
                        wait(s);
                    }
            }
            ++step;
        }
    if (const std::size_t left = open.any(); left < exchanges_.size())
        throw InputError("exchange " + quoted(exchanges_[left].name) + " is started and never awaited");
    for (std::size_t e = 0; e < exchanges_.size(); ++e) {
        if (!takes_part(e, g)) continue;
        if (times_[e] >= 0 && times_[e] != occurrences[e])
            throw InputError("exchange " + quoted(exchanges_[e].name) + " takes place " +
                             std::to_string(occurrences[e]) + " times in group " + quoted(group.name) + " and " +
                             std::to_string(times_[e]) + " times in group " +
                             quoted(groups_[group_of(exchanges_[e].members.first())].name));
        times_[e] = occurrences[e];
    }
}

// Places the exchanges between groups on lines from 0 on, and returns how many these are. Throws InputError where
// groups wait for one another in a cycle.
std::uint32_t Order::share_lines(const std::function<void(std::uint32_t, std::uint32_t)>& place) const {
    std::vector<std::vector<std::size_t>> among(exchanges_.size());
    for (std::size_t e = 0; e < exchanges_.size(); ++e)
        for (std::size_t g = 0; g < groups_.size(); ++g)
            if (takes_part(e, g)) among[e].push_back(g);
    LineSharing sharing(operations_, instances_, among);
    const std::uint32_t lines = sharing.share(place);
    if (const auto stuck = sharing.stuck()) {
        const auto awaited = [&](std::size_t g, std::uint32_t instance) {
            return "group " + quoted(groups_[g].name) + " waits for exchange " +
                   quoted(exchanges_[instances_[instance].exchange].name);
        };
        throw InputError("exchanges between groups in orders that cannot end: " +
                         awaited(stuck->group, stuck->instance) + ", and " + awaited(stuck->other, stuck->others) +
                         " before it starts that; where more than " + std::to_string(max_lines) +
                         " exchanges are between groups, each is started by all of its groups before one of them "
                         "waits for it");
    }
    return lines;
}

// Exchanges within groups have lines as long as they are open. Between groups, which may do them in different orders,
// each has a line of its own, or they share lines where there are too few.
void Order::number() {
    std::vector<std::int64_t> next;  // [line]
    std::uint32_t local = 0, crossing = 0;
    std::vector<bool> between;
    for (std::size_t e = 0; e < exchanges_.size(); ++e) {
        between.push_back(between_groups(e));
        crossing += between[e] && !of_exchange_[e].empty();
    }
    std::vector<std::vector<std::int64_t>> begins;
    const auto place = [&](std::uint32_t i, std::uint32_t line) {
        while (next.size() <= line) {
            next.push_back(0);
            of_line_.emplace_back();
        }
        Instance& instance = instances_[i];
        if (next[line] + instance.stages > max_stages)
            throw InputError("exchange " + quoted(exchanges_[instance.exchange].name) + ": the exchanges that take " +
                             "place before it, one after another, and its own " + std::to_string(instance.stages) +
                             " stages have " + std::to_string(next[line] + instance.stages) + ": at most " +
                             std::to_string(max_stages) + " stages are allowed in a program with exchanges that are " +
                             "started and awaited; repeat its steps less often");
        instance.line = line;
        instance.first = line << line_shift | static_cast<std::uint32_t>(next[line]);
        next[line] += instance.stages;
        if (instance.stages > 0) of_line_[line].push_back(i);
    };
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        begins.push_back(next);
        Open open(exchanges_.size());
        for (const Operation& operation : operations_[g]) {
            if (operation.kind != Operation::start && operation.kind != Operation::wait) continue;
            const std::size_t e = instances_[operation.instance].exchange;
            if (between[e]) continue;
            if (operation.kind == Operation::start)
                place(operation.instance, open.take_line(e));
            else
                open.give_line(e);
        }
        local = std::max(local, open.lines());
    }
    lines_ = local;
    shares_lines_ = local + crossing > max_lines && crossing > 0;
    if (shares_lines_) lines_ += share_lines([&](std::uint32_t i, std::uint32_t line) { place(i, local + line); });
    for (std::size_t e = 0; e < exchanges_.size() && !shares_lines_; ++e) {
        if (!between[e] || of_exchange_[e].empty()) continue;
        for (const std::uint32_t i : of_exchange_[e]) place(i, lines_);
        ++lines_;
    }
    if (lines_ > max_lines)
        throw InputError(std::to_string(lines_) + " exchanges are open at once, " + std::to_string(local) +
                         " of them within a group and " + std::to_string(lines_ - local) + " between groups: at most " +
                         std::to_string(max_lines) + " are allowed; wait for some before others are started");
    lines_ = std::max(lines_, 1u);
    for (auto& of_group : begins) {
        auto& first = begins_.emplace_back();
        for (std::uint32_t line = 0; line < lines_; ++line) {
            const bool known = line < local && line < of_group.size();
            first.push_back(line << line_shift | (known ? static_cast<std::uint32_t>(of_group[line]) : 0));
        }
    }
    of_line_.resize(lines_);
}

std::int64_t Order::stages() const {
    std::int64_t stages = 0;
    for (const Instance& instance : instances_) stages += instance.stages;
    return stages;
}

Order Order::without(std::int64_t parts, std::int64_t all) const {
    Order order = *this;
    for (std::vector<Operation>& operations : order.operations_)
        operations.resize(operations.size() / static_cast<std::size_t>(all) * static_cast<std::size_t>(all - parts));
    return order;
}

bool Order::has(std::uint32_t stage) const {
    const std::uint32_t line = stage >> line_shift;
    if (line >= of_line_.size() || of_line_[line].empty()) return false;
    const Instance& last = instances_[of_line_[line].back()];
    return stage < last.first + last.stages;
}

const Instance& Order::at(std::uint32_t stage) const {
    const auto& of_line = of_line_[stage >> line_shift];
    const auto after = std::upper_bound(of_line.begin(), of_line.end(), stage,
                                        [this](std::uint32_t s, std::uint32_t i) { return s < instances_[i].first; });
    return instances_[*(after - 1)];
}

}  // namespace tradewind::program
