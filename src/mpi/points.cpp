#include "mpi/points.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <random>

#include "base/consecutive.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "mpi/error.hpp"
#include "mpi/prepare.hpp"

namespace tradewind::mpi {

namespace {

// Two exchanges in a row must not have the same.
enum Tag { own_ids = 1, question, reply, request };

std::string doing() {
    return "making a fetch";
}

Index over_all(MPI_Comm comm, Index value, MPI_Op operation) {
    Index result = 0;
    check(MPI_Allreduce(&value, &result, 1, MPI_INT64_T, operation, comm), doing);
    return result;
}

// A peer that is named and does not name the other would be waited for: each pair adds a random number of its own at
// one end and takes it away at the other, so that their sum is 0 where all is well, and hardly ever else.
std::uint64_t named(Rank rank, const std::vector<Rank>& peers) {
    const auto number = [](Rank a, Rank b) {
        return mix(static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint64_t>(b));
    };
    std::uint64_t sum = 0;
    for (const Rank peer : peers) sum += number(rank, peer) - number(peer, rank);
    return sum;
}

// All ranks go on, or none; none where they are about to do different things.
void collectively(MPI_Comm comm, const std::string& problem, const std::string& what = "") {
    prepare(comm, what, [&] {
        if (!problem.empty()) throw InputError(problem);
        return true;
    });
}

std::string wanted_by(Rank rank, Index id, std::size_t i) {
    return "rank " + std::to_string(rank) + " wants point " + std::to_string(id) + " (entry " + std::to_string(i) +
           " of its list), which no rank owns";
}

// Another one for each fetch of this process.
std::uint64_t new_mark() {
    static std::atomic<std::uint64_t> next{(static_cast<std::uint64_t>(std::random_device()()) << 32) | 1};
    return mix(next++);
}

// The words of a message to an owner about runs: where they begin, length by length; then each length, and the number
// of its runs; then the number of lengths. So the places of the first one can stay where they arrive.
RecycledVector<Index> sources_of(const pattern::Runs& runs) {
    RecycledVector<Index> words(static_cast<std::size_t>(pattern::request_words(runs)));
    Index* next = words.data();
    for (const pattern::Runs::Kind& kind : runs.kinds()) next = std::copy_n(kind.source().data(), kind.runs, next);
    for (const pattern::Runs::Kind& kind : runs.kinds()) {
        *next++ = kind.length;
        *next++ = static_cast<Index>(kind.runs);
    }
    *next = static_cast<Index>(runs.kinds().size());
    return words;
}

pattern::Runs runs_of(RecycledVector<Index> words) {
    const auto kinds = static_cast<std::size_t>(words.back());
    const std::vector<Index> lengths(words.end() - 1 - 2 * words.back(), words.end() - 1);
    std::vector<pattern::Runs::Places> others(kinds);
    const Index* next = words.data();
    for (std::size_t k = 0; k < kinds; ++k) {
        const auto count = static_cast<std::size_t>(lengths[2 * k + 1]);
        if (k > 0) {
            others[k].resize(count);
            std::copy_n(next, count, others[k].data());
        }
        next += count;
    }
    others[0] = std::move(words);
    pattern::Runs runs;
    for (std::size_t k = 0; k < kinds; ++k)
        runs.append({lengths[2 * k], static_cast<std::size_t>(lengths[2 * k + 1]), 0, std::move(others[k])});
    return runs;
}

// Some runs of a list: where each begins in it, up to the begin of the next one, with its owner and its begin there.
struct SomeRuns {
    std::size_t runs = 0;
    Index* begins = nullptr;
    std::array<Rank, Consecutive::maximum> owners;
    std::array<Index, Consecutive::maximum> sources, targets;
    std::array<std::uint16_t, Consecutive::maximum> others;  // those that are added already, whose owners are -1
    std::size_t left = 0;                                    // how many these are

