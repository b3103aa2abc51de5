// Which threads may call MPI.
#pragma once

namespace tradewind::mpi {

// Whether this thread may call MPI now, for as long as this lives. Below MPI_THREAD_MULTIPLE only one thread may at a
// time, below MPI_THREAD_SERIALIZED only the one that started MPI. A thread may hold several. Throws PlanError where it
// may not.
class ThreadPermit {
  public:
    ThreadPermit();
    ~ThreadPermit();
    ThreadPermit(const ThreadPermit&) = delete;
    ThreadPermit& operator=(const ThreadPermit&) = delete;

  private:
    bool serialized_ = false;
};

}  // namespace tradewind::mpi
