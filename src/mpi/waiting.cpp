#include "mpi/waiting.hpp"

#include <sched.h>

#include "mpi/error.hpp"

namespace tradewind::mpi {

namespace {

[[noreturn]] void give_up(int count, MPI_Request* requests, double limit_s, const std::function<std::string()>& where,
                          const Named& named) {
    std::string waited_for;
    int left = 0;
    for (int i = 0; i < count; ++i) {
        int done = 0;
        if (requests[i] == MPI_REQUEST_NULL || MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE) || done)
            continue;
        if (++left <= 8) waited_for += (left == 1 ? "" : ", ") + named(i);
    }
    if (left > 8) waited_for += " and " + std::to_string(left - 8) + " more";
    throw PlanError(timed_out(where(), limit_s, waited_for));
}

}  // namespace

Deadline::Deadline(double limit_s) : limit_s_(limit_s) {
    if (limited()) begin_ = std::chrono::steady_clock::now();
}

bool Deadline::passed() {
    if (++calls_ % 256 != 0) return false;
    if (calls_ % 4096 == 0) sched_yield();
    return limited() && std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count() > limit_s_;
}

void wait_watched(int count, MPI_Request* requests, MPI_Status* statuses, double limit_s, int code,
                  const std::function<std::string()>& where, const Named& named) {
    Deadline deadline(limit_s);
    for (int done = limit_s <= 0; !done && code == MPI_SUCCESS;) {
        code = MPI_Testall(count, requests, &done, statuses);
        if (!done && deadline.passed()) give_up(count, requests, limit_s, where, named);
    }
    if (code == MPI_SUCCESS) return;
    for (int i = 0; i < count && code == MPI_ERR_IN_STATUS && statuses != MPI_STATUSES_IGNORE; ++i)
        if (const int error = statuses[i].MPI_ERROR; error != MPI_SUCCESS && error != MPI_ERR_PENDING)
            check(error, [&] { return where() + ": " + named(i); });
    check(code, [&] { return where() + ": waiting"; });
}

}  // namespace tradewind::mpi
