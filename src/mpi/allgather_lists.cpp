#include "mpi/allgather_lists.hpp"

#include <limits>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "mpi/agreement.hpp"
#include "mpi/error.hpp"
#include "pattern/fetch_adjoint.hpp"
#include "pattern/gather_scatter.hpp"

namespace tradewind::mpi {

namespace {

using Words = std::vector<Index>;

std::string gathering() {
    return "gathering what all ranks fetch";
}

// Points of the source array, points of the target array, and of each point owner, index and place.
Words words_of(const pattern::FetchPart& part, Rank rank) {
    Words words{part.source, part.target};
    const auto add = [&](Rank peer, const auto& runs) {
        for (const pattern::FetchRun& run : runs)
            for (Index i = 0; i < run.length; ++i) words.insert(words.end(), {peer, run.source + i, run.target + i});
    };
    add(rank, part.kept);
    for (const pattern::FetchBundle& bundle : part.receives) add(bundle.peer, bundle.runs);
    return words;
}

// Why this rank's part cannot be had; "" if it can.
std::string problem_of(const pattern::Fetch& fetch, Rank rank, Rank ranks) {
    if (fetch.ranks() != ranks)
        return "a fetch among " + std::to_string(fetch.ranks()) + " ranks is not of points among " +
               std::to_string(ranks);
    try {
        fetch.part(rank);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

// The words of each rank. Throws InputError, on all ranks alike, where they are too many.
std::vector<Words> of_all_ranks(MPI_Comm comm, const Words& mine, const std::string& too_many) {
    Rank size = 0;
    MPI_Comm_size(comm, &size);
    const auto ranks = static_cast<std::size_t>(size);
    Words counts(ranks);
    const auto count = static_cast<Index>(mine.size());
    check(MPI_Allgather(&count, 1, MPI_INT64_T, counts.data(), 1, MPI_INT64_T, comm), gathering);
    const Index total = std::accumulate(counts.begin(), counts.end(), Index{0});
    if (total > std::numeric_limits<int>::max()) throw InputError(too_many);
    std::vector<int> lengths(counts.begin(), counts.end()), begins(ranks, 0);
    std::partial_sum(lengths.begin(), lengths.end() - 1, begins.begin() + 1);
    Words all(static_cast<std::size_t>(total));
    check(MPI_Allgatherv(mine.data(), static_cast<int>(count), MPI_INT64_T, all.data(), lengths.data(), begins.data(),
                         MPI_INT64_T, comm),
          gathering);
    std::vector<Words> of_rank;
    for (std::size_t r = 0; r < ranks; ++r)
        of_rank.emplace_back(all.begin() + begins[r], all.begin() + begins[r] + lengths[r]);
    return of_rank;
}

std::shared_ptr<const pattern::Pattern> allgather_ids(MPI_Comm comm, const pattern::ListedGatherScatter& own) {
    Words ids;
    for (Index cell = 0; cell < own.cells(own.only()); ++cell) ids.push_back(own.id(own.only(), cell));
    const auto all = of_all_ranks(comm, ids,
                                  "the ids that ranks share are not gathered: MPI counts to 2147483647, and there are "
                                  "more; use pairwise");
    return std::make_shared<pattern::ListedGatherScatter>(own, all);
}

}  // namespace

std::shared_ptr<const pattern::Fetch> allgather_lists(MPI_Comm comm, const pattern::Fetch& fetch) {
    Rank rank = 0, size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const std::string problem = problem_of(fetch, rank, size);
    agree(comm, "the lists of a " + fetch.signature(), problem);
    if (!problem.empty()) throw InputError(problem);

    const std::vector<Words> all =
        of_all_ranks(comm, words_of(fetch.part(rank), rank),
                     "a fetch of " + std::to_string(fetch.points()) +
                         " points is not gathered: MPI counts to 2147483647, and a " + "point takes 3 numbers");
    const auto ranks = static_cast<std::size_t>(size);
    Words sources;
    std::vector<pattern::FetchList> lists(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
        const Index* word = all[r].data();
        const Index* const end = word + all[r].size();
        sources.push_back(*word++);
        lists[r].target = *word++;
        for (; word != end; word += 3) {
            lists[r].owner.push_back(static_cast<Rank>(word[0]));
            lists[r].index.push_back(word[1]);
            lists[r].place.push_back(word[2]);
        }
    }
    return pattern::Fetch(std::move(sources), lists, fetch.one_array()).with_levels(fetch.levels());
}

std::shared_ptr<const pattern::Pattern> allgather_lists(MPI_Comm comm,
                                                        const std::shared_ptr<const pattern::Pattern>& pattern,
                                                        const std::string& algorithm, bool needed) {
    agree(comm, pattern->signature() + ", " + algorithm + (needed ? "" : ", with its own lists"), "");
    if (const auto* adjoint = dynamic_cast<const pattern::FetchAdjoint*>(pattern.get()))
        return std::make_shared<pattern::FetchAdjoint>(allgather_lists(comm, adjoint->fetch()));
    if (const auto* shared = dynamic_cast<const pattern::ListedGatherScatter*>(pattern.get()))
        return allgather_ids(comm, *shared);
    return allgather_lists(comm, dynamic_cast<const pattern::Fetch&>(*pattern));
}

}  // namespace tradewind::mpi
