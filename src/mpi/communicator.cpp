#include "mpi/communicator.hpp"

#include "mpi/error.hpp"
#include "mpi/waiting.hpp"

namespace tradewind::mpi {

namespace {

bool finalized() {
    int flag = 0;
    MPI_Finalized(&flag);
    return flag != 0;
}

int report_deletion(MPI_Comm, int, void* value, void*) {
    auto* gone = static_cast<std::shared_ptr<bool>*>(value);
    **gone = true;
    delete gone;
    return MPI_SUCCESS;
}

MPI_Comm duplicate(MPI_Comm original, double limit_s) {
    const auto doing = [] { return std::string("duplicating the communicator of a plan"); };
    auto made = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
    if (limit_s <= 0) {
        check(MPI_Comm_dup(original, made.get()), doing);
        return *made;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Comm_idup(original, made.get(), &request), doing);
    try {
        wait_all(1, &request, MPI_STATUSES_IGNORE, limit_s, doing,
                 [](int) { return std::string("all other ranks to do it, too"); });
    } catch (...) {
        static_cast<void>(made.release());  // MPI may still write there
        throw;
    }
    return *made;
}

}  // namespace

Communicator::Communicator(MPI_Comm original, double limit_s)
    : original_(original), duplicate_(duplicate(original, limit_s)), gone_(std::make_shared<bool>(false)) {
    MPI_Comm_set_errhandler(duplicate_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(duplicate_, &rank_);
    MPI_Comm_size(duplicate_, &ranks_);
    check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, report_deletion, &keyval_, nullptr),
          [] { return std::string("watching the communicator of a plan"); });
    auto gone = std::make_unique<std::shared_ptr<bool>>(gone_);
    check(MPI_Comm_set_attr(original, keyval_, gone.get()),
          [] { return std::string("watching the communicator of a plan"); });
    gone.release();  // now the attribute's
}

Communicator::~Communicator() {
    if (finalized()) return;
    if (!*gone_) MPI_Comm_delete_attr(original_, keyval_);
    MPI_Comm_free_keyval(&keyval_);
    if (!kept_) MPI_Comm_free(&duplicate_);
}

void Communicator::require_usable() const {
    if (finalized()) throw PlanError("a plan used after MPI was finalized");
    if (*gone_)
        throw PlanError("a plan used after its communicator is gone: rank " + std::to_string(rank_) +
                        " has freed the communicator that the plan was made on; keep it, or make a new plan");
}

}  // namespace tradewind::mpi