    // Uses the lists up. Most runs are of the length of those around them.
    void add_to(pattern::Bundler& bundler, Index behind) {
        const Index length = begins[1] - begins[0];
        Index differ = 0;
        for (std::size_t k = 0; k < runs; ++k) differ |= (begins[k + 1] - begins[k]) ^ length;
        if (differ != 0) {
            for (std::size_t k = 0; k < runs; ++k)
                if (owners[k] >= 0) bundler.add(owners[k], {sources[k], behind + begins[k], begins[k + 1] - begins[k]});
            return;
        }
        if (behind == 0 && left == 0) {  // the targets are there already
            bundler.add(length, runs, {owners.data(), sources.data(), begins});
            return;
        }
        for (std::size_t k = 0; k < runs; ++k) targets[k] = behind + begins[k];
        for (std::size_t n = left; n-- > 0;) {  // the last ones take the places of those that are added already
            --runs;
            owners[others[n]] = owners[runs];
            sources[others[n]] = sources[runs];
            targets[others[n]] = targets[runs];
        }
        bundler.add(length, runs, {owners.data(), sources.data(), targets.data()});
    }
};

// Bundles points by the words of their owners, whose targets lie `behind` others.
void bundle_words(std::span<const Index> words, Index behind, pattern::Bundler& bundler) {
    SomeRuns found;
    Consecutive some(words);
    while ((found.runs = some.more()) > 0) {
        found.begins = some.begins();
        bundler.reached(static_cast<std::size_t>(found.begins[0]));
        for (std::size_t k = 0; k < found.runs; ++k) {
            const layout::OwnerWord owner(static_cast<std::uint64_t>(words[static_cast<std::size_t>(found.begins[k])]));
            found.owners[k] = owner.rank();
            found.sources[k] = owner.index();
        }
        found.add_to(bundler, behind);
    }
}

}  // namespace

Points::Points(MPI_Comm comm, std::span<const Index> ids) : communicator_(comm), named_(true) {
    collectively(communicator_.handle(), "", "points with ids");
    begin(static_cast<Index>(ids.size()));
    build_directory(ids);
}

Points::Points(MPI_Comm comm, Index count) : communicator_(comm) {
    collectively(communicator_.handle(), count < 0 ? std::to_string(count) + " points: 0 and more are allowed" : "",
                 "points without ids");
    begin(count);
}

Points::Points(MPI_Comm comm, const layout::Blocks& layout) : communicator_(comm), named_(true) {
    columns_ = prepare(communicator_.handle(), "the columns of " + layout.describe(), [&] {
        if (layout.ranks() != ranks())
            throw InputError("the communicator has " + std::to_string(ranks()) + " ranks, the layout is made for " +
                             std::to_string(layout.ranks()));
        if (layout.division(layout::Z).parts() > 1)
            throw InputError("a layout that divides z: its columns lie on several ranks, and points are columns");
        return std::make_unique<const layout::Columns>(layout);
    });
    const layout::Box box = layout.box(rank());
    begin(box.width(layout::X) * box.width(layout::Y));
}

void Points::begin(Index count) {
    count_ = count;
    check(MPI_Exscan(&count_, &first_, 1, MPI_INT64_T, MPI_SUM, communicator_.handle()), doing);
    if (rank() == 0) first_ = 0;
}

void Points::build_directory(std::span<const Index> ids) {
    const MPI_Comm comm = communicator_.handle();
    own_.add(rank(), ids);
    collectively(comm, own_.finish());
    const Index maximum = ids.empty() ? -1 : *std::max_element(ids.begin(), ids.end());
    highest_ = over_all(comm, maximum, MPI_MAX);
    block_ = static_cast<std::uint64_t>(std::max<Index>(highest_, 0) / ranks()) + 1;  // without any id, too
    by_block_ = LongDivider(static_cast<std::int64_t>(block_));
    MessagesByRank outgoing;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        auto& words = outgoing.to(directory_rank(ids[i]));
        words.push_back(ids[i]);
        words.push_back(static_cast<Index>(i));
    }
    const std::string problem = too_long(rank(), outgoing.messages());
    if (!problem.empty()) outgoing = MessagesByRank();  // the others get the error below
    for (const PeerMessage& message : exchange_sparsely(comm, own_ids, outgoing.messages()))
        for (std::size_t i = 0; i + 1 < message.words.size(); i += 2)
            directory_.add(message.words[i], {message.peer, message.words[i + 1]});
    const std::string twice = directory_.finish();
    collectively(comm, problem.empty() ? twice : problem);
}

