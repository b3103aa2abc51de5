// One collective of MPI a stage: all-to-all in a group, or among neighbours.
#include <algorithm>
#include <limits>
#include <map>

#include "mpi/carrier.hpp"
#include "mpi/error.hpp"
#include "mpi/packing/datatype.hpp"
#include "pattern/pattern.hpp"

namespace tradewind::mpi {

namespace {

// A communicator of our own, which reports errors.
class Group {
  public:
    Group() = default;
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    ~Group() {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (comm != MPI_COMM_NULL && !finalized) MPI_Comm_free(&comm);
    }
    MPI_Comm comm = MPI_COMM_NULL;
};

// The messages to, or from, each member of a group.
struct Side {
    std::vector<int> counts, begins;  // bytes
    std::vector<MPI_Datatype> types;
    std::vector<Datatype> made;
};

int as_int(Index bytes, const char* what) {
    if (bytes > std::numeric_limits<int>::max())
        throw InputError("transport \"alltoallv\" or \"neighbor\": " + std::to_string(bytes) + " bytes " + what +
                         " are more than the collectives of MPI count (2147483647); packing \"datatype\" takes them");
    return static_cast<int>(bytes);
}

class Collective : public Carrier {
  public:
    enum class Kind { alltoallv, alltoallw, neighbor_v, neighbor_w };

    Collective(const Work& work, const schedule::Schedule& schedule, Buffers& buffers, Kind kind)
        : work_(work), buffers_(buffers), kind_(kind) {
        std::vector<int> sources, targets;
        if (neighbors()) {
            if (work.stages() > 0) {
                targets = peers(work.stage(0).sends);
                sources = peers(work.stage(0).receives);
            }
            make_graph(sources, targets);
        } else {
            make_group(schedule.pattern());
            targets = sources = members();
        }
        if (work.stages() == 0) return;
        out_ = side(work.stage(0).sends, targets, buffers.outgoing);
        in_ = side(work.stage(0).receives, sources, buffers.incoming);
        messages_ = static_cast<Index>(work.stage(0).sends.size());
    }

    void post(int s) override {
        check(call(&request_), [&] { return work_.where(s) + ": " + name(); });
    }
    void arrive(int s) override {
        wait_all(
            1, &request_, MPI_STATUSES_IGNORE, work_.request.watchdog_s, [&] { return work_.where(s); },
            [&](int) { return name(); });
    }
    bool exchange(int s) override {
        if (work_.request.watchdog_s > 0) return false;  // a blocking call could not be given up
        check(call(nullptr), [&] { return work_.where(s) + ": " + name(); });
        return true;
    }
    Index messages() const override { return messages_; }

  private:
    bool neighbors() const { return kind_ == Kind::neighbor_v || kind_ == Kind::neighbor_w; }
    bool typed() const { return kind_ == Kind::alltoallw || kind_ == Kind::neighbor_w; }
    std::string name() const {
        switch (kind_) {
            case Kind::alltoallv: return "MPI_Alltoallv";
            case Kind::alltoallw: return "MPI_Alltoallw";
            case Kind::neighbor_v: return "MPI_Neighbor_alltoallv";
            default: return "MPI_Neighbor_alltoallw";
        }
    }

    // --- when the plan is made ---

    static std::vector<int> peers(const std::vector<End>& ends) {
        std::vector<int> all;
        for (const End& end : ends) all.push_back(end.peer);
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }
    void must(int code) const {
        check(code, [this] { return work_.where(0) + ": making the communicator of " + name(); });
    }
    void make_graph(const std::vector<int>& sources, const std::vector<int>& targets) {
        must(MPI_Dist_graph_create_adjacent(work_.comm(), static_cast<int>(sources.size()), sources.data(),
                                            MPI_UNWEIGHTED, static_cast<int>(targets.size()), targets.data(),
                                            MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &group_.comm));
        MPI_Comm_set_errhandler(group_.comm, MPI_ERRORS_RETURN);
    }
    // Transpositions often fall apart into rows or columns of ranks; other patterns are one group.
    void make_group(const pattern::Pattern& pattern) {
        const int rank = work_.communicator.rank();
        must(MPI_Comm_split(work_.comm(), pattern.group(rank), rank, &group_.comm));
        MPI_Comm_set_errhandler(group_.comm, MPI_ERRORS_RETURN);
    }
    // The ranks of the group, in its order, as the whole communicator numbers them.
    std::vector<int> members() const {
        int size = 0;
        MPI_Comm_size(group_.comm, &size);
        MPI_Group ours, all;
        MPI_Comm_group(group_.comm, &ours);
        MPI_Comm_group(work_.comm(), &all);
        std::vector<int> local(static_cast<std::size_t>(size)), ranks(local.size());
        for (int i = 0; i < size; ++i) local[static_cast<std::size_t>(i)] = i;
        MPI_Group_translate_ranks(ours, size, local.data(), all, ranks.data());
        MPI_Group_free(&ours);
        MPI_Group_free(&all);
        return ranks;
    }

