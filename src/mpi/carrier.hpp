// A transport at work: it carries the messages of one compiled schedule.
#pragma once

#include <memory>
#include <string>

#include "mpi/communicator.hpp"
#include "mpi/program.hpp"
#include "mpi/waiting.hpp"

namespace tradewind::mpi {

class Node;

// The state that a plan and its carrier share.
struct Work {
    PlanRequest request;
    const Communicator& communicator;
    Program program;
    Recorder& recorder;
    std::string description;

    MPI_Comm comm() const { return communicator.handle(); }
    std::string where(int stage) const {
        return "rank " + std::to_string(communicator.rank()) + ", stage " + std::to_string(stage) + " of " +
               description;
    }
    const StageProgram& stage(int s) const { return program.stages[static_cast<std::size_t>(s)]; }
    int stages() const { return static_cast<int>(program.stages.size()); }
};

// The memory in which messages are gathered and arrive; from MPI or from the node where a transport needs that.
class Buffers {
  public:
    Buffers() = default;
    virtual ~Buffers() = default;
    Buffers(const Buffers&) = delete;
    Buffers& operator=(const Buffers&) = delete;
    std::byte *outgoing = nullptr, *incoming = nullptr;
};

// A plan calls post, arrive and leave for each stage, in this order. Messages that need it have been gathered in their
// buffers before post; what arrives in buffers is scattered between arrive and leave. Throws PlanError.
class Carrier {
  public:
    Carrier() = default;
    virtual ~Carrier() = default;
    Carrier(const Carrier&) = delete;
    Carrier& operator=(const Carrier&) = delete;

    virtual void post(int stage) = 0;    // begins; waits for no rank where the transport can do without
    virtual void arrive(int stage) = 0;  // until the messages of the stage are there
    virtual void leave(int) {}           // until this rank's memory is its own again
    // post and arrive in one, for transports that have a call for that; false: they do not.
    virtual bool exchange(int) { return false; }
    // From here on the plan's calls only post, instead of blocking: other work goes on until the stage is awaited.
    virtual void overlap(bool) {}
    // Whether `test` may return true.
    virtual bool pokes() const { return false; }
    // A call that lets MPI work on a stage that is posted; true: its messages have come and left, arrive and leave do
    // not wait. Never waits itself.
    virtual bool test(int) { return false; }
    // Whether post is ordered after copies of a device there, without the host waiting for them.
    virtual bool after_copies() const { return false; }
    // Whether arrive and leave record themselves what they spend their time on.
    virtual bool records() const { return false; }
    // Messages, puts, gets or copies that this rank starts in a call of the plan.
    virtual Index messages() const = 0;
};

// A way to carry messages, as a plan sets it up: first buffering, then buffers, then the carrier. All three are called
// by all ranks together.
class Transport {
  public:
    virtual ~Transport() = default;
    // Buffers for all messages that do not lie in one run of memory, or for none (packings datatype and direct), unless
    // a transport overrides it.
    virtual Buffering buffering(const Communicator& communicator, const PlanRequest& request);
    // Bytes. Plain memory unless a transport overrides it.
    virtual std::unique_ptr<Buffers> buffers(const Communicator& communicator, const PlanRequest& request,
                                             Index outgoing, Index incoming);
    // Whether it brings messages of a device to the memory of a peer there, past MPI.
    virtual bool reaches(int) const { return false; }
    virtual std::unique_ptr<Carrier> carrier(const Work& work, const schedule::Schedule& schedule,
                                             Buffers& buffers) = 0;
    // Whether a rank sets up buffers and carrier without the others, so that no agreement is needed at each step. (With
    // packing direct no rank does: ranks send each other the places of their runs, and would wait for a failed one.)
    virtual bool alone(const PlanRequest&) const { return false; }
};

std::unique_ptr<Transport> make_transport(const std::string& name);

// One file a family, in transport/.
std::unique_ptr<Transport> make_two_sided();
std::unique_ptr<Transport> make_persistent();
std::unique_ptr<Transport> make_collective();
std::unique_ptr<Transport> make_fence();
std::unique_ptr<Transport> make_notify();
std::unique_ptr<Transport> make_shared();
std::unique_ptr<Transport> make_nccl();

// Transport shared of arrays on a device.
std::unique_ptr<Carrier> make_pushes(const Work& work, std::shared_ptr<const Node> node);

}  // namespace tradewind::mpi
