#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/long_divide.hpp"
#include "layout/columns.hpp"
#include "layout/directory.hpp"
#include "mpi/communicator.hpp"
#include "mpi/sparse.hpp"
#include "pattern/fetch.hpp"

namespace tradewind::mpi {

// The points that each rank of a communicator owns, as each knows its own alone; from them fetches are made. Nothing is
// kept for each rank: who owns an id is looked up at a third rank, to which its number leads, or is computed from a
// layout. Everything that makes one is collective; where a rank throws InputError, the others throw PlanError.
class Points {
  public:
    // The global ids of this rank's points, in the order of its array.
    Points(MPI_Comm comm, std::span<const Index> ids);
    // So many points, which have no ids: who wants one names its owner and its place there.
    Points(MPI_Comm comm, Index count);
    // The columns of a grid that is divided along x, y or both: column (x, y) is point x + nx y. A rank's array has
    // them row by row.
    Points(MPI_Comm comm, const layout::Blocks& layout);

    Rank rank() const { return communicator_.rank(); }
    Rank ranks() const { return communicator_.ranks(); }
    Index count() const { return count_; }
    MPI_Comm communicator() const { return communicator_.handle(); }  // a duplicate of the caller's

    // In place of anything else that is collective, by a rank that cannot: the others throw PlanError.
    void refuse(const std::string& problem) const;

    // Owners and indices of ids, in their order. Throws where no rank owns one.
    pattern::FetchList locate(std::span<const Index> ids) const;
    // The points of these ids, `behind` as many other points of the target array. See `fetch`.
    std::shared_ptr<pattern::Fetch> fetch_ids(std::span<const Index> ids, Index behind, bool one_array, bool known,
                                              const std::vector<Rank>& peers) const;
    // Makes the fetch of all lists. `known`: the owners of what this rank wants, and the ranks that want its points,
    // are all among `peers` (ascending, the same at both ends), so that no consensus is needed.
    std::shared_ptr<pattern::Fetch> fetch(pattern::FetchList list, bool one_array, bool known,
                                          const std::vector<Rank>& peers) const;

  private:
    void begin(Index count);
    void build_directory(std::span<const Index> ids);
    Rank directory_rank(Index id) const { return static_cast<Rank>(by_block_.quotient(id)); }
    bool leads_here(Index id) const {
        return static_cast<std::uint64_t>(id) - block_ * static_cast<std::uint64_t>(rank()) < block_;
    }
    // Calls `take(owner, FetchRun)` for each piece of runs of ids (see Consecutive) whose points follow each other
    // where they lie; its target is counted from 0. Returns the problem of the ids, "" if they have none.
    template <class Take>
    std::string each_piece(std::span<const Index> ids, const Index* begins, std::size_t runs, Take take) const;
    // The same for all ids, whose targets lie `behind` others.
    std::string bundle_columns(std::span<const Index> ids, Index behind, pattern::Bundler& bundler) const;
    // Makes a fetch, of whichever kind; `bundles()` makes those of this rank, or throws InputError. `owned`, on all
    // ranks alike: there is nothing among them that its owner might not have.
    template <class Bundles>
    std::shared_ptr<pattern::Fetch> made_of(Bundles bundles, bool owned, Index target, bool one_array, bool known,
                                            const std::vector<Rank>& peers) const;
    // The words of the owners of ids, in their order, and the problem of the ids, "" if they have none. Collective.
    struct Found {
        RecycledVector<Index> owners;
        std::string problem;
    };
    Found look_up(std::span<const Index> ids) const;
    // Puts the words of owners in the place of ids that other ranks are asked for. Collective.
    void ask(std::vector<PeerMessage>& questions) const;
    std::string problem_of_names() const { return named_ ? "" : "these points have no ids: name owners and indices"; }
    void take_requests(pattern::FetchPart& part, std::vector<PeerMessage> requests, bool owned) const;
    void check_owned(const pattern::Runs& runs, Rank wants) const;
    void check_no_ghosts(const pattern::FetchPart& part) const;

    Communicator communicator_;
    Index count_ = 0, first_ = 0;
    Index highest_ = -1;       // of all ids
    std::uint64_t block_ = 1;  // ids that lead to one rank
    LongDivider by_block_{1};
    layout::Directory directory_, own_;  // the points whose ids lead to this rank; its own points
    std::unique_ptr<const layout::Columns> columns_;
    bool named_ = false;  // whether points have ids
};

}  // namespace tradewind::mpi