template <class Take>
std::string Points::each_piece(std::span<const Index> ids, const Index* begins, std::size_t runs, Take take) const {
    const layout::Columns::Finder columns(*columns_);
    const Index end = begins[runs];
    for (Index i = begins[0]; i < end;) {
        const Index id = ids[static_cast<std::size_t>(i)];
        if (id < 0 || id >= columns_->points()) return wanted_by(rank(), id, static_cast<std::size_t>(i));
        while (i >= begins[1]) ++begins;  // to the run that holds it
        const layout::Columns::Run run = columns.from(id);
        const Index length = std::min(begins[1] - i, run.length);
        take(run.first.rank, pattern::FetchRun{run.first.index, i, length});
        i += length;
    }
    return "";
}

std::string Points::bundle_columns(std::span<const Index> ids, Index behind, pattern::Bundler& bundler) const {
    SomeRuns found;
    Consecutive some(ids);
    while ((found.runs = some.more()) > 0) {
        found.begins = some.begins();
        bundler.reached(static_cast<std::size_t>(found.begins[0]));
        found.left = 0;
        if (!columns_->find(ids.data(), found.begins, found.runs, found.owners.data(), found.sources.data()))
            for (std::size_t k = 0; k < found.runs; ++k) {
                found.others[found.left] = static_cast<std::uint16_t>(k);
                found.left += found.owners[k] < 0;
            }
        for (std::size_t n = 0; n < found.left; ++n) {
            const std::string problem =
                each_piece(ids, found.begins + found.others[n], 1, [&](Rank owner, const pattern::FetchRun& run) {
                    bundler.add(owner, {run.source, behind + run.target, run.length});
                });
            if (!problem.empty()) return problem;
        }
        found.add_to(bundler, behind);
    }
    return "";
}

pattern::FetchList Points::locate(std::span<const Index> ids) const {
    pattern::FetchList list;
    list.target = static_cast<Index>(ids.size());
    list.owner.resize(ids.size());
    list.index.resize(ids.size());
    collectively(communicator_.handle(), problem_of_names(), "owners of ids");
    std::string problem;
    if (columns_) {
        const auto take = [&](Rank owner, const pattern::FetchRun& run) {
            for (Index k = 0; k < run.length; ++k) {
                list.owner[static_cast<std::size_t>(run.target + k)] = owner;
                list.index[static_cast<std::size_t>(run.target + k)] = run.source + k;
            }
        };
        Consecutive some(ids);
        while (const std::size_t runs = problem.empty() ? some.more() : 0)
            problem = each_piece(ids, some.begins(), runs, take);
    } else {
        const Found found = look_up(ids);
        problem = found.problem;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const layout::OwnerWord owner(static_cast<std::uint64_t>(found.owners[i]));
            list.owner[i] = owner.rank();
            list.index[i] = owner.index();
        }
    }
    collectively(communicator_.handle(), problem);
    return list;
}

// Asks other ranks for the ids that lead to them and are not the rank's own. Where ids are dealt out at random to few
// ranks, whether one is its own is anybody's guess, so no branch depends on it: the others are put aside first.
Points::Found Points::look_up(std::span<const Index> ids) const {
    Found found;
    found.owners.resize(ids.size());
    RecycledVector<std::size_t> others(ids.size());
    std::size_t count = 0;
    const std::array<const layout::Directory*, 2> both{&own_, &directory_};
    layout::Directory::find_each_in([&](Index id) -> const layout::Directory& { return *both[leads_here(id)]; }, ids,
                                    [&](std::size_t i, layout::OwnerWord owner) {
                                        found.owners[i] = static_cast<Index>(owner.word());
                                        others[count] = i;
                                        count += owner.is_none();
                                    });
    MessagesByRank outgoing;
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    RecycledVector<std::size_t> asked(count, none);  // which message asks for it
    for (std::size_t k = 0; k < count; ++k) {
        const Index id = ids[others[k]];
        if (id < 0 || id > highest_) {
            if (found.problem.empty()) found.problem = wanted_by(rank(), id, others[k]);
        } else if (!leads_here(id)) {
            asked[k] = outgoing.message_to(directory_rank(id));
            outgoing.add(asked[k], id);
        }
    }
    if (const std::string many = too_long(rank(), outgoing.messages()); !many.empty()) {
        found.problem = many;
        outgoing = MessagesByRank();  // sends no question, but replies
        count = 0;
    }
    std::vector<PeerMessage> messages = outgoing.take();
    ask(messages);
    std::vector<const Index*> next;
    for (const PeerMessage& message : messages) next.push_back(message.words.data());
    for (std::size_t k = 0; k < count; ++k) {
        const std::size_t i = others[k];
        if (asked[k] != none) found.owners[i] = *next[asked[k]]++;
        if (found.owners[i] == 0 && found.problem.empty()) found.problem = wanted_by(rank(), ids[i], i);
    }
    return found;
}

