#include "mpi/plan.hpp"

#include "mpi/error.hpp"

namespace tradewind {

Plan::Plan(MPI_Comm comm, std::string description, const PlanRequest& request)
    : communicator_(comm),
      recorder_(request.recording),
      description_(std::move(description)),
      transport_(request.transport),
      packing_(request.packing) {}

namespace {

// Whether this thread may call MPI now. Below MPI_THREAD_MULTIPLE only one may at a time, below MPI_THREAD_SERIALIZED
// only the one that started MPI.
class ThreadLeave {
  public:
    ThreadLeave() {
        int level = MPI_THREAD_SINGLE, main = 0;
        MPI_Query_thread(&level);
        if (level == MPI_THREAD_MULTIPLE) return;
        MPI_Is_thread_main(&main);
        if (level != MPI_THREAD_SERIALIZED && !main)
            throw PlanError(
                "a plan was called by another thread than the one that started MPI, which allows that only with the "
                "thread level serialized or multiple");
        serialized_ = level == MPI_THREAD_SERIALIZED;
        if (serialized_ && busy().exchange(true))
            throw PlanError(
                "two threads call plans at once, which MPI, started with the thread level serialized, does not allow: "
                "start it with multiple");
    }
    ~ThreadLeave() {
        if (serialized_) busy() = false;
    }
    ThreadLeave(const ThreadLeave&) = delete;
    ThreadLeave& operator=(const ThreadLeave&) = delete;

  private:
    static std::atomic<bool>& busy() {
        static std::atomic<bool> flag{false};
        return flag;
    }
    bool serialized_ = false;
};

}  // namespace

void Plan::enter(State expected) {
    communicator_.require_usable();
    State seen = expected;
    if (state_.compare_exchange_strong(seen, expected)) return;
    if (seen == State::broken) throw PlanError("a plan that has failed cannot be used again: make a new one");
    throw PlanError(expected == State::idle ? "start of a plan that is under way: wait for it first"
                                            : "wait for a plan that was not started: start it first");
}

template <typename Step>
void Plan::advance(Step step, State after) {
    state_ = State::broken;  // unless the step comes back
    step();
    state_ = after;
}

void Plan::start() {
    enter(State::idle);
    const ThreadLeave leave;
    advance([this] { begin(); }, State::in_flight);
}

void Plan::wait() {
    enter(State::in_flight);
    const ThreadLeave leave;
    advance([this] { finish(); }, State::idle);
}

void Plan::run() {
    enter(State::idle);
    const ThreadLeave leave;
    advance([this] { whole(); }, State::idle);
}

std::string Plan::who(int stage) const {
    return "rank " + std::to_string(communicator_.rank()) + ", stage " + std::to_string(stage) + " of " + description_;
}

}  // namespace tradewind
