#include "mpi/plan.hpp"

#include <string>

#include "mpi/error.hpp"
#include "mpi/prepare.hpp"
#include "mpi/recording.hpp"
#include "mpi/threads.hpp"
#include "pattern/halo.hpp"

namespace tradewind::mpi {

namespace {

std::string axes_of(const pattern::Pattern& pattern) {
    const auto* const halo = dynamic_cast<const pattern::Halo*>(&pattern);
    return halo ? halo->layout().axes() : "";
}

std::uint64_t next_number() {
    static std::atomic<std::uint64_t> numbers{0};
    return ++numbers;
}

}  // namespace

Plan::Plan(MPI_Comm comm, const pattern::Pattern& pattern, const std::string& algorithm, const PlanRequest& request)
    : communicator_(comm, limit_of(request.watchdog_s)),
      copier_(request.source[0].copier),
      recorder_(request.recording),
      description_(pattern.describe() + ", " + algorithm),
      carried_{pattern.name(),    algorithm,       pattern.parameters(), axes_of(pattern),
               request.transport, request.packing, request.element,      static_cast<Index>(request.source.size()),
               request.operation},
      number_(next_number()) {}

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

void Plan::set_stream(std::uintptr_t stream) {
    if (!copier_) throw PlanError("the stream of a plan on arrays in the host's memory: those of a device have one");
    copier_->set_stream(stream);
}

void Plan::start() {
    enter(State::idle, "start");
    const ThreadPermit permit;
    const Recorded recorded(*this, Call::start);
    advance([this] { begin(); }, State::in_flight);
}

void Plan::wait() {
    enter(State::in_flight, "wait for");
    const ThreadPermit permit;
    const Recorded recorded(*this, Call::wait);
    advance([this] { finish(); }, State::idle);
}

bool Plan::poke() {
    enter(State::in_flight, "poke of");
    const ThreadPermit permit;
    const Recorded recorded(*this, Call::poke);
    bool over = false;
    advance([&] { over = go_on(); }, State::in_flight);
    return over;
}

void Plan::run() {
    enter(State::idle, "run");
    const ThreadPermit permit;
    const Recorded recorded(*this, Call::whole);
    advance([this] { whole(); }, State::idle);
}

std::string Plan::who(int stage) const {
    return "rank " + std::to_string(communicator_.rank()) + ", stage " + std::to_string(stage) + " of " + description_;
}

}  // namespace tradewind::mpi