// A rank that was asked knows by which ranks: replies need no consensus.
void Points::ask(std::vector<PeerMessage>& questions) const {
    const MPI_Comm comm = communicator_.handle();
    std::vector<PeerMessage> asked = exchange_sparsely(comm, question, questions);
    std::vector<MPI_Request> sends;
    for (PeerMessage& message : asked) {
        directory_.find_each(message.words, [&](std::size_t i, layout::OwnerWord owner) {
            message.words[i] = static_cast<Index>(owner.word());
        });
        check(MPI_Isend(message.words.data(), static_cast<int>(message.words.size()), MPI_INT64_T, message.peer, reply,
                        comm, &sends.emplace_back()),
              doing);
    }
    for (PeerMessage& message : questions)
        check(MPI_Recv(message.words.data(), static_cast<int>(message.words.size()), MPI_INT64_T, message.peer, reply,
                       comm, MPI_STATUS_IGNORE),
              doing);
    check(MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE), doing);
}

std::shared_ptr<pattern::Fetch> Points::fetch_ids(std::span<const Index> ids, Index behind, bool one_array, bool known,
                                                  const std::vector<Rank>& peers) const {
    Found found;
    if (!columns_) {  // all ranks are to look up together
        collectively(communicator_.handle(), problem_of_names(), "owners of ids");
        found = look_up(ids);
    }
    const auto bundles = [&] {
        pattern::Bundler bundler(ids.size());
        if (columns_) found.problem = bundle_columns(ids, behind, bundler);
        if (!found.problem.empty()) throw InputError(found.problem);
        bundle_words(found.owners, behind, bundler);
        return bundler.take();
    };
    return made_of(bundles, true, behind + static_cast<Index>(ids.size()), one_array, known, peers);
}

std::shared_ptr<pattern::Fetch> Points::fetch(pattern::FetchList list, bool one_array, bool known,
                                              const std::vector<Rank>& peers) const {
    const auto bundles = [&] {
        if (const std::string problem = pattern::problem_of(list, rank(), ranks()); !problem.empty())
            throw InputError(problem);
        return pattern::bundles_of(list);
    };
    return made_of(bundles, false, list.target, one_array, known, peers);
}

