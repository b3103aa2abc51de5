#include "mpi/recording.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "mpi/agreement.hpp"
#include "mpi/error.hpp"
#include "mpi/plan.hpp"
#include "mpi/prepare.hpp"
#include "schedule/transport.hpp"

namespace tradewind::mpi {

namespace {

// How long a rank that fails waits for the others.
constexpr double patience_s = 30;
constexpr std::array<const char*, 4> call_names{"call", "start", "wait", "poke"};

std::string recording_text() {
    return "recording the plans of a time step";
}

std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// A plan as this rank knows it. Ranks are those of the program.
struct Used {
    Carried carried;
    std::string description;
    std::vector<Rank> ranks;
    std::vector<Sent> sent;
    std::uint64_t number;  // see Plan
    bool is_first;         // this rank, of its communicator
    bool open = false;
};

struct Noted {
    Call call;
    std::size_t plan;
    std::int64_t computing;  // ns since the call before
};

struct StepRecording {
    std::unique_ptr<Communicator> communicator;
    MPI_Group group = MPI_GROUP_NULL;
    std::int64_t last = 0;
    std::vector<Noted> calls;
    std::vector<Used> plans;
    std::map<std::uint64_t, std::size_t> places;  // of plans, by their numbers
    std::string problem;

    ~StepRecording() {
        int finalized = 0;
        MPI_Finalized(&finalized);  // where it is not finalized
        if (!finalized && group != MPI_GROUP_NULL) MPI_Group_free(&group);
    }
};

std::mutex mutex;
std::unique_ptr<StepRecording> under_way;
std::atomic<bool> active{false};
thread_local int depth = 0;

std::vector<Rank> ranks_of(MPI_Comm comm, MPI_Group group) {
    MPI_Group own = MPI_GROUP_NULL;
    check(MPI_Comm_group(comm, &own), recording_text);
    int size = 0;
    MPI_Group_size(own, &size);
    std::vector<int> all(static_cast<std::size_t>(size)), found(all.size());
    std::iota(all.begin(), all.end(), 0);
    const int code = MPI_Group_translate_ranks(own, size, all.data(), group, found.data());
    MPI_Group_free(&own);
    check(code, recording_text);
    return {found.begin(), found.end()};
}

std::size_t place_of(StepRecording& recording, const Plan& plan) {
    const auto [found, added] = recording.places.emplace(plan.number(), recording.plans.size());
    if (!added) return found->second;
    int own = 0;
    MPI_Comm_rank(plan.communicator(), &own);
    Used used{plan.carried(), plan.describe(), ranks_of(plan.communicator(), recording.group),
              plan.sent(),    plan.number(),   own == 0};
    for (const Rank rank : used.ranks)
        if (rank == MPI_UNDEFINED && recording.problem.empty())
            recording.problem = "a plan among ranks outside the communicator that is recorded: " + used.description;
    recording.plans.push_back(std::move(used));
    return found->second;
}

void note(StepRecording& recording, const Plan& plan, Call call, std::int64_t begin) {
    const std::size_t place = place_of(recording, plan);
    Used& used = recording.plans[place];
    const bool opened = call == Call::wait || call == Call::poke;
    if (opened != used.open && recording.problem.empty())
        recording.problem = std::string(call_names[static_cast<std::size_t>(call)]) + " of an exchange that was " +
                            (opened ? "started before the recording: " : "started, and not awaited: ") +
                            used.description;
    if (call == Call::start) used.open = true;
    if (call == Call::wait) used.open = false;
    recording.calls.push_back({call, place, std::max<std::int64_t>(0, begin - recording.last)});
}

// --- all ranks together ---

using Words = std::vector<std::int64_t>;

void put(Words& words, const Words& numbers) {
    words.push_back(static_cast<std::int64_t>(numbers.size()));
    words.insert(words.end(), numbers.begin(), numbers.end());
}

void put(Words& words, const std::string& text) {
    words.push_back(static_cast<std::int64_t>(text.size()));
    words.insert(words.end(), text.begin(), text.end());
}

class Reader {
  public:
    explicit Reader(const Words& words) : at_(words.data()) {}
    std::int64_t number() { return *at_++; }
    Words numbers() {
        const std::int64_t count = number();
        at_ += count;
        return {at_ - count, at_};
    }
    std::string text() {
        const Words letters = numbers();
        return {letters.begin(), letters.end()};
    }

