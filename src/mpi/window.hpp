#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>

#include "mpi/communicator.hpp"
#include "mpi/packing/block.hpp"

namespace tradewind::mpi {

// Memory of MPI's own that other ranks put into and get from. Freeing a window is collective, and plans die when their
// owner drops them, on each rank at another moment: a window that is dropped is freed when all ranks have dropped it
// and the next one is made on the same communicator, or when MPI is finalized. One that any rank's plan has left
// between two fences is never freed. At the end all ranks free their windows in one order.
//
// Only such memory is exposed, never the caller's: under MPICH 5.0.2 puts into dynamic windows with attached arrays
// damaged the heap between MPI_Win_lock_all and MPI_Win_unlock_all.
class Window {
  public:
    Window(const Communicator& communicator, Index bytes);  // collective; zeroed
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    MPI_Win handle() const { return state_->win; }
    std::byte* data() const { return data_; }
    void lock_all();  // until the window is dropped
    // Between two fences: a window that a plan has left there cannot be freed.
    void set_fenced(bool yes) const { state_->fenced = yes; }

    struct State {
        MPI_Win win = MPI_WIN_NULL;
        bool locked = false, dropped = false, fenced = false;
        std::array<std::int64_t, 2> place{};  // in the order of all windows, which is the same on all ranks
    };

  private:
    std::byte* data_ = nullptr;
    std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace tradewind::mpi
