// Executor 2: a schedule bound to arrays and a communicator, ready to be carried out as often as asked.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "mpi/communicator.hpp"
#include "mpi/field.hpp"
#include "mpi/reduce.hpp"
#include "schedule/schedule.hpp"

namespace tradewind {

// What a plan is bound to, and how it moves data. All ranks say the same, but for the addresses, shapes and strides.
struct PlanRequest {
    std::vector<Field> source;  // several fields travel in one message
    std::vector<Field> target;  // as many; the same as `source` where the pattern is in place
    Element element = Element::f8;
    Operation operation = Operation::sum;  // of a reduction
    std::string transport = "isend-irecv";
    std::string packing = "buffer";
    Bytes largest_message{1 << 30};  // longer ones go in several: MPI counts in int
};

// start() posts the first stage and returns; wait() does the rest; run() is both. Between them the fields may be read,
// but not written, and the target is undefined. Nothing is allocated by any of them. Throws PlanError when used out of
// turn or after its communicator is gone, and when MPI fails, which leaves the plan unusable.
class Plan {
  public:
    virtual ~Plan() = default;
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    void start();
    void wait();
    void run();
    // All the memory traffic of the plan on one rank and no message: packing, local copies, unpacking. What the target
    // holds afterwards is undefined.
    virtual void copy_only() = 0;

    bool in_flight() const { return state_ == State::in_flight; }
    const std::string& describe() const { return description_; }
    // Sent by this rank in one call; 0 where the MPI library's own collective decides.
    Index messages() const { return messages_; }
    Bytes bytes_sent() const { return bytes_sent_; }
    MPI_Comm communicator() const { return communicator_.handle(); }

  protected:
    Plan(MPI_Comm comm, std::string description) : communicator_(comm), description_(std::move(description)) {}
    virtual void begin() = 0;
    virtual void finish() = 0;
    virtual void whole() {
        begin();
        finish();
    }
    bool settled() const { return state_ == State::idle; }  // MPI works on nothing of this plan
    std::string who(int stage) const;                       // "rank 1, stage 2 of halo sweep"

    Communicator communicator_;
    Index messages_ = 0;
    Bytes bytes_sent_;

  private:
    enum class State { idle, in_flight, broken };
    void enter(State expected);
    template <typename Step>
    void advance(Step step, State after);

    std::string description_;
    std::atomic<State> state_{State::idle};
};

// Collective over `comm`. Throws InputError on a rank whose arrays do not fit, and PlanError on the others then; and
// PlanError on all ranks when they make different plans.
std::unique_ptr<Plan> make_plan(const Schedule& schedule, MPI_Comm comm, const PlanRequest& request);

// The same exchange by the MPI library's own collective: MPI_Alltoallv within the groups of a complete transposition,
// MPI_Allreduce. Throws InputError for other patterns.
std::unique_ptr<Plan> make_native_plan(const Pattern& pattern, MPI_Comm comm, const PlanRequest& request);

}  // namespace tradewind
