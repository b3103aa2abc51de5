#include "mpi/device/nccl.hpp"

#include <map>
#include <memory>
#include <mutex>

#include "mpi/device/library.hpp"
#include "mpi/error.hpp"

namespace tradewind::mpi {

namespace {

constexpr int oldest = 21400;

// "2.27.5"
std::string version_text(int version) {
    const int thousand = version < 10000 ? 1000 : 10000;  // until 2.8
    return std::to_string(version / thousand) + "." + std::to_string(version % thousand / 100) + "." +
           std::to_string(version % 100);
}

const Libraries& libraries_of(DriverKind kind) {
    static const Libraries nccl{"libnccl.so.2", "libnccl.so"}, rccl{"librccl.so.1", "librccl.so"};
    return kind == DriverKind::cuda ? nccl : rccl;
}

const char* short_name(DriverKind kind) {
    return kind == DriverKind::cuda ? "NCCL" : "RCCL";
}

}  // namespace

const Nccl& Nccl::of(DriverKind kind) {
    static std::mutex mutex;
    // Connections may outlast other static objects.
    static auto& loaded = *new std::map<DriverKind, std::unique_ptr<const Nccl>>;
    const std::lock_guard<std::mutex> lock(mutex);
    std::unique_ptr<const Nccl>& nccl = loaded[kind];
    if (nccl) return *nccl;
    const Libraries& libraries = libraries_of(kind);
    // Never closed: its threads live as long as the process.
    void* const library = load(libraries, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        throw InputError(std::string("transport nccl needs ") + short_name(kind) +
                         ", and none of its libraries can be loaded (" + listed(libraries) + "): " +
                         (kind == DriverKind::cuda ? "the wheel nvidia-nccl-cu12 has it" : "it comes with ROCm") +
                         "; LD_LIBRARY_PATH may name its folder");
    nccl.reset(new Nccl(kind, library));
    return *nccl;
}

Nccl::Nccl(DriverKind kind, void* library) {
    int (*version)(int*) = nullptr;
    find(library, "ncclGetVersion", version);
    int number = 0;
    version(&number);
    name_ = short_name(kind) + (" " + version_text(number));
    if (number < oldest) throw InputError("transport nccl needs NCCL " + version_text(oldest) + ", not " + name_);
    find(library, "ncclGetErrorString", error_text_);
    find(library, "ncclGetLastError", last_error_);
    find(library, "ncclGetUniqueId", unique_id);
    find(library, "ncclCommInitRankConfig", connect);
    find(library, "ncclCommGetAsyncError", async_error);
    find(library, "ncclCommAbort", abort);
    find(library, "ncclCommDestroy", destroy);
    find(library, "ncclGroupStart", group_start);
    find(library, "ncclGroupEnd", group_end);
    find(library, "ncclSend", send);
    find(library, "ncclRecv", receive);
}

std::string Nccl::text(int code, NcclComm comm) const {
    const char* const meaning = error_text_(code);
    const char* const last = last_error_(comm);
    return std::string(meaning ? meaning : "unknown error") + (last && *last ? std::string(": ") + last : "");
}

void Nccl::check(int code, const char* what, NcclComm comm) const {
    if (code != 0 && code != in_progress) throw PlanError(name_ + ": " + what + ": " + text(code, comm));
}

}  // namespace tradewind::mpi
