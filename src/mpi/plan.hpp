// Executor 2: a schedule bound to arrays and a communicator, ready to be carried out as often as asked.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpi/communicator.hpp"
#include "mpi/field.hpp"
#include "mpi/packing/copier.hpp"
#include "mpi/recorder.hpp"
#include "mpi/reduce.hpp"
#include "pattern/pattern.hpp"
#include "schedule/transport.hpp"

namespace tradewind::mpi {

// The arrays that a plan is bound to, and how it moves data. All ranks give the same, but for addresses, shapes and
// strides.
struct PlanRequest {
    std::vector<Field> source;  // several fields travel in one message
    std::vector<Field> target;  // as many; the same as `source` where the pattern is in place
    // Along y and z, of the caller's source fields where each of their levels is a field of its own in `source`.
    std::vector<std::array<Index, 2>> split_levels;
    Element element = Element::f8;
    Operation operation = Operation::sum;  // of a reduction
    std::string transport = schedule::default_transport().name;
    std::string packing = schedule::default_packing().name;
    Bytes largest_message{1 << 30};  // longer ones go in several: MPI counts in int
    bool pack_ahead = true;          // gather the next stage's messages while a stage is under way
    bool synchronous = false;        // sends end only when they are received, as the deadlock proof assumes
    bool check = false;              // compare a checksum of every message at its two ends
    double watchdog_s = 0;           // an exchange that waits longer is an error; 0: no limit
    Recording recording = Recording::none;
    bool pushes_at_once = true;  // transport shared on devices: to all targets, or to one after another
    int ranks_per_node = 0;      // transport shared: consecutive ranks per assumed node; 0: the real nodes

    bool packed_by(schedule::Packing kind) const { return packing == schedule::name_of(kind); }
    const schedule::TransportEntry& carried_by() const { return schedule::transport(transport); }
};

// A message that a rank sends in a call of a plan.
struct Sent {
    int stage = 0;
    Rank peer = 0;
    Bytes bytes;
    int tag = 0;             // distinguishes messages of one stage between two ranks
    std::int8_t parity = 0;  // see schedule::Message
};

// Pattern and method of a plan, as far as they can be written down.
struct Carried {
    std::string pattern, algorithm;  // "halo", "sweep"
    pattern::Parameters parameters;  // of the pattern
    std::string axes;                // that the blocks of a halo divide: "xy"
    std::string transport, packing;
    Element element = Element::f8;
    Index fields = 1;
    Operation operation = Operation::sum;
};

// start() posts the first stage and returns; wait() does the rest; run() is both. poke() between them completes what
// has come, and posts the next stage: where a transport cannot do that without waiting, it does nothing. Between them
// the fields may be read, but not written, and the target is undefined. Nothing is allocated by any of them, but for a
// recording. Throws PlanError when used out of turn or after its communicator is gone, and when MPI fails, which leaves
// the plan unusable.
class Plan {
  public:
    // A plan that is destroyed before its wait, or after it has failed, is abandoned: MPI and other ranks may still use
    // its buffers, its communicator and the fields. The first two are kept for good, the fields are their owner's task.
    virtual ~Plan();
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    void start();
    void wait();
    // Whether all stages are over, so that wait() will return at once.
    bool poke();
    // Whether the transport of this plan can do anything in a poke.
    virtual bool pokes() const { return false; }
    void run();
    // All the memory traffic of the plan on one rank and no message: packing, local copies, unpacking. What the target
    // holds afterwards is undefined.
    virtual void copy_only() = 0;

    bool in_flight() const { return state_ == State::in_flight; }
    bool settled() const { return state_ == State::idle; }  // no transport works on anything of this plan
    const std::string& describe() const { return description_; }
    // Sent by this rank in one call; 0 where the MPI library's own collective decides.
    Index messages() const { return messages_; }
    Bytes bytes_sent() const { return bytes_sent_; }
    const std::string& transport() const { return carried_.transport; }
    const std::string& packing() const { return carried_.packing; }
    const Carried& carried() const { return carried_; }
    // How messages of arrays on a device reach MPI, in words; "" of arrays in the host's memory.
    const std::string& staging() const { return staged_; }
    // The stream that the caller's work on a device is in; 0 of arrays in the host's memory.
    std::uintptr_t stream() const { return copier_ ? copier_->stream() : 0; }
    // Throws PlanError for arrays in the host's memory.
    void set_stream(std::uintptr_t stream);
    // By this rank, stage after stage; nothing where the MPI library's own collective decides.
    virtual std::vector<Sent> sent() const { return {}; }
    // No other plan of this process has the same number.
    std::uint64_t number() const { return number_; }
    virtual Recorder& recorder() { return recorder_; }
    MPI_Comm communicator() const { return communicator_.handle(); }

  protected:
    Plan(MPI_Comm comm, const pattern::Pattern& pattern, const std::string& algorithm, const PlanRequest& request);
    virtual void begin() = 0;
    virtual void finish() = 0;
    virtual bool go_on() { return false; }
    virtual void whole() {
        begin();
        finish();
    }
    std::string who(int stage) const;  // "rank 1, stage 2 of halo sweep"

    Communicator communicator_;
    Index messages_ = 0;
    Bytes bytes_sent_;
    std::string staged_;
    const std::shared_ptr<Copier> copier_;  // of the arrays; none: they lie in the host's memory
    Recorder recorder_;

  private:
    enum class State { idle, in_flight, broken };
    void enter(State expected, const char* what);
    template <typename Step>
    void advance(Step step, State after);

    std::string description_;
    Carried carried_;
    std::uint64_t number_;
    std::atomic<State> state_{State::idle};
};

// The consequence if ranks make different plans: an error, or no plan (null on all ranks).
enum class Mismatch { error, decline };

// Collective over `comm`. Throws InputError on a rank whose arrays do not fit, and PlanError on the others then; and
// PlanError on all ranks when they make different plans, unless that is a result.
std::unique_ptr<Plan> make_plan(const schedule::Schedule& schedule, MPI_Comm comm, const PlanRequest& request,
                                Mismatch mismatch = Mismatch::error);

// The same exchange by the MPI library's own MPI_Allreduce. Throws InputError for patterns that do not reduce.
std::unique_ptr<Plan> make_native_plan(const pattern::Pattern& pattern, MPI_Comm comm, const PlanRequest& request,
                                       Mismatch mismatch = Mismatch::error);

}  // namespace tradewind::mpi
