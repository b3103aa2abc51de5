// The memory of a device that arrays lie in, as plans see it: who copies within it, to the host and back.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/combine.hpp"
#include "mpi/memory.hpp"
#include "mpi/packing/copy.hpp"

namespace tradewind::mpi {

class Nccl;

// Groups of places in the memory of a copier whose values are combined: those of each group in one list, in their
// order, go to all places of the group in the other. Group i has the places from begins[i] to before begins[i + 1], in
// bytes. Each list is gone through at all levels: at the bytes `from_level` or `to_level` from an inner and from an
// outer one to the next.
struct Groups {
    struct Side {
        std::vector<Index> begins, places;
        std::array<Index, 2> level{0, 0};
    } from, to;
    std::array<Index, 2> levels{1, 1};
};

// Nothing but its functions reaches the memory. What they begin is carried out in the order in which it was begun, and
// is over after `finish`; the order with the caller's own work on the device is that of `enter` and `leave`.
class Copier {
  public:
    Copier() = default;
    virtual ~Copier() = default;
    Copier(const Copier&) = delete;
    Copier& operator=(const Copier&) = delete;

    virtual std::string memory() const = 0;  // "CUDA 0"
    // Throws PlanError where no memory is left.
    virtual std::byte* allocate(Index bytes) = 0;
    virtual void release(std::byte* memory) = 0;
    // Memory of the host that the device copies from and to by itself.
    virtual std::byte* allocate_pinned(Index bytes) = 0;
    virtual void release_pinned(std::byte* memory) = 0;
    // The same of memory that others have allocated; false where the driver does not take it.
    virtual bool pin(std::byte* memory, Index bytes) = 0;
    virtual void unpin(std::byte* memory) = 0;

    // Sets what the copier keeps of copies within its memory, when a plan is made; that lives as long as it does. Their
    // lists of places are the host's.
    virtual void compile(StridedCopy* copies, std::size_t count) = 0;
    // A number for `combine`, of groups that are kept as copies are.
    virtual std::size_t compile(const Groups& groups) = 0;

    virtual void copy(const StridedCopy* copies, std::size_t count) = 0;
    virtual void to_host(std::byte* host, const std::byte* device, Index bytes) = 0;
    virtual void from_host(std::byte* device, const std::byte* host, Index bytes) = 0;
    virtual void clear(std::byte* memory, Index bytes) = 0;  // to zeros
    virtual void combine(Element element, Operation operation, std::byte* into, const std::byte* left,
                         const std::byte* right, Index count) = 0;
    virtual void combine(Element element, Operation operation, std::size_t groups, const std::byte* from,
                         std::byte* to) = 0;

    // Order all that is begun from now on after the caller's work, and the caller's later work after all that was
    // begun until now. Neither waits.
    virtual void enter() = 0;
    virtual void leave() = 0;
    // Waits until all that was begun is over: before MPI or the host reads what it wrote, or writes what it reads.
    virtual void finish() = 0;
    // The same when a plan is destroyed, where nothing is to be done about an error any more.
    virtual void wait_at_the_end() noexcept = 0;
    // Memory of this copier for the other processes of the node: numbers that name it, and where in it an address is.
    virtual std::pair<std::array<Index, 8>, Index> share(std::byte* memory) = 0;
    // The memory that the numbers of another process name, or of this one. Throws PlanError.
    virtual std::byte* open(const std::array<Index, 8>& numbers) = 0;
    virtual std::byte* own(const std::array<Index, 8>& numbers) const = 0;
    virtual void close(std::byte* memory) = 0;
    // Begins a copy to memory of another process, after what was begun before, in a stream of the lane.
    virtual void push(std::size_t lane, std::byte* to, const std::byte* from, Index bytes) = 0;
    virtual void finish_push(std::size_t lane) = 0;
    // The library that brings messages from device to device. Throws InputError where it cannot be used.
    virtual const Nccl& nccl() const = 0;
    // Calls it, while the device is the current one.
    virtual void on_device(const std::function<void()>& calls) const = 0;
    // The stream of its messages: those that are put there before `end_messages` come after all that was begun until
    // now. What is begun after `await_messages` comes after them. None of the three waits.
    virtual void* begin_messages() = 0;
    virtual void end_messages() = 0;
    virtual void await_messages() = 0;
    virtual bool messages_over() const = 0;
    // Whether MPI takes pointers to this memory, and how that is known, in words.
    virtual std::pair<bool, std::string> mpi_takes() const = 0;
    // The stream that the caller's work is in, as a number.
    virtual void set_stream(std::uintptr_t stream) = 0;
    virtual std::uintptr_t stream() const = 0;
};

// Bytes where the arrays of a plan lie: in the memory of their copier, or in the host's where there is none.
class PlanMemory {
  public:
    PlanMemory() = default;
    PlanMemory(Index bytes, std::shared_ptr<Copier> copier);
    ~PlanMemory();
    PlanMemory(PlanMemory&&) noexcept;
    PlanMemory& operator=(PlanMemory&&) noexcept;
    std::byte* data() const { return device_ ? device_ : host_.data(); }
    void clear() const;

  private:
    Memory host_;
    Index bytes_ = 0;
    std::shared_ptr<Copier> copier_;
    std::byte* device_ = nullptr;
};

// Sets the host's loops for a copy between places of its memory.
void compile_for_host(StridedCopy& copy);

// Compiles copies from number `first` on, which all lie in one memory.
void compile(std::vector<StridedCopy>& copies, std::size_t first = 0);

}  // namespace tradewind::mpi
