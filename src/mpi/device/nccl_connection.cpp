#include "mpi/device/nccl_connection.hpp"

#include <algorithm>
#include <vector>

#include "mpi/error.hpp"
#include "mpi/prepare.hpp"
#include "mpi/waiting.hpp"

namespace tradewind::mpi {

namespace {

std::string connecting() {
    return "connecting ranks by NCCL";
}

// A rank that fails while the others wait in NCCL for it sends them a notice, so that they give up, too.
class FailureNotices {
  public:
    explicit FailureNotices(const Communicator& communicator) : communicator_(communicator) {}

    void send() {
        for (Rank peer = 0; peer < communicator_.ranks(); ++peer)
            if (peer != communicator_.rank())
                check(MPI_Isend(nullptr, 0, MPI_BYTE, peer, tag, communicator_.handle(), &sent_.emplace_back()),
                      connecting);
    }
    bool any() const {
        int came = 0;
        check(MPI_Iprobe(MPI_ANY_SOURCE, tag, communicator_.handle(), &came, MPI_STATUS_IGNORE), connecting);
        return came != 0;
    }
    // Takes in all of them. Collective.
    void settle(bool failed, double limit_s) {
        auto counts = std::make_unique<std::array<int, 2>>(std::array<int, 2>{failed, 0});
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Iallreduce(counts->data(), counts->data() + 1, 1, MPI_INT, MPI_SUM, communicator_.handle(), &request),
              connecting);
        try {
            wait_all(1, &request, MPI_STATUSES_IGNORE, limit_s, connecting,
                     [](int) { return std::string("all other ranks to do it, too"); });
        } catch (...) {
            static_cast<void>(counts.release());  // MPI may still write there
            throw;
        }
        for (int left = (*counts)[1] - failed; left > 0; --left)
            check(MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, tag, communicator_.handle(), MPI_STATUS_IGNORE),
                  connecting);
        check(MPI_Waitall(static_cast<int>(sent_.size()), sent_.data(), MPI_STATUSES_IGNORE), connecting);
    }

  private:
    static constexpr int tag = 1;  // no other message of the plan is under way
    const Communicator& communicator_;
    std::vector<MPI_Request> sent_;
};

NcclId id_of_all(const Communicator& communicator, const Nccl& nccl, double limit_s) {
    NcclId id;
    prepare(
        communicator.handle(), nccl.name(),
        [&] {
            if (communicator.rank() == 0) nccl.check(nccl.unique_id(&id), "naming the ranks that connect");
            return true;
        },
        limit_s);
    check(MPI_Bcast(id.bytes.data(), static_cast<int>(id.bytes.size()), MPI_CHAR, 0, communicator.handle()),
          connecting);
    return id;
}

// Waits until all ranks are connected, or one has failed: then false.
bool await_all(const Nccl& nccl, NcclComm comm, const FailureNotices& notices, double limit_s) {
    Deadline deadline(limit_s);
    for (int state = Nccl::in_progress; state != 0;) {
        nccl.check(nccl.async_error(comm, &state), "connecting", comm);
        if (state != 0 && state != Nccl::in_progress) {
            const std::string alternative =
                state == Nccl::invalid_usage ? "; ranks that share a device exchange by transport shared or isend-irecv"
                                             : "";
            throw PlanError(nccl.name() + " cannot connect the ranks: " + nccl.text(state, comm) + alternative);
        }
        if (state != 0 && notices.any()) return false;
        if (deadline.passed()) throw PlanError(timed_out(connecting(), limit_s, "other ranks"));
    }
    return true;
}

std::shared_ptr<NcclConnection> connect(const Communicator& communicator, const Copier& copier, double limit_s) {
    const Nccl& nccl = copier.nccl();
    const NcclId id = id_of_all(communicator, nccl, limit_s);
    NcclComm comm = nullptr;
    FailureNotices notices(communicator);
    const auto give_up = [&] {
        if (comm) copier.on_device([&] { nccl.abort(comm); });
        comm = nullptr;
    };
    const auto step = [&]() -> std::shared_ptr<NcclConnection> {
        try {
            copier.on_device([&] {
                const NcclConfig config;
                nccl.check(nccl.connect(&comm, communicator.ranks(), id, communicator.rank(), &config), "connecting");
                if (!await_all(nccl, comm, notices, limit_s)) give_up();
            });
        } catch (...) {
            notices.send();
            give_up();
            throw;
        }
        return comm ? std::make_shared<NcclConnection>(nccl, comm, copier.memory()) : nullptr;
    };
    return work_and_report(step, [&](const std::string& problem) {
        try {
            notices.settle(!problem.empty(), limit_s);
            agree(communicator.handle(), "", problem, {}, limit_s);
        } catch (...) {
            give_up();  // also where this rank is connected, and another has failed since
            throw;
        }
    });
}

using Connections = std::vector<std::shared_ptr<NcclConnection>>;

// Called by all ranks, when they free a communicator. Those that a plan still has are left to the end of the process,
// as are those of MPI_COMM_WORLD, which is freed just before.
int free_connections(MPI_Comm comm, int, void* value, void*) {
    const std::unique_ptr<Connections> kept(static_cast<Connections*>(value));
    for (const std::shared_ptr<NcclConnection>& each : *kept)
        if (comm != MPI_COMM_WORLD && each.use_count() == 1 && !each->aborted()) each->destroy();
    return MPI_SUCCESS;
}

// Those of a communicator of the caller, in one order on all ranks.
Connections& connections_of(MPI_Comm comm) {
    static const int key = [] {
        int made = MPI_KEYVAL_INVALID;
        check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_connections, &made, nullptr), connecting);
        return made;
    }();
    Connections* found = nullptr;
    int known = 0;
    check(MPI_Comm_get_attr(comm, key, static_cast<void*>(&found), &known), connecting);
    if (known) return *found;
    auto made = std::make_unique<Connections>();
    check(MPI_Comm_set_attr(comm, key, made.get()), connecting);
    return *made.release();
}

}  // namespace

bool NcclConnection::ready(const char* what) const {
    int state = 0;
    nccl_.check(nccl_.async_error(comm_, &state), what, comm_);
    nccl_.check(state, what, comm_);
    return state != Nccl::in_progress;
}

void NcclConnection::await_ready(const char* what, double limit_s) const {
    Deadline deadline(limit_s);
    while (!ready(what))
        if (deadline.passed()) throw PlanError(timed_out(nccl_.name() + ": " + what, limit_s, "other ranks"));
}

void NcclConnection::abort() {
    if (!aborted_) nccl_.abort(comm_);
    aborted_ = true;
}

std::shared_ptr<NcclConnection> connected(const Communicator& communicator, const Copier& copier, double limit_s) {
    Connections& all = connections_of(communicator.original());
    std::vector<int> free;
    for (const std::shared_ptr<NcclConnection>& each : all)
        free.push_back(each.use_count() == 1 && !each->aborted() && each->memory() == copier.memory());
    check(MPI_Allreduce(MPI_IN_PLACE, free.data(), static_cast<int>(free.size()), MPI_INT, MPI_LAND,
                        communicator.handle()),
          connecting);
    const auto found = std::find(free.begin(), free.end(), 1);
    if (found != free.end()) return all[static_cast<std::size_t>(found - free.begin())];
    return all.emplace_back(connect(communicator, copier, limit_s));
}

}  // namespace tradewind::mpi
