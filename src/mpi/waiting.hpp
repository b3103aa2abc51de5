// Waiting for MPI requests, with a limit where one is set.
#pragma once

#include <mpi.h>

#include <chrono>
#include <functional>
#include <string>

namespace tradewind::mpi {

// A moment after which waiting is an error. Looks at the clock now and then only.
class Deadline {
  public:
    explicit Deadline(double limit_s);
    bool limited() const { return limit_s_ > 0; }
    double limit_s() const { return limit_s_; }
    // Whether the time is up, which is looked up once per number of calls. Gives the core to others where they wait for
    // it.
    bool passed();

  private:
    double limit_s_;
    std::chrono::steady_clock::time_point begin_;
    unsigned calls_ = 0;
};

// Description of a pending operation, by its number: "rank 3 (tag 0, 80 bytes)".
using Named = std::function<std::string(int)>;

// The same with a limit, or the error of a wait that has failed with `code`.
void wait_watched(int count, MPI_Request* requests, MPI_Status* statuses, double limit_s, int code,
                  const std::function<std::string()>& where, const Named& named);

// Waits for all requests; `statuses` may be MPI_STATUSES_IGNORE. Throws PlanError that begins with `where()`:
// where MPI fails, with `named(request)`; and where `limit_s` (0: none) passes, with all that have not ended. Allocates
// nothing where all goes well.
template <typename Where, typename Name>
void wait_all(int count, MPI_Request* requests, MPI_Status* statuses, double limit_s, Where where, Name named) {
    int code = MPI_SUCCESS;
    if (limit_s <= 0) code = MPI_Waitall(count, requests, statuses);
    if (limit_s > 0 || code != MPI_SUCCESS) wait_watched(count, requests, statuses, limit_s, code, where, named);
}

}  // namespace tradewind::mpi
