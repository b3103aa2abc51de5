#pragma once

#include <mpi.h>

#include <memory>

#include "mpi/communicator.hpp"
#include "mpi/packing/block.hpp"

namespace tradewind {

// Memory that other ranks put into and get from. Freeing a window is collective, and plans die when their owner drops
// them, on each rank at another moment: a window that is dropped is freed when all ranks have dropped it and the next
// one is made on the same communicator.
class Window {
  public:
    // Collective. Memory of MPI's own, which it may make faster to reach; the addresses of peers are counted from its
    // beginning.
    static std::unique_ptr<Window> allocated(const Communicator& communicator, Index bytes);
    // Collective. Any memory that is attached; the addresses of peers are theirs.
    static std::unique_ptr<Window> dynamic(const Communicator& communicator);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    void attach(const std::vector<Block>& blocks);  // all memory that is to be reached; once
    MPI_Win handle() const { return win_; }
    std::byte* data() const { return data_; }  // of an allocated one
    // What peers have to say to reach an address of this rank.
    std::vector<Block> as_peers_see(std::vector<Block> blocks) const;

  private:
    explicit Window(const Communicator& communicator);
    void enter(const Communicator& communicator);

    MPI_Win win_ = MPI_WIN_NULL;
    std::byte* data_ = nullptr;
    std::vector<Extent> attached_;
    std::shared_ptr<bool> dropped_ = std::make_shared<bool>(false);
};

}  // namespace tradewind
