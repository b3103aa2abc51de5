#pragma once

#include <map>
#include <vector>

#include "mpi/carrier.hpp"

namespace tradewind::mpi {

// Compares a checksum of every message at its two ends: of the memory it was gathered from and of the memory it was
// scattered to. Sent beside the messages, whatever carries those.
class Checksums {
  public:
    explicit Checksums(const Work& work);
    void before(int stage);   // of what this rank sends
    void arrived(int stage);  // of what is combined, in its buffer
    void after(int stage);    // of what lies in its place; then compares. Throws PlanError
    bool under_way() const { return under_way_; }

  private:
    void stage(const std::vector<End>& ends);
    std::uint64_t sum_of(const End& end) const;  // of its memory
    std::uint64_t sum_of(const std::byte* device, Index bytes) const;

    const Work& work_;
    std::vector<std::uint64_t> sent_, received_, announced_;
    std::vector<MPI_Request> requests_;
    bool under_way_ = false;
    // Copies into a buffer for ends on a device: the host computes the checksums.
    std::map<const End*, std::vector<StridedCopy>> staged_;
    PlanMemory mirror_;
    Memory staging_;
};

}  // namespace tradewind::mpi
