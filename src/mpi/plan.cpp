#include "mpi/plan.hpp"

#include <string>

#include "mpi/error.hpp"
#include "mpi/prepare.hpp"
#include "mpi/threads.hpp"

namespace tradewind::mpi {

Plan::Plan(MPI_Comm comm, std::string description, const PlanRequest& request)
    : communicator_(comm, limit_of(request.watchdog_s)),
      recorder_(request.recording),
      description_(std::move(description)),
      transport_(request.transport),
      packing_(request.packing) {}

Plan::~Plan() {
    if (!settled()) communicator_.keep();
}

void Plan::enter(State expected, const char* what) {
    communicator_.require_usable();
    State seen = expected;
    if (state_.compare_exchange_strong(seen, expected)) return;
    if (seen == State::broken) throw PlanError("a plan that has failed cannot be used again: make a new one");
    throw PlanError(expected == State::idle ? "start of a plan that is under way: wait for it first"
                                            : what + std::string(" a plan that was not started: start it first"));
}

template <typename Step>
void Plan::advance(Step step, State after) {
    state_ = State::broken;  // unless the step comes back
    step();
    state_ = after;
}

void Plan::start() {
    enter(State::idle, "start");
    const ThreadPermit permit;
    advance([this] { begin(); }, State::in_flight);
}

void Plan::wait() {
    enter(State::in_flight, "wait for");
    const ThreadPermit permit;
    advance([this] { finish(); }, State::idle);
}

bool Plan::poke() {
    enter(State::in_flight, "poke of");
    const ThreadPermit permit;
    bool over = false;
    advance([&] { over = go_on(); }, State::in_flight);
    return over;
}

void Plan::run() {
    enter(State::idle, "run");
    const ThreadPermit permit;
    advance([this] { whole(); }, State::idle);
}

std::string Plan::who(int stage) const {
    return "rank " + std::to_string(communicator_.rank()) + ", stage " + std::to_string(stage) + " of " + description_;
}

}  // namespace tradewind::mpi