  private:
    const std::int64_t* at_;
};

// Ranks as rows of evenly spaced ones: the first, the distance and the number of each.
struct Row {
    std::int64_t first, step, count;
};

std::vector<Row> rows_of(const std::vector<Rank>& ranks) {
    std::vector<Row> rows;
    for (const Rank rank : ranks) {
        if (!rows.empty()) {
            Row& row = rows.back();
            if (row.count == 1) row.step = rank - row.first;
            if (rank == row.first + row.step * row.count) {
                ++row.count;
                continue;
            }
        }
        rows.push_back({rank, 1, 1});
    }
    return rows;
}

Words words_of(const std::vector<Rank>& ranks) {
    Words words;
    for (const Row& row : rows_of(ranks)) words.insert(words.end(), {row.first, row.step, row.count});
    return words;
}

std::vector<Rank> ranks_in(const Words& words) {
    std::vector<Rank> ranks;
    for (std::size_t i = 0; i < words.size(); i += 3)
        for (std::int64_t j = 0; j < words[i + 2]; ++j) ranks.push_back(static_cast<Rank>(words[i] + j * words[i + 1]));
    return ranks;
}

template <class Value>
Value parameter(const Carried& carried, const std::string& name) {
    for (const auto& [key, value] : carried.parameters)
        if (key == name) return std::get<Value>(value);
    throw InputError("a " + carried.pattern + " has no parameter " + name);
}

std::string kind_text(const Carried& carried) {
    return carried.pattern + " " + carried.algorithm + " of " + std::to_string(carried.fields) + " x " +
           name_of(carried.element) + ", " + name_of(carried.operation) + ", " + carried.transport + ", " +
           carried.packing;
}

void put(Words& words, const Carried& carried) {
    for (const std::string* const text :
         {&carried.pattern, &carried.algorithm, &carried.axes, &carried.transport, &carried.packing})
        put(words, *text);
    words.insert(words.end(),
                 {static_cast<std::int64_t>(carried.element), carried.fields,
                  static_cast<std::int64_t>(carried.operation), static_cast<std::int64_t>(carried.parameters.size())});
    for (const auto& [name, value] : carried.parameters) {
        put(words, name);
        words.push_back(static_cast<std::int64_t>(value.index()));
        if (const auto* const text = std::get_if<std::string>(&value))
            put(words, *text);
        else if (const auto* const numbers = std::get_if<std::vector<Index>>(&value))
            put(words, *numbers);
        else
            words.push_back(std::holds_alternative<bool>(value) ? std::get<bool>(value) : std::get<Index>(value));
    }
}

Carried carried_in(Reader& words) {
    Carried carried;
    for (std::string* const text :
         {&carried.pattern, &carried.algorithm, &carried.axes, &carried.transport, &carried.packing})
        *text = words.text();
    carried.element = static_cast<Element>(words.number());
    carried.fields = words.number();
    carried.operation = static_cast<Operation>(words.number());
    for (std::int64_t i = 0, n = words.number(); i < n; ++i) {
        std::string name = words.text();
        pattern::Parameter value;
        switch (words.number()) {
            case 0: value = words.text(); break;
            case 1: value = Index{words.number()}; break;
            case 2: value = words.number() != 0; break;
            default: value = words.numbers();
        }
        carried.parameters.emplace_back(std::move(name), std::move(value));
    }
    return carried;
}

// Plans of one communicator, or of several with the same ranks, are made in one order on all of these: a plan is known
// by its ranks and its number in that order. What plans are is written by the first of their ranks.
Words words_of(const StepRecording& recording, std::int64_t computing) {
    Words words{static_cast<std::int64_t>(recording.calls.size())};
    for (const Noted& noted : recording.calls)
        words.insert(words.end(),
                     {static_cast<std::int64_t>(noted.call), static_cast<std::int64_t>(noted.plan), noted.computing});
    words.push_back(computing);
    words.push_back(static_cast<std::int64_t>(recording.plans.size()));
    std::map<Words, std::vector<std::uint64_t>> made;  // by ranks: numbers of plans
    for (const Used& used : recording.plans) made[words_of(used.ranks)].push_back(used.number);
    for (auto& [ranks, numbers] : made) std::sort(numbers.begin(), numbers.end());
    for (const Used& used : recording.plans) {
        const Words ranks = words_of(used.ranks);
        const std::vector<std::uint64_t>& numbers = made[ranks];
        // Reductions of one kind differ in their elements.
        const bool reduces = used.carried.pattern == "allreduce";
        const Index elements = reduces ? parameter<Index>(used.carried, "count") : 0;
        words.push_back(static_cast<std::int64_t>(fnv1a(kind_text(used.carried) + " " + std::to_string(elements))));
        put(words, ranks);
        words.push_back(std::lower_bound(numbers.begin(), numbers.end(), used.number) - numbers.begin());
        words.push_back(used.is_first);
        if (used.is_first) put(words, used.carried);
        words.push_back(static_cast<std::int64_t>(used.sent.size()));
        for (const Sent& sent : used.sent)
            words.insert(words.end(), {sent.stage, used.ranks[static_cast<std::size_t>(sent.peer)], sent.bytes.value,
                                       sent.tag, sent.parity});
    }
    return words;
}

// The words of all ranks, on rank 0.
std::vector<Words> gathered(MPI_Comm comm, Rank rank, Rank ranks, const Words& mine) {
    const auto size = static_cast<std::size_t>(ranks);
    Words counts(size);
    const auto count = static_cast<std::int64_t>(mine.size());
    check(MPI_Allgather(&count, 1, MPI_INT64_T, counts.data(), 1, MPI_INT64_T, comm), recording_text);
    const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    if (total > std::numeric_limits<int>::max())
        throw InputError("a recording of " + std::to_string(total) +
                         " numbers on all ranks: MPI counts to 2147483647; record fewer time steps");
    std::vector<int> lengths(counts.begin(), counts.end()), begins(size, 0);
    std::partial_sum(lengths.begin(), lengths.end() - 1, begins.begin() + 1);
    Words all =
        prepare(comm, "", [&] { return Words(rank == 0 ? static_cast<std::size_t>(total) : 0); }, 0, end_a_recording);
    check(MPI_Gatherv(mine.data(), static_cast<int>(count), MPI_INT64_T, all.data(), lengths.data(), begins.data(),
                      MPI_INT64_T, 0, comm),
          recording_text);
    std::vector<Words> of_rank;
    for (std::size_t r = 0; rank == 0 && r < size; ++r)
        of_rank.emplace_back(all.begin() + begins[r], all.begin() + begins[r] + lengths[r]);
    return of_rank;
}

// A message of a program.
struct Listed {
    std::int64_t stage, order, source, destination, bytes, tag, parity;  // order: of its sender in a stage
};

// Calls and plans of one rank.
struct OfRank {
    std::vector<std::array<std::int64_t, 2>> calls;  // kind and plan
    Words computing;                                 // before each call, and after the last one
    struct OfPlan {
        std::int64_t kind;
        Words ranks;
        std::int64_t number;  // among those with the same ranks
        std::optional<Carried> carried;
        std::vector<Listed> sent;
        std::int64_t times = 0;
    };
    std::vector<OfPlan> plans;
};

OfRank parsed(const Words& words, std::int64_t rank) {
    OfRank found;
    Reader from(words);
    for (std::int64_t i = 0, n = from.number(); i < n; ++i) {
        const std::int64_t call = from.number(), plan = from.number();
        found.calls.push_back({call, plan});
        found.computing.push_back(from.number());
    }
    found.computing.push_back(from.number());
    for (std::int64_t p = 0, plans = from.number(); p < plans; ++p) {
        OfRank::OfPlan plan;
        plan.kind = from.number();
        plan.ranks = from.numbers();
        plan.number = from.number();
        if (from.number() != 0) plan.carried = carried_in(from);
        std::int64_t order = 0;
        for (std::int64_t i = 0, n = from.number(); i < n; ++i) {
            Listed sent{from.number(), 0, rank, from.number(), from.number(), from.number(), from.number()};
            order = plan.sent.empty() || plan.sent.back().stage != sent.stage ? 0 : order + 1;
            sent.order = order;
            plan.sent.push_back(sent);
        }
        found.plans.push_back(std::move(plan));
    }
    for (const auto& [call, plan] : found.calls)
        found.plans[static_cast<std::size_t>(plan)].times +=
            call == static_cast<std::int64_t>(Call::whole) || call == static_cast<std::int64_t>(Call::start);
    return found;
}

// --- the text ---

// The grid of a program and how its ranks divide it: all patterns with keys of their own lie on one.
struct OneGrid {
    std::vector<Index> grid, split;
};

std::string quoted(const std::string& text) {
    return '"' + text + '"';
}

// "64x48x16"
std::string extents_text(const std::vector<Index>& numbers) {
    std::string text;
    for (const Index number : numbers) text += (text.empty() ? "" : "x") + std::to_string(number);
    return quoted(text);
}

// The name of blocks in a program file that divides a grid so; "" where they have none.
std::string name_of_blocks(const std::vector<Index>& split, const std::string& axes,
                           const std::vector<Index>& of_file) {
    if (split == of_file) return axes;
    return split[1] == 1 && split[0] == of_file[0] * of_file[1] ? axes.substr(0, 1) : "";
}

// The keys of an exchange whose pattern a program file can name; "" where it can not. `one`: the grid and the split of
// the file, which the first pattern sets; with `own_split` each exchange says its own.
std::string keys_of(const Carried& carried, OneGrid& one, bool own_split) {
    using Numbers = std::vector<Index>;
    if (carried.pattern == "allreduce") {
        std::string keys = "allreduce = " + std::to_string(parameter<Index>(carried, "count")) + "\n";
        if (carried.operation != Operation::sum) keys += "operation = " + quoted(name_of(carried.operation)) + "\n";
        return keys;
    }
    const bool halo = carried.pattern == "halo", blocks = halo || carried.pattern == "transpose";
    const auto has = [&](const std::string& name) {
        return std::any_of(carried.parameters.begin(), carried.parameters.end(),
                           [&](const auto& each) { return each.first == name; });
    };
    if (!blocks || !has(halo ? "split" : "from_split")) return "";
    const auto grid = parameter<Numbers>(carried, "grid"),
               split = parameter<Numbers>(carried, halo ? "split" : "from_split");
    OneGrid here = one;
    if (here.grid.empty()) here.grid = grid;
    if (here.split.empty() || own_split) {
        here.split = split;
        if (!halo && split[1] == 1) here.split = parameter<Numbers>(carried, "to_split");
    }
    if (here.grid != grid) return "";
    std::string keys;
    if (halo) {
        if (split != here.split || carried.axes != "xy") return "";
        keys = "halo = " + std::to_string(parameter<Index>(carried, "width")) + "\n";
        if (const auto periodic = parameter<std::string>(carried, "periodic"); !periodic.empty())
            keys += "periodic = " + quoted(periodic) + "\n";
    } else {
        const std::string from = name_of_blocks(split, parameter<std::string>(carried, "from_axes"), here.split);
        const std::string to = name_of_blocks(parameter<Numbers>(carried, "to_split"),
                                              parameter<std::string>(carried, "to_axes"), here.split);
        if (from.empty() || to.empty() || from == to) return "";
        keys = "path = " + quoted(from + "-" + to) + "\n";
    }
    if (own_split) keys += "split = " + extents_text(here.split) + "\n";
    one.grid = here.grid;
    if (!own_split) one.split = here.split;
    return keys;
}

std::string messages_text(const std::vector<Listed>& messages, Index point_bytes, const std::vector<Rank>& members) {
    const auto place = [&](std::int64_t rank) {
        return std::to_string(std::lower_bound(members.begin(), members.end(), rank) - members.begin());
    };
    std::string text = "messages = [\n";
    for (const Listed& m : messages) {
        text += "    [" + std::to_string(m.stage) + ", " + place(m.source) + ", " + place(m.destination) + ", " +
                std::to_string(m.bytes / point_bytes);
        if (m.tag != 0 || m.parity != 0) text += ", " + std::to_string(m.tag) + ", " + std::to_string(m.parity);
        text += "],\n";
    }
    return text + "]\n";
}

class Text {
  public:
    explicit Text(std::vector<OfRank> ranks) : ranks_(std::move(ranks)) {}