    Side side(const std::vector<End>& ends, const std::vector<int>& ranks, const std::byte* buffer) const {
        std::map<int, std::vector<const End*>> of_peer;
        for (const End& end : ends) of_peer[end.peer].push_back(&end);
        Side side;
        for (const int rank : ranks) {
            auto& messages = of_peer[rank];
            std::sort(messages.begin(), messages.end(), [](const End* a, const End* b) { return a->tag < b->tag; });
            typed() ? add_typed(side, messages) : add_buffered(side, messages, buffer);
        }
        return side;
    }
    static void add_buffered(Side& side, const std::vector<const End*>& messages, const std::byte* buffer) {
        Index bytes = 0;
        for (const End* end : messages) bytes += end->bytes;
        side.counts.push_back(as_int(bytes, "to one rank"));
        side.begins.push_back(messages.empty() ? 0 : as_int(messages[0]->buffer - buffer, "to all ranks"));
    }
    void add_typed(Side& side, const std::vector<const End*>& messages) const {
        std::vector<Block> blocks;
        for (const End* end : messages)
            for (const Block& block : end->place()) blocks.push_back(block);
        side.counts.push_back(blocks.empty() ? 0 : 1);
        side.begins.push_back(0);
        if (!blocks.empty()) side.made.emplace_back(blocks, work_.request.element);
        side.types.push_back(blocks.empty() ? MPI_BYTE : side.made.back().handle());
    }

    // --- when it is called ---

    // Started where there is a request, else done.
    int call(MPI_Request* r) {
        std::byte *out = buffers_.outgoing, *in = buffers_.incoming;
        const int *oc = out_.counts.data(), *ob = out_.begins.data(), *ic = in_.counts.data(), *ib = in_.begins.data();
        const MPI_Datatype *ot = out_.types.data(), *it = in_.types.data();
        const MPI_Comm comm = group_.comm;
        switch (kind_) {
            case Kind::alltoallv:
                return r ? MPI_Ialltoallv(out, oc, ob, MPI_BYTE, in, ic, ib, MPI_BYTE, comm, r)
                         : MPI_Alltoallv(out, oc, ob, MPI_BYTE, in, ic, ib, MPI_BYTE, comm);
            case Kind::alltoallw:
                return r ? MPI_Ialltoallw(MPI_BOTTOM, oc, ob, ot, MPI_BOTTOM, ic, ib, it, comm, r)
                         : MPI_Alltoallw(MPI_BOTTOM, oc, ob, ot, MPI_BOTTOM, ic, ib, it, comm);
            case Kind::neighbor_v:
                return r ? MPI_Ineighbor_alltoallv(out, oc, ob, MPI_BYTE, in, ic, ib, MPI_BYTE, comm, r)
                         : MPI_Neighbor_alltoallv(out, oc, ob, MPI_BYTE, in, ic, ib, MPI_BYTE, comm);
            default: return neighbor_w(r);
        }
    }
    int neighbor_w(MPI_Request* r) {
        const int *oc = out_.counts.data(), *ic = in_.counts.data();
        const MPI_Datatype *ot = out_.types.data(), *it = in_.types.data();
        if (begins_.empty()) begins_.assign(std::max(out_.counts.size(), in_.counts.size()) + 1, 0);
        const MPI_Aint* zero = begins_.data();
        return r ? MPI_Ineighbor_alltoallw(MPI_BOTTOM, oc, zero, ot, MPI_BOTTOM, ic, zero, it, group_.comm, r)
                 : MPI_Neighbor_alltoallw(MPI_BOTTOM, oc, zero, ot, MPI_BOTTOM, ic, zero, it, group_.comm);
    }

    const Work& work_;
    const Buffers& buffers_;
    const Kind kind_;
    Group group_;
    Side out_, in_;
    std::vector<MPI_Aint> begins_;
    Index messages_ = 0;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

class CollectiveTransport : public Transport {
    // All in one buffer, as the calls want it.
    Buffering buffering(const Communicator&, const PlanRequest& request) override {
        const bool buffered = request.packed_by(schedule::Packing::buffer);
        const auto all = [buffered](int, const std::vector<Block>&) { return buffered; };
        return {all, all};
    }
    std::unique_ptr<Carrier> carrier(const Work& work, const schedule::Schedule& schedule, Buffers& buffers) override {
        using Kind = Collective::Kind;
        const bool typed = work.request.packed_by(schedule::Packing::datatype);
        const Kind kind = work.request.carried_by().among_neighbors ? (typed ? Kind::neighbor_w : Kind::neighbor_v)
                                                                    : (typed ? Kind::alltoallw : Kind::alltoallv);
        return std::make_unique<Collective>(work, schedule, buffers, kind);
    }
};

}  // namespace

std::unique_ptr<Transport> make_collective() {
    return std::make_unique<CollectiveTransport>();
}

}  // namespace tradewind::mpi
