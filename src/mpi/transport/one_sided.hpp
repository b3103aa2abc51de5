// Puts and gets: which bytes of this rank belong to which of a peer's.
#pragma once

#include <deque>
#include <vector>

#include "mpi/carrier.hpp"
#include "mpi/notes.hpp"
#include "mpi/packing/datatype.hpp"
#include "mpi/window.hpp"

namespace tradewind {

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
    std::vector<Access> make(const PlanRequest& request, const End& end, const std::vector<Block>& there);
    std::vector<std::vector<std::vector<Access>>> accesses_;
    std::deque<Datatype> types_;
};

// Where the window of puts, or of gets, lets peers reach this rank's memory.
class WindowBuffers : public Buffers {
  public:
    // Collective. With packing buffer the exposed buffer is the window; else all memory can be reached.
    WindowBuffers(const Communicator& communicator, const PlanRequest& request, Index outgoing, Index incoming,
                  bool puts);
    Window& window() const { return *window_; }
    // Of a dynamic window: everything that the ends of this rank name. Collective, as peers may not come earlier.
    void expose(const Work& work, bool puts);

  private:
    std::unique_ptr<Window> window_;
    Memory outgoing_, incoming_;
    bool whole_ = false;  // the window is one buffer
};

}  // namespace tradewind