    std::string program() {
        find_plans();
        merge_plans();
        find_groups();
        std::string exchanges, steps;
        for (const Merged& exchange : exchanges_) exchanges += text_of(exchange);
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (groups_.size() > 1) steps += heading(g);
            const std::string step = groups_.size() > 1 ? "\n[[group.step]]\n" : "\n[[step]]\n";
            const auto& calls = of(groups_[g][0]).calls;
            for (std::size_t i = 0; i <= calls.size(); ++i) {
                steps += step + computing(groups_[g], i);
                if (i < calls.size()) steps += step + call(groups_[g][0], i);
            }
        }
        std::string head = "# Recorded from a run. Points of computations are seconds, rank by rank.\n\n";
        head += "name = \"recorded\"\n";
        if (groups_.size() == 1) head += "ranks = " + std::to_string(ranks_.size()) + "\n";
        head += "point_time = \"1s\"\n";
        if (!grid_.grid.empty()) head += "grid = " + extents_text(grid_.grid) + "\n";
        if (!grid_.split.empty()) head += "split = " + extents_text(grid_.split) + "\n";
        return head + exchanges + steps;
    }

  private:
    // A plan with all of its ranks.
    struct Shared {
        Carried carried;
        std::vector<Rank> ranks;  // in the order of its communicator
        std::int64_t kind = 0, times = 0;
        std::vector<std::pair<Rank, std::size_t>> uses;  // ascending ranks, and its place among their plans
    };
    // Plans of one kind, of different ranks, which are one exchange of the program.
    struct Merged {
        std::vector<std::size_t> plans;
        std::vector<Rank> ranks;  // ascending
        std::size_t number;
    };

