#include "mpi/agreement.hpp"

#include <array>
#include <cstdint>
#include <limits>

#include "mpi/error.hpp"

namespace tradewind {

namespace {

constexpr std::int64_t nobody = std::numeric_limits<std::int64_t>::max();

std::string doing() {
    return "comparing the plans of the ranks";
}

// FNV-1a.
std::uint64_t hash(const std::string& text) {
    std::uint64_t h = 14695981039346656037ULL;
    for (const unsigned char c : text) h = (h ^ c) * 1099511628211ULL;
    return h;
}

std::int64_t first_rank(MPI_Comm comm, int rank, bool applies) {
    std::int64_t mine = applies ? rank : nobody, first = nobody;
    check(MPI_Allreduce(&mine, &first, 1, MPI_INT64_T, MPI_MIN, comm), doing);
    return first;
}

enum class Verdict { alike, different, cannot };

// Throws on a rank without a problem where another one has one; there: `cannot`.
Verdict compare(MPI_Comm comm, const std::string& text, const std::string& problem) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const auto h = static_cast<std::int64_t>(hash(text) >> 1);  // leave its negative a number
    const std::array<std::int64_t, 3> mine{problem.empty() ? nobody : rank, h, -h};
    std::array<std::int64_t, 3> least{};
    check(MPI_Allreduce(mine.data(), least.data(), 3, MPI_INT64_T, MPI_MIN, comm), doing);
    if (least[0] == nobody) return least[1] == -least[2] ? Verdict::alike : Verdict::different;
    const std::string theirs = text_of(comm, static_cast<int>(least[0]), problem);
    if (!problem.empty()) return Verdict::cannot;
    throw PlanError("rank " + std::to_string(least[0]) + " cannot make this plan: " + theirs);
}

}  // namespace

std::string text_of(MPI_Comm comm, int root, std::string text) {
    std::int64_t length = static_cast<std::int64_t>(text.size());
    check(MPI_Bcast(&length, 1, MPI_INT64_T, root, comm), doing);
    text.resize(static_cast<std::size_t>(length));
    check(MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, root, comm), doing);
    return text;
}

bool alike(MPI_Comm comm, const std::string& text) {
    return compare(comm, text, "") == Verdict::alike;
}

void agree(MPI_Comm comm, const std::string& identity, const std::string& problem) {
    if (compare(comm, identity, problem) != Verdict::different) return;
    const std::string first = text_of(comm, 0, identity);
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const std::int64_t other = first_rank(comm, rank, identity != first);
    const std::string theirs = text_of(comm, static_cast<int>(other), identity);
    throw PlanError("the ranks make different plans: rank 0 {" + first + "}, rank " + std::to_string(other) + " {" +
                    theirs + "}; all ranks must make the same ones in the same order");
}

}  // namespace tradewind
