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
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "mpi/agreement.hpp"
#include "mpi/error.hpp"
#include "mpi/plan.hpp"
#include "mpi/prepare.hpp"

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
    Used used{plan.carried(), plan.describe(), ranks_of(plan.communicator(), recording.group), plan.sent()};
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

// The part of a plan that is written down once, and so is alike on all ranks.
std::string kind_text(const Carried& carried) {
    return carried.pattern + " " + carried.algorithm + " of " + std::to_string(carried.fields) + " x " +
           name_of(carried.element) + ", " + name_of(carried.operation) + ", " + carried.transport + ", " +
           carried.packing;
}

Words words_of(const StepRecording& recording, std::int64_t computing) {
    Words words{static_cast<std::int64_t>(recording.calls.size())};
    for (const Noted& noted : recording.calls)
        words.insert(words.end(),
                     {static_cast<std::int64_t>(noted.call), static_cast<std::int64_t>(noted.plan), noted.computing});
    words.push_back(computing);
    words.push_back(static_cast<std::int64_t>(recording.plans.size()));
    for (const Used& used : recording.plans) {
        words.push_back(static_cast<std::int64_t>(fnv1a(kind_text(used.carried))));
        words.push_back(static_cast<std::int64_t>(used.ranks.size()));
        words.insert(words.end(), used.ranks.begin(), used.ranks.end());
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
        std::int64_t description;
        Words ranks;
        std::vector<Listed> sent;
    };
    std::vector<OfPlan> plans;
};

OfRank parsed(const Words& words, std::int64_t rank) {
    OfRank found;
    const std::int64_t* word = words.data();
    for (std::int64_t i = 0, n = *word++; i < n; ++i, word += 3) {
        found.calls.push_back({word[0], word[1]});
        found.computing.push_back(word[2]);
    }
    found.computing.push_back(*word++);
    for (std::int64_t p = 0, plans = *word++; p < plans; ++p) {
        OfRank::OfPlan plan{*word++, {}, {}};
        const std::int64_t ranks = *word++;
        plan.ranks.assign(word, word + ranks);
        word += ranks;
        std::int64_t order = 0;
        for (std::int64_t i = 0, n = *word++; i < n; ++i, word += 5) {
            order = plan.sent.empty() || plan.sent.back().stage != word[0] ? 0 : order + 1;
            plan.sent.push_back({word[0], order, rank, word[1], word[2], word[3], word[4]});
        }
        found.plans.push_back(std::move(plan));
    }
    return found;
}

// --- the text ---

// The grid of a program and how its ranks divide it: all patterns with keys of their own lie on one.
struct OneGrid {
    std::vector<Index> grid, split;
};

template <class Value>
Value parameter(const Carried& carried, const std::string& name) {
    for (const auto& [key, value] : carried.parameters)
        if (key == name) return std::get<Value>(value);
    throw InputError("a " + carried.pattern + " has no parameter " + name);
}

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