    const OfRank& of(Rank rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

    void find_plans() {
        std::map<std::pair<Words, std::int64_t>, std::size_t> known;
        plan_of_.resize(ranks_.size());
        for (std::size_t r = 0; r < ranks_.size(); ++r)
            for (std::size_t p = 0; p < ranks_[r].plans.size(); ++p) {
                const OfRank::OfPlan& plan = ranks_[r].plans[p];
                const auto [found, is_new] = known.try_emplace({plan.ranks, plan.number}, plans_.size());
                if (is_new) plans_.push_back({{}, ranks_in(plan.ranks), plan.kind, plan.times, {}});
                Shared& shared = plans_[found->second];
                if (plan.carried) shared.carried = *plan.carried;
                shared.uses.emplace_back(static_cast<Rank>(r), p);
                plan_of_[r].push_back(found->second);
            }
        for (const Shared& shared : plans_) check(shared);
    }

    void check(const Shared& shared) const {
        const auto times = [&](Rank rank) {
            const auto at = std::lower_bound(shared.uses.begin(), shared.uses.end(), std::pair(rank, std::size_t{0}));
            return at == shared.uses.end() || at->first != rank ? 0 : of(rank).plans[at->second].times;
        };
        for (const Rank rank : shared.ranks)
            if (times(rank) != shared.times)
                throw InputError(
                    "a plan, " +
                    (shared.carried.pattern.empty() ? "not called on its first rank" : kind_text(shared.carried)) +
                    ", is carried out " + std::to_string(shared.times) + " times on rank " +
                    std::to_string(shared.uses[0].first) + " and " + std::to_string(times(rank)) + " times on rank " +
                    std::to_string(rank) + ": all ranks of a plan carry it out as often in a recording");
        for (const auto& [rank, p] : shared.uses)
            if (of(rank).plans[p].kind != shared.kind)
                throw InputError("ranks " + std::to_string(shared.uses[0].first) + " and " + std::to_string(rank) +
                                 " call different plans among the same ranks: all ranks of a plan call it");
    }

    // Rows of ranks, each with a plan of its own, have one exchange of the program, and so they are one group: plans of
    // ranks that differ are merged where they are of one kind, and stand at one place among those of their ranks.
    void merge_plans() {
        // Ranks are alike whose calls differ in the communicators of their plans alone.
        std::map<std::vector<std::array<std::int64_t, 3>>, std::int64_t> known;
        std::vector<std::int64_t> manner;
        for (const OfRank& rank : ranks_) {
            std::vector<std::array<std::int64_t, 3>> calls;
            for (const auto& [call, plan] : rank.calls)
                calls.push_back({call, plan, rank.plans[static_cast<std::size_t>(plan)].kind});
            manner.push_back(
                known.try_emplace(std::move(calls), static_cast<std::int64_t>(known.size())).first->second);
        }
        const bool alike = known.size() == 1;
        std::vector<std::vector<std::int64_t>> places;  // of each rank's plans: among all, or those of a kind and size
        for (std::size_t r = 0; r < ranks_.size(); ++r) {
            std::map<std::pair<std::int64_t, std::size_t>, std::int64_t> before;
            std::vector<std::int64_t>& own = places.emplace_back();
            for (const std::size_t p : plan_of_[r])
                own.push_back(alike ? static_cast<std::int64_t>(own.size())
                                    : before[{plans_[p].kind, plans_[p].ranks.size()}]++);
        }
        std::map<Words, std::size_t> merged;
        std::vector<std::size_t> exchange_of(plans_.size());
        for (std::size_t p = 0; p < plans_.size(); ++p) {
            const Shared& shared = plans_[p];
            const auto [rank, at] = shared.uses[0];
            const std::int64_t place = places[static_cast<std::size_t>(rank)][at];
            const std::int64_t own = manner[static_cast<std::size_t>(rank)];
            const schedule::Family family = schedule::transport(shared.carried.transport).family;
            const bool all_meet = family == schedule::Family::fence || family == schedule::Family::collective;
            // Those of MPI's own collectives have no messages to list.
            const bool merges = shared.carried.algorithm != "native" &&
                                std::all_of(shared.uses.begin(), shared.uses.end(), [&](const auto& use) {
                                    const auto r = static_cast<std::size_t>(use.first);
                                    return places[r][use.second] == place && (!all_meet || manner[r] == own);
                                });
            const auto size = static_cast<std::int64_t>(shared.ranks.size());
            const Words key = merges ? Words{shared.kind, place, shared.times, alike ? 0 : size, all_meet ? own : 0}
                                     : Words{static_cast<std::int64_t>(p)};
            exchange_of[p] = merged.try_emplace(key, merged.size()).first->second;
        }
        exchanges_.resize(merged.size());
        for (std::size_t p = 0; p < plans_.size(); ++p) {
            Merged& exchange = exchanges_[exchange_of[p]];
            exchange.plans.push_back(p);
            exchange.ranks.insert(exchange.ranks.end(), plans_[p].ranks.begin(), plans_[p].ranks.end());
        }
        for (std::size_t e = 0; e < exchanges_.size(); ++e) {
            std::sort(exchanges_[e].ranks.begin(), exchanges_[e].ranks.end());
            exchanges_[e].number = e;
        }
        for (auto& own : plan_of_)
            for (std::size_t& p : own) p = exchange_of[p];
    }

    // Ranks with the same calls of the same exchanges.
    void find_groups() {
        std::map<std::vector<std::array<std::int64_t, 2>>, std::size_t> known;
        for (std::size_t r = 0; r < ranks_.size(); ++r) {
            std::vector<std::array<std::int64_t, 2>> calls = ranks_[r].calls;
            for (auto& [call, plan] : calls)
                plan = call == static_cast<std::int64_t>(Call::poke)
                           ? 0
                           : static_cast<std::int64_t>(plan_of_[r][static_cast<std::size_t>(plan)]);
            const auto [found, is_new] = known.try_emplace(std::move(calls), groups_.size());
            if (is_new) groups_.emplace_back();
            groups_[found->second].push_back(static_cast<Rank>(r));
            group_of_.push_back(found->second);
        }
    }

    std::string name(const Merged& exchange) const {
        const Carried& carried = plans_[exchange.plans[0]].carried;
        return quoted(std::to_string(exchange.number + 1) + " " + carried.pattern + " " + carried.algorithm);
    }

    // "ranks 0-3, 8-11"
    std::string name(std::size_t group) const {
        constexpr std::size_t shown = 4;
        const std::vector<Row> rows = rows_of(groups_[group]);
        std::string text = "ranks ";
        for (std::size_t i = 0; i < std::min(shown, rows.size()); ++i) {
            const Row& row = rows[i];
            text += (i > 0 ? ", " : "") + std::to_string(row.first);
            if (row.count > 1) text += "-" + std::to_string(row.first + row.step * (row.count - 1));
            if (row.step > 1) text += " by " + std::to_string(row.step);
        }
        return quoted(text + (rows.size() > shown ? ", ..." : ""));
    }

    std::string heading(std::size_t group) const {
        std::string rows;
        for (const Row& row : rows_of(groups_[group])) {
            rows += (rows.empty() ? "[" : ", [") + std::to_string(row.first) + ", " +
                    std::to_string(row.first + row.step * (row.count - 1));
            rows += row.step > 1 ? ", " + std::to_string(row.step) + "]" : "]";
        }
        return "\n[[group]]\nname = " + name(group) + "\nranks = [" + rows + "]\n";
    }

    std::string text_of(const Merged& exchange) {
        const Shared& first = plans_[exchange.plans[0]];
        const Carried& carried = first.carried;
        std::string text = "\n[[exchange]]\nname = " + name(exchange) + "\n";
        if (exchange.ranks.size() < ranks_.size()) {
            std::string names;
            std::vector<bool> named(groups_.size(), false);
            for (const Rank rank : exchange.ranks) {
                const std::size_t g = group_of_[static_cast<std::size_t>(rank)];
                if (!named[g]) names += (names.empty() ? "" : ", ") + name(g);
                named[g] = true;
            }
            text += "group = [" + names + "]\n";
        }
        const bool native = carried.algorithm == "native";
        const bool in_order = exchange.plans.size() == 1 && (native || first.ranks == exchange.ranks);
        if (const std::string keys = in_order ? keys_of(carried, grid_, groups_.size() > 1) : ""; !keys.empty()) {
            text += keys;
            if (!native) text += "algorithm = " + quoted(carried.algorithm) + "\n";
        } else {
            std::vector<Listed> all;
            for (const std::size_t p : exchange.plans)
                for (const auto& [rank, at] : plans_[p].uses) {
                    const std::vector<Listed>& sent = of(rank).plans[at].sent;
                    all.insert(all.end(), sent.begin(), sent.end());
                }
            std::sort(all.begin(), all.end(), [](const Listed& a, const Listed& b) {
                return std::tie(a.stage, a.order, a.source) < std::tie(b.stage, b.order, b.source);
            });
            text += messages_text(all, carried.fields * bytes_of(carried.element), exchange.ranks);
        }
        text += "fields = " + std::to_string(carried.fields) + "\ndtype = " + quoted(name_of(carried.element)) + "\n";
        return text + "transport = " + quoted(carried.transport) + "\npacking = " + quoted(carried.packing) + "\n";
    }

    std::string call(Rank rank, std::size_t i) const {
        const auto [call, plan] = of(rank).calls[i];
        if (call == static_cast<std::int64_t>(Call::poke)) return "poke = true\n";
        const char* const keys[] = {"exchange", "start", "wait"};
        const std::size_t exchange = plan_of_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(plan)];
        return std::string(keys[static_cast<std::size_t>(call)]) + " = " + name(exchanges_[exchange]) + "\n";
    }

