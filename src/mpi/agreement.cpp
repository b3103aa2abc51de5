#include "mpi/agreement.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

#include "base/hash.hpp"
#include "mpi/error.hpp"
#include "mpi/threads.hpp"
#include "mpi/waiting.hpp"

namespace tradewind::mpi {

namespace {

constexpr std::int64_t no_rank = std::numeric_limits<std::int64_t>::max();

std::string agreeing() {
    return "comparing the plans of the ranks";
}

std::int64_t first_rank(MPI_Comm comm, int rank, bool applies) {
    std::int64_t mine = applies ? rank : no_rank, first = no_rank;
    check(MPI_Allreduce(&mine, &first, 1, MPI_INT64_T, MPI_MIN, comm), agreeing);
    return first;
}

// Result of one reduction over all ranks: the minimum of the first numbers, the sums of the others.
struct Ballot {
    std::int64_t problem = no_rank;  // first rank that has one
    std::int64_t text = 0, minus_text = 0;
    Sums sums{};
};

void count(void* in, void* in_and_out, int* ballots, MPI_Datatype*) {
    const auto* const theirs = static_cast<const Ballot*>(in);
    auto* const ours = static_cast<Ballot*>(in_and_out);
    for (int i = 0; i < *ballots; ++i) {
        ours[i].problem = std::min(ours[i].problem, theirs[i].problem);
        ours[i].text = std::min(ours[i].text, theirs[i].text);
        ours[i].minus_text = std::min(ours[i].minus_text, theirs[i].minus_text);
        for (std::size_t k = 0; k < ours[i].sums.size(); ++k) ours[i].sums[k] += theirs[i].sums[k];
    }
}

// For as long as MPI runs.
struct Counting {
    MPI_Datatype ballot = MPI_DATATYPE_NULL;
    MPI_Op operation = MPI_OP_NULL;
    Counting() {
        check(MPI_Type_contiguous(sizeof(Ballot), MPI_BYTE, &ballot), agreeing);
        check(MPI_Type_commit(&ballot), agreeing);
        check(MPI_Op_create(count, 1, &operation), agreeing);
    }
};

enum class Verdict { alike, different, cannot };

thread_local Agreements taken;

// Buffers of MPI: they outlive a wait that is given up.
struct Reduction {
    Ballot mine, all;
    MPI_Request request = MPI_REQUEST_NULL;
};

// Throws on a rank without a problem where another one has one; there: `cannot`.
Verdict compare(MPI_Comm comm, const std::string& text, const std::string& problem, Sums& sums, double limit_s,
                const Task& task) {
    const ThreadPermit permit;
    static const Counting counting;
    ++taken.begun;
    ++taken.failed;  // until all ranks are known to go on
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const auto h = static_cast<std::int64_t>(fnv1a(text) >> 1);  // leave its negative a number
    auto reduction = std::make_unique<Reduction>(Reduction{{problem.empty() ? no_rank : rank, h, -h, sums}, {}});
    check(MPI_Iallreduce(&reduction->mine, &reduction->all, 1, counting.ballot, counting.operation, comm,
                         &reduction->request),
          agreeing);
    try {
        wait_all(
            1, &reduction->request, MPI_STATUSES_IGNORE, limit_s,
            [&] { return "rank " + std::to_string(rank) + ", " + task.doing; },
            [&](int) { return std::string("all other ranks to ") + task.join + ", too"; });
    } catch (...) {
        static_cast<void>(reduction.release());
        throw;
    }
    const Ballot all = reduction->all;
    sums = all.sums;
    if (all.problem == no_rank) {
        --taken.failed;
        return all.text == -all.minus_text ? Verdict::alike : Verdict::different;
    }
    const std::string theirs = text_of(comm, static_cast<int>(all.problem), problem);
    if (!problem.empty()) return Verdict::cannot;
    throw PlanError("rank " + std::to_string(all.problem) + " cannot " + task.verb + ": " + theirs);
}

}  // namespace

std::string text_of(MPI_Comm comm, int root, std::string text) {
    std::int64_t length = static_cast<std::int64_t>(text.size());
    check(MPI_Bcast(&length, 1, MPI_INT64_T, root, comm), agreeing);
    text.resize(static_cast<std::size_t>(length));
    check(MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, root, comm), agreeing);
    return text;
}

std::vector<std::string> texts_of(MPI_Comm comm, const std::string& text) {
    int ranks = 0;
    MPI_Comm_size(comm, &ranks);
    const int mine = static_cast<int>(text.size());
    std::vector<int> sizes(static_cast<std::size_t>(ranks)), begins(sizes.size());
    check(MPI_Allgather(&mine, 1, MPI_INT, sizes.data(), 1, MPI_INT, comm), agreeing);
    std::exclusive_scan(sizes.begin(), sizes.end(), begins.begin(), 0);
    std::string all(static_cast<std::size_t>(begins.back() + sizes.back()), '\0');
    check(MPI_Allgatherv(text.data(), mine, MPI_CHAR, all.data(), sizes.data(), begins.data(), MPI_CHAR, comm),
          agreeing);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        texts.push_back(all.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(sizes[i])));
    return texts;
}

Agreements agreements() {
    return taken;
}

bool alike(MPI_Comm comm, const std::string& identity, const std::string& problem, double limit_s) {
    Sums sums{};
    return compare(comm, identity, problem, sums, limit_s, make_a_plan) == Verdict::alike;
}

Sums agree(MPI_Comm comm, const std::string& identity, const std::string& problem, const Sums& added, double limit_s,
           const Task& task) {
    Sums sums = added;
    if (compare(comm, identity, problem, sums, limit_s, task) != Verdict::different) return sums;
    ++taken.failed;
    const std::string first = text_of(comm, 0, identity);
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const std::int64_t other = first_rank(comm, rank, identity != first);
    const std::string theirs = text_of(comm, static_cast<int>(other), identity);
    throw PlanError("the ranks make different plans: rank 0 {" + first + "}, rank " + std::to_string(other) + " {" +
                    theirs + "}; all ranks must make the same ones in the same order");
}

}  // namespace tradewind::mpi
