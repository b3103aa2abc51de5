#include "mpi/sharing.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "mpi/communicator.hpp"
#include "mpi/error.hpp"
#include "mpi/prepare.hpp"
#include "mpi/sparse.hpp"

namespace tradewind::mpi {

namespace {

enum SharingTag { ids_tag = 1, reply_sharers };

std::string sharing() {
    return "making a gather-scatter";
}

template <class T>
T summed(MPI_Comm comm, T value, MPI_Datatype type) {
    T sum{};
    check(MPI_Allreduce(&value, &sum, 1, type, MPI_SUM, comm), sharing);
    return sum;
}

// Ids in a row lead to one rank, so that few ranks receive those of a part of a mesh; which rank that is looks
// random, so that any numbering spreads over all of them.
class DirectoryRanks {
  public:
    DirectoryRanks(MPI_Comm comm, Index own_ids, Rank ranks) : ranks_(static_cast<std::uint64_t>(ranks)) {
        const Index all = summed(comm, own_ids, MPI_INT64_T);
        row_ = static_cast<std::uint64_t>(std::max<Index>(1, all / ranks));
    }
    Rank of(Index id) const { return static_cast<Rank>(mix(static_cast<std::uint64_t>(id) / row_) % ranks_); }

  private:
    std::uint64_t ranks_, row_;
};

// The ids that lead to a rank, each with a rank that has it; the first of those that several ranks have, and the end.
struct Received {
    std::vector<std::pair<Index, Rank>> entries;
    std::vector<std::pair<std::size_t, std::size_t>> shared;

    explicit Received(const std::vector<PeerMessage>& messages) {
        for (const PeerMessage& message : messages)
            for (const Index id : message.words) entries.emplace_back(id, message.peer);
        std::sort(entries.begin(), entries.end());
        for (std::size_t begin = 0, end = 0; begin < entries.size(); begin = end) {
            while (end < entries.size() && entries[end].first == entries[begin].first) ++end;
            if (end - begin > 1) shared.emplace_back(begin, end);
        }
    }
    // By rank: of each shared id of its own the id, its number, how many ranks have it, and these.
    MessagesByRank replies(Index first_number) const {
        MessagesByRank replies;
        for (const auto& [begin, end] : shared) {
            for (std::size_t i = begin; i < end; ++i) {
                auto& words = replies.to(entries[i].second);
                words.insert(words.end(), {entries[i].first, first_number, static_cast<Index>(end - begin)});
                for (std::size_t k = begin; k < end; ++k) words.push_back(entries[k].second);
            }
            ++first_number;
        }
        return replies;
    }
};

pattern::SharedIds shared_ids_of(const std::vector<PeerMessage>& replies) {
    struct Entry {
        Index id;
        const Index* words;
    };
    std::vector<Entry> entries;
    for (const PeerMessage& message : replies)
        for (std::size_t i = 0; i < message.words.size(); i += 3 + static_cast<std::size_t>(message.words[i + 2]))
            entries.push_back({message.words[i], message.words.data() + i});
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.id < b.id; });
    pattern::SharedIds with;
    for (const Entry& entry : entries) {
        with.ids.push_back(entry.id);
        with.numbers.push_back(entry.words[1]);
        for (Index k = 0; k < entry.words[2]; ++k) with.ranks.push_back(static_cast<Rank>(entry.words[3 + k]));
        with.begins.push_back(with.ranks.size());
    }
    return with;
}

// All ranks go on, or none.
void go_on_unless(MPI_Comm comm, const std::string& problem) {
    prepare(comm, "", [&] {
        if (!problem.empty()) throw InputError(problem);
        return true;
    });
}

}  // namespace

std::shared_ptr<const pattern::ListedGatherScatter> share_ids(MPI_Comm comm_of_caller, std::span<const Index> ids,
                                                              const std::string& operation) {
    const Communicator communicator(comm_of_caller);
    const MPI_Comm comm = communicator.handle();
    const Rank rank = communicator.rank(), ranks = communicator.ranks();
    const auto own = prepare(comm, "a gather-scatter, " + operation, [&] {
        pattern::copy_loops("f8", operation);  // which may refuse
        return pattern::OwnIds(ids);
    });
    const DirectoryRanks directory(comm, static_cast<Index>(own.ids.size()), ranks);
    MessagesByRank outgoing;
    for (const Index id : own.ids) outgoing.to(directory.of(id)).push_back(id);
    go_on_unless(comm, too_long(rank, outgoing.messages()));
    const Received received(exchange_sparsely(comm, ids_tag, outgoing.messages()));

    const auto numbers = static_cast<Index>(received.shared.size());
    Index first = 0;
    check(MPI_Exscan(&numbers, &first, 1, MPI_INT64_T, MPI_SUM, comm), sharing);
    const Index shared = summed(comm, numbers, MPI_INT64_T);
    const MessagesByRank replies = received.replies(rank == 0 ? 0 : first);
    go_on_unless(comm, too_long(rank, replies.messages()));
    const pattern::SharedIds with = shared_ids_of(exchange_sparsely(comm, reply_sharers, replies.messages()));

    std::uint64_t mark = mix(static_cast<std::uint64_t>(rank), ids.size());
    for (const Index id : ids) mark = mix(mark, static_cast<std::uint64_t>(std::max<Index>(id, 0)));
    mark = summed(comm, mark, MPI_UINT64_T);
    return prepare(comm, "", [&] {
        return std::make_shared<const pattern::ListedGatherScatter>(ranks, rank, ids, with, shared, mark, operation);
    });
}

}  // namespace tradewind::mpi