// The keys of an exchange whose pattern a program file can name; "" where it can not.
std::string keys_of(const Carried& carried, OneGrid& one) {
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
    if (here.grid.empty()) {
        here.grid = grid;
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
    one = here;
    return keys;
}

std::string messages_text(const std::vector<Listed>& messages, Index point_bytes) {
    std::string text = "messages = [\n";
    for (const Listed& m : messages) {
        text += "    [" + std::to_string(m.stage) + ", " + std::to_string(m.source) + ", " +
                std::to_string(m.destination) + ", " + std::to_string(m.bytes / point_bytes);
        if (m.tag != 0 || m.parity != 0) text += ", " + std::to_string(m.tag) + ", " + std::to_string(m.parity);
        text += "],\n";
    }
    return text + "]\n";
}

class Text {
  public:
    Text(const StepRecording& own, std::vector<OfRank> ranks) : own_(own), ranks_(std::move(ranks)) {}

    std::string program() {
        check_alike();
        std::string exchanges, steps;
        for (std::size_t p = 0; p < own_.plans.size(); ++p) exchanges += exchange(p);
        for (std::size_t i = 0; i <= own_.calls.size(); ++i) {
            steps += computing(i);
            if (i < own_.calls.size()) steps += call(own_.calls[i]);
        }
        std::string head = "# Recorded from a run. Points of computations are seconds, rank by rank.\n\n";
        head += "name = \"recorded\"\nranks = " + std::to_string(ranks_.size()) + "\npoint_time = \"1s\"\n";
        if (!grid_.grid.empty())
            head += "grid = " + extents_text(grid_.grid) + "\nsplit = " + extents_text(grid_.split) + "\n";
        return head + exchanges + steps;
    }

  private:
    void check_alike() const {
        const OfRank& first = ranks_[0];
        for (std::size_t r = 1; r < ranks_.size(); ++r) {
            const OfRank& other = ranks_[r];
            const auto [a, b] =
                std::mismatch(first.calls.begin(), first.calls.end(), other.calls.begin(), other.calls.end());
            if (a != first.calls.end() || b != other.calls.end())
                throw InputError("call " + std::to_string(a - first.calls.begin() + 1) + " is " +
                                 text_of_call(a, first.calls.end()) + " on rank 0 and " +
                                 text_of_call(b, other.calls.end()) + " on rank " + std::to_string(r) +
                                 ": the ranks of a recorded program call their plans in one order");
            for (std::size_t p = 0; p < first.plans.size(); ++p)
                if (other.plans[p].description != first.plans[p].description)
                    throw InputError("the plan that is called as number " + std::to_string(p + 1) + " is a " +
                                     kind_text(own_.plans[p].carried) + " on rank 0, and another one on rank " +
                                     std::to_string(r) + ": the ranks of a recorded program call plans of one kind");
        }
    }

    template <typename Iterator>
    std::string text_of_call(Iterator at, Iterator end) const {
        if (at == end) return "none";
        return std::string(call_names[static_cast<std::size_t>((*at)[0])]) + " of plan " + std::to_string((*at)[1] + 1);
    }

    // Whether all ranks of the program take part in a plan, in their order.
    bool of_all(std::size_t p) const {
        Words all(ranks_.size());
        std::iota(all.begin(), all.end(), 0);
        return std::all_of(ranks_.begin(), ranks_.end(), [&](const OfRank& r) { return r.plans[p].ranks == all; });
    }

    std::string name(std::size_t p) const {
        const Carried& carried = own_.plans[p].carried;
        return quoted(std::to_string(p + 1) + " " + carried.pattern + " " + carried.algorithm);
    }

    std::string exchange(std::size_t p) {
        const Carried& carried = own_.plans[p].carried;
        std::string text = "\n[[exchange]]\nname = " + name(p) + "\n";
        const bool native = carried.algorithm == "native";
        if (const std::string keys = of_all(p) ? keys_of(carried, grid_) : ""; !keys.empty()) {
            text += keys;
            if (!native) text += "algorithm = " + quoted(carried.algorithm) + "\n";
        } else if (native) {
            throw InputError(
                "MPI's own reduction among some of the ranks: it cannot be seen what it sends; name "
                "another algorithm than native");
        } else {
            std::vector<Listed> all;
            for (const OfRank& rank : ranks_)
                all.insert(all.end(), rank.plans[p].sent.begin(), rank.plans[p].sent.end());
            std::sort(all.begin(), all.end(), [](const Listed& a, const Listed& b) {
                return std::tie(a.stage, a.order, a.source) < std::tie(b.stage, b.order, b.source);
            });
            text += messages_text(all, carried.fields * bytes_of(carried.element));
        }
        text += "fields = " + std::to_string(carried.fields) + "\ndtype = " + quoted(name_of(carried.element)) + "\n";
        return text + "transport = " + quoted(carried.transport) + "\npacking = " + quoted(carried.packing) + "\n";
    }

    std::string call(const Noted& noted) const {
        if (noted.call == Call::poke) return "\n[[step]]\npoke = true\n";
        const char* const keys[] = {"exchange", "start", "wait"};
        return std::string("\n[[step]]\n") + keys[static_cast<std::size_t>(noted.call)] + " = " + name(noted.plan) +
               "\n";
    }

    std::string computing(std::size_t i) const {
        std::string seconds;
        for (const OfRank& rank : ranks_) {
            std::array<char, 32> number;  // of no locale
            const auto end =
                std::to_chars(number.data(), number.data() + number.size(),
                              1e-9 * static_cast<double>(rank.computing[i]), std::chars_format::general, 4);
            seconds += (seconds.empty() ? "" : ", ") + std::string(number.data(), end.ptr);
        }
        return "\n[[step]]\ncompute = \"rank\"\npoints = [" + seconds + "]\n";
    }

    const StepRecording& own_;
    std::vector<OfRank> ranks_;
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
            text = "+" + use(Text(*taken, std::move(ranks)).program());
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
