#include "mpi/recording.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "mpi/agreement.hpp"
#include "mpi/error.hpp"
#include "mpi/plan.hpp"
#include "mpi/prepare.hpp"
#include "mpi/recorded_exchanges.hpp"
#include "mpi/recorded_program.hpp"
#include "mpi/recorded_rank.hpp"

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

struct StepRecording {
    std::unique_ptr<Communicator> communicator;
    MPI_Group group = MPI_GROUP_NULL;
    std::int64_t last = 0;
    std::vector<RecordedCall> calls;
    std::vector<UsedPlan> plans;
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
    UsedPlan used{plan.carried(), plan.describe(), ranks_of(plan.communicator(), recording.group),
                  plan.sent(),    plan.number(),   own == 0};
    for (const Rank rank : used.ranks)
        if (rank == MPI_UNDEFINED && recording.problem.empty())
            recording.problem = "a plan among ranks outside the communicator that is recorded: " + used.description;
    recording.plans.push_back(std::move(used));
    return found->second;
}

void note(StepRecording& recording, const Plan& plan, Call call, std::int64_t begin) {
    const std::size_t place = place_of(recording, plan);
    UsedPlan& used = recording.plans[place];
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
    for (const UsedPlan& used : taken->plans)
        if (used.open && own.empty())
            own = "an exchange that was started in the recording, and not awaited: " + used.description;
    const MPI_Comm comm = taken->communicator->handle();
    const Rank rank = taken->communicator->rank();
    const auto words_of_rank = [&] {
        if (!own.empty()) throw InputError(own);
        return words_of(taken->calls, taken->plans, std::max<std::int64_t>(0, end - taken->last));
    };
    // Where the caller fails others may wait for its messages for ever, and never come here.
    const Words mine =
        prepare(comm, "the end of a recording", words_of_rank, problem.empty() ? 0 : patience_s, end_a_recording);
    const std::vector<Words> words = gathered(comm, rank, taken->communicator->ranks(), mine);
    std::string text;
    std::exception_ptr failure;
    if (rank == 0) {
        try {
            std::vector<RecordedRank> ranks;
            for (std::size_t r = 0; r < words.size(); ++r)
                ranks.push_back(recorded_rank(words[r], static_cast<std::int64_t>(r)));
            text = "+" + use(recorded_program(RecordedExchanges(std::move(ranks))));
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