    std::string computing(const std::vector<Rank>& group, std::size_t i) const {
        std::string seconds;
        for (const Rank rank : group) {
            std::array<char, 32> number;  // of no locale
            const auto end =
                std::to_chars(number.data(), number.data() + number.size(),
                              1e-9 * static_cast<double>(of(rank).computing[i]), std::chars_format::general, 4);
            seconds += (seconds.empty() ? "" : ", ") + std::string(number.data(), end.ptr);
        }
        return "compute = \"rank\"\npoints = [" + seconds + "]\n";
    }

    std::vector<OfRank> ranks_;
    std::vector<Shared> plans_;
    std::vector<Merged> exchanges_;
    std::vector<std::vector<std::size_t>> plan_of_;  // by rank, of each of its plans: in plans_; later in exchanges_
    std::vector<std::vector<Rank>> groups_;
    std::vector<std::size_t> group_of_;  // by rank
    OneGrid grid_;
};

}  // namespace

void record_begin(MPI_Comm comm) {
    auto made = std::make_unique<StepRecording>();
    std::string problem;
    {
        const std::lock_guard lock(mutex);
        if (under_way) problem = "a recording is under way: end it before the next one begins";
    }
    agree(comm, "a recording", problem, {}, 0, begin_a_recording);
    if (!problem.empty()) throw PlanError(problem);
    made->communicator = std::make_unique<Communicator>(comm);
    check(MPI_Comm_group(made->communicator->handle(), &made->group), recording_text);
    const std::lock_guard lock(mutex);
    if (under_way) throw PlanError("two threads begin a recording at once");
    made->last = now();
    under_way = std::move(made);
    active = true;
}

