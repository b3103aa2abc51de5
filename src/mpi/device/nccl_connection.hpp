// The ranks of a plan, connected by NCCL.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "mpi/communicator.hpp"
#include "mpi/device/nccl.hpp"
#include "mpi/packing/copier.hpp"

namespace tradewind::mpi {

class NcclConnection {
  public:
    NcclConnection(const Nccl& nccl, NcclComm comm, std::string memory)
        : nccl_(nccl), comm_(comm), memory_(std::move(memory)) {}
    NcclConnection(const NcclConnection&) = delete;
    NcclConnection& operator=(const NcclConnection&) = delete;

    const Nccl& nccl() const { return nccl_; }
    NcclComm handle() const { return comm_; }
    // That of the device on this rank: "CUDA 0".
    const std::string& memory() const { return memory_; }
    bool aborted() const { return aborted_; }

    // Whether what NCCL was given is begun, or over; false: not yet. Throws PlanError where it has failed.
    bool ready(const char* what) const;
    // Waits for that; throws PlanError after `limit_s` (0: none), too.
    void await_ready(const char* what, double limit_s) const;
    // Ends what is under way; the connection cannot be used any more.
    void abort();
    // Frees it; all ranks do so.
    void destroy() { nccl_.destroy(comm_); }

  private:
    const Nccl& nccl_;
    const NcclComm comm_;
    const std::string memory_;
    bool aborted_ = false;
};

// One that no other plan uses on any rank: that of a plan which is gone, or a new one. Connections are kept with the
// caller's communicator until it is freed, as NCCL wants all ranks to free them together, and plans are destroyed at
// any time. Collective. Throws InputError or PlanError on all ranks where one cannot connect.
std::shared_ptr<NcclConnection> connected(const Communicator& communicator, const Copier& copier, double limit_s);

}  // namespace tradewind::mpi
