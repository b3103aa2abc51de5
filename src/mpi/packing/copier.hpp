// The memory that arrays lie in, as the packing sees it: who copies from it and to it.
#pragma once

#include <string>
#include <vector>

#include "mpi/packing/copy.hpp"

namespace tradewind::mpi {

// The host's memory, where plain loads and stores and MPI reach everything, or that of a device. Messages from and to a
// device's memory go through buffers of the host, whatever the packing, so that no transport knows of it: the plan
// copies between the two, and within the device, by this interface.
class Copier {
  public:
    Copier() = default;
    virtual ~Copier() = default;
    Copier(const Copier&) = delete;
    Copier& operator=(const Copier&) = delete;

    virtual std::string memory() const = 0;  // "host", "cuda:0"
    // Sets `execute` of a copy, and `kept` where it likes, when a plan is made. Each end lies in this memory or in the
    // host's, see the copy, and its lists of places in the host's. What it keeps lives as long as it does.
    virtual void compile(StridedCopy& copy) = 0;
    // Waits for all copies that `execute` has only begun. Called after each row of copies, before MPI or the host reads
    // what they wrote.
    virtual void finish() {}
};

// The one for arrays that name none.
Copier& host_copier();

// Compiles copies from number `first` on, each by the copier of its memory.
void compile(std::vector<StridedCopy>& copies, std::size_t first = 0);

}  // namespace tradewind::mpi