namespace {

// On rank 0 the text of the program; then what `use` makes of it, on all ranks.
std::string ended(const std::string& problem, const std::function<std::string(const std::string&)>& use) {
    std::int64_t end = 0;
    std::unique_ptr<StepRecording> taken;
    {
        const std::lock_guard lock(mutex);
        end = now();
        active = false;
        taken = std::move(under_way);
    }
    if (!taken) throw PlanError("no recording is under way: begin one first");
    taken->communicator->require_usable();
    std::string own = problem.empty() ? taken->problem : problem;
    for (const Used& used : taken->plans)
        if (used.open && own.empty())
            own = "an exchange that was started in the recording, and not awaited: " + used.description;
    const MPI_Comm comm = taken->communicator->handle();
    const Rank rank = taken->communicator->rank();
    const auto words_of_rank = [&] {
        if (!own.empty()) throw InputError(own);
        return words_of(*taken, std::max<std::int64_t>(0, end - taken->last));
    };
    // Where the caller fails others may wait for its messages for ever, and never come here.
    const Words mine =
        prepare(comm, "the end of a recording", words_of_rank, problem.empty() ? 0 : patience_s, end_a_recording);
    const std::vector<Words> words = gathered(comm, rank, taken->communicator->ranks(), mine);
    std::string text;
    std::exception_ptr failure;
    if (rank == 0) {
        try {
            std::vector<OfRank> ranks;
            for (std::size_t r = 0; r < words.size(); ++r)
                ranks.push_back(parsed(words[r], static_cast<std::int64_t>(r)));
            text = "+" + use(Text(std::move(ranks)).program());
            if (text.size() > std::size_t{std::numeric_limits<int>::max()})
                throw InputError("a recorded program of " + std::to_string(text.size()) +
                                 " bytes: MPI counts to 2147483647; record fewer time steps");
        } catch (const InputError& error) {
            text = std::string("-") + error.what();
        } catch (const std::exception& error) {
            failure = std::current_exception();
            text = std::string("!") + error.what();
        }
    }
    text = text_of(comm, 0, text);
    if (failure) std::rethrow_exception(failure);
    if (text[0] == '-') throw InputError(text.substr(1));
    if (text[0] == '!') throw PlanError("rank 0 cannot write down a recording: " + text.substr(1));
    return text.substr(1);
}

}  // namespace

std::string record_end(const std::string& problem) {
    return ended(problem, [](const std::string& text) { return text; });
}

std::string record_to(const std::string& problem, const std::function<std::string(const std::string&)>& write) {
    return ended(problem, write);
}

Recorded::Recorded(const Plan& plan, Call call) {
    if (!active.load(std::memory_order_acquire)) [[likely]]
        return;
    noted_ = true;
    if (depth++ > 0) return;
    const std::lock_guard lock(mutex);
    try {
        if (under_way) note(*under_way, plan, call, now());
    } catch (...) {
        --depth;  // no destructor will
        throw;
    }
}

Recorded::~Recorded() {
    if (!noted_ || --depth > 0) return;
    const std::lock_guard lock(mutex);
    if (under_way) under_way->last = now();
}

}  // namespace tradewind::mpi
