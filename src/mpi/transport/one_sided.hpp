// Puts and gets: which bytes of this rank belong to which of a peer's.
#pragma once

#include <deque>
#include <vector>

#include "mpi/carrier.hpp"
#include "mpi/notes.hpp"
#include "mpi/packing/datatype.hpp"
#include "mpi/window.hpp"

namespace tradewind::mpi {

struct Access {
    int peer = 0;
    const void* here = nullptr;
    MPI_Aint there = 0;
    int count = 0;
    MPI_Datatype type = MPI_BYTE, type_there = MPI_BYTE;
};

// The puts of every send of a plan, or the gets of every receive.
class Accesses {
  public:
    // Collective.
    Accesses(const Work& work, const Window& window, bool puts);
    const std::vector<Access>& of(int stage, std::size_t end) const {
        return accesses_[static_cast<std::size_t>(stage)][end];
    }
    Index count() const;

  private:
    void take(const Work& work, bool puts, const Notes& there);
    std::vector<Access> make(const PlanRequest& request, const End& end, const std::vector<Block>& there);
    std::vector<std::vector<std::vector<Access>>> accesses_;
    std::deque<Datatype> types_;
};

// One buffer, of what puts bring or of what gets take, is a window. It stands on the side where the other rank comes
// from outside; on its own side a message is gathered or scattered by the packing.
class WindowBuffers : public Buffers {
  public:
    WindowBuffers(const Communicator& communicator, Index outgoing, Index incoming, bool puts);  // collective
    Window& window() { return window_; }

  private:
    Window window_;
    Memory plain_;
};

// The common part of the transports of puts and gets.
class OneSidedTransport : public Transport {
  public:
    Buffering buffering(const Communicator& communicator, const PlanRequest& request) override;
    std::unique_ptr<Buffers> buffers(const Communicator& communicator, const PlanRequest& request, Index outgoing,
                                     Index incoming) override;

  protected:
    static bool puts(const PlanRequest& request) { return !request.carried_by().gets; }
    static Window& window(Buffers& buffers) { return static_cast<WindowBuffers&>(buffers).window(); }
};

}  // namespace tradewind::mpi
