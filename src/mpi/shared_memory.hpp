// Memory that the other ranks of a node can map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "mpi/field.hpp"

namespace tradewind::mpi {

// How another process finds a piece of shared memory.
struct SharedHandle {
    std::int64_t process = 0, file = 0, bytes = 0, mark = 0;  // mark: a number that the memory begins with
    auto operator<=>(const SharedHandle&) const = default;
};

// Zeroed, on its own pages, gone when its owner and all that have mapped it are. Not an MPI window: those are freed by
// all ranks together, and arrays are dropped on each rank at another moment.
class SharedMemory {
  public:
    explicit SharedMemory(Index bytes);  // throws PlanError where the system has none left
    ~SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    std::byte* data() const;
    Index bytes() const { return bytes_; }
    const SharedHandle& handle() const { return handle_; }

  private:
    Index bytes_;
    std::byte* mapped_ = nullptr;
    SharedHandle handle_;
};

// An address in the shared memory of this process: which, and how many bytes from its beginning.
struct SharedPlace {
    SharedHandle handle;
    std::int64_t offset;
};
// Where `data` lies, if it and the `bytes` from there lie in memory that this process shares.
std::optional<SharedPlace> find_shared(const std::byte* data, Index bytes);
// Whether an array lies in memory that this process shares.
bool in_shared_memory(const Field& field, Element element);

// The memory of other processes, mapped once each.
class PeerMemories {
  public:
    PeerMemories() = default;
    ~PeerMemories();
    PeerMemories(const PeerMemories&) = delete;
    PeerMemories& operator=(const PeerMemories&) = delete;
    // The place as this process sees it. Throws PlanError where it cannot be mapped.
    std::byte* at(const SharedPlace& place);

  private:
    std::map<SharedHandle, std::byte*> mapped_;
};

}  // namespace tradewind::mpi