template <class Bundles>
std::shared_ptr<pattern::Fetch> Points::made_of(Bundles bundles, bool owned, Index target, bool one_array, bool known,
                                                const std::vector<Rank>& peers) const {
    const MPI_Comm comm = communicator_.handle();
    pattern::FetchPart part;
    part.first = first_;
    part.source = one_array ? std::max(count_, target) : count_;
    part.target = target;
    Sums over_all{};  // the points that are wanted, whether peers name each other, and a mark of this fetch
    std::vector<PeerMessage> messages;
    const auto ask = [&] {
        for (const Rank peer : peers)
            if (peer < 0 || peer >= ranks() || peer == rank())
                throw InputError("rank " + std::to_string(rank()) + " names peer " + std::to_string(peer) +
                                 "; other ranks of 0.." + std::to_string(ranks() - 1) + " are allowed");
        std::vector<pattern::FetchBundle> made = bundles();
        for (const pattern::FetchBundle& bundle : made) over_all[0] += static_cast<std::uint64_t>(bundle.points);
        over_all[1] = named(rank(), peers);
        if (rank() == 0) over_all[2] = new_mark();
        pattern::take_bundles(part, std::move(made), rank(), ranks());
        pattern::storage_of({&part, 1});  // which may refuse
        if (!owned) check_owned(part.kept, rank());
        for (const pattern::FetchBundle& bundle : part.receives) {
            if (known && !std::binary_search(peers.begin(), peers.end(), bundle.peer))
                throw InputError("rank " + std::to_string(rank()) + " wants points of rank " +
                                 std::to_string(bundle.peer) + ", which is not among its peers");
            messages.push_back({bundle.peer, sources_of(bundle.runs)});
        }
        if (const std::string problem = too_long(rank(), messages); !problem.empty()) throw InputError(problem);
        return true;
    };
    const std::string what = std::string(one_array ? "a halo" : "a fetch") + (columns_ && owned ? " by columns" : "");
    prepare(comm, what + (known ? " among known peers" : ""), ask, over_all);
    if (over_all[1] != 0)
        throw InputError("the ranks do not name each other as peers: each must be among the peers of all of its own");
    auto requests =
        known ? exchange_among(comm, request, peers, std::move(messages)) : exchange_sparsely(comm, request, messages);
    const auto take = [&] {
        take_requests(part, std::move(requests), owned);
        if (one_array) check_no_ghosts(part);
        return true;
    };
    if (owned && !one_array)
        take();  // which no rank can refuse
    else
        prepare(comm, "", take);
    return std::make_shared<pattern::Fetch>(ranks(), rank(), std::move(part), static_cast<Index>(over_all[0]),
                                            over_all[2], one_array);
}

void Points::refuse(const std::string& problem) const {
    agree(communicator_.handle(), "", problem);
}

void Points::take_requests(pattern::FetchPart& part, std::vector<PeerMessage> requests, bool owned) const {
    for (PeerMessage& message : requests) {
        if (message.words.empty()) continue;
        const pattern::Runs& runs =
            part.sends.emplace_back(pattern::FetchBundle{message.peer, 0, runs_of(std::move(message.words))}).runs;
        if (!owned) check_owned(runs, message.peer);
        part.sends.back().points = runs.points();
    }
}

void Points::check_owned(const pattern::Runs& runs, Rank wants) const {
    for (const pattern::Runs::Kind& kind : runs.kinds()) {
        Index last = 0;
        for (const Index source : kind.source()) last = std::max(last, source);
        last += kind.length - 1;
        if (last < count_) continue;
        throw InputError("rank " + std::to_string(wants) + " wants point " + std::to_string(last) + " of " +
                         (wants == rank() ? "itself" : "rank " + std::to_string(rank())) + ", which has " +
                         std::to_string(count_) + ": no rank owns it");
    }
}

// Within one array a ghost point, which is filled from elsewhere, is no point that others can have.
void Points::check_no_ghosts(const pattern::FetchPart& part) const {
    std::vector<bool> ghosts(static_cast<std::size_t>(part.source), false);
    const auto each = [](const pattern::Runs& runs, auto visit) {
        for (const pattern::FetchRun& run : runs)
            for (Index i = 0; i < run.length; ++i) visit(run, i);
    };
    const auto mark_ghost = [&](const pattern::FetchRun& run, Index i) {
        ghosts[static_cast<std::size_t>(run.target + i)] = true;
    };
    each(part.kept, mark_ghost);
    for (const pattern::FetchBundle& bundle : part.receives) each(bundle.runs, mark_ghost);
    Rank peer = rank();
    const auto check_source = [&](const pattern::FetchRun& run, Index i) {
        if (ghosts[static_cast<std::size_t>(run.source + i)])
            throw InputError("rank " + std::to_string(peer) + " wants point " + std::to_string(run.source + i) +
                             " of rank " + std::to_string(rank()) +
                             ", which that rank takes from elsewhere itself: no rank owns it");
    };
    each(part.kept, check_source);
    for (const pattern::FetchBundle& bundle : part.sends) {
        peer = bundle.peer;
        each(bundle.runs, check_source);
    }
}

}  // namespace tradewind::mpi
