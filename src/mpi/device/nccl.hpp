// NCCL, or RCCL, which has the same functions, loaded at run time: nothing of either is needed to build.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "mpi/device/driver.hpp"

namespace tradewind::mpi {

using NcclComm = void*;

// Names the ranks that connect.
struct NcclId {
    std::array<char, 128> bytes{};
};

// The beginning of ncclConfig_t, which all versions since 2.14 read. Calls do not block: what they have begun is over,
// or has failed, by `async_error`.
struct NcclConfig {
    std::size_t size = sizeof(NcclConfig);
    unsigned magic = 0xcafebeef, version = 21400;
    int blocking = 0;
};

class Nccl {
  public:
    // The library of a driver's devices. Throws InputError where it cannot be loaded, or is older than 2.14.
    static const Nccl& of(DriverKind kind);

    static constexpr int in_progress = 7, invalid_usage = 5;  // results
    static constexpr int bytes = 1;                           // ncclUint8

    // "NCCL 2.27.5"
    const std::string& name() const { return name_; }
    // Meaning of a call's result, in the library's words.
    std::string text(int code, NcclComm comm) const;
    // Throws PlanError unless a call has done, or begun, what it should; `what` was tried.
    void check(int code, const char* what, NcclComm comm = nullptr) const;

    int (*unique_id)(NcclId* id) = nullptr;
    int (*connect)(NcclComm* comm, int ranks, NcclId id, int rank, const NcclConfig* config) = nullptr;
    int (*async_error)(NcclComm comm, int* code) = nullptr;
    int (*abort)(NcclComm comm) = nullptr;
    int (*destroy)(NcclComm comm) = nullptr;
    int (*group_start)() = nullptr;
    int (*group_end)() = nullptr;
    int (*send)(const void* data, std::size_t count, int type, int peer, NcclComm comm, Stream stream) = nullptr;
    int (*receive)(void* data, std::size_t count, int type, int peer, NcclComm comm, Stream stream) = nullptr;

  private:
    Nccl(DriverKind kind, void* library);

    std::string name_;
    const char* (*error_text_)(int code) = nullptr;
    const char* (*last_error_)(NcclComm comm) = nullptr;
};

}  // namespace tradewind::mpi
