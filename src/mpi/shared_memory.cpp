#include "mpi/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <random>
#include <string>

#include "mpi/error.hpp"

namespace tradewind::mpi {

namespace {

constexpr Index header = 4096;  // bytes before the data, so that these begin on a page

// An open file without a name: it needs no clean-up, and not the space of /dev/shm, which containers keep small.
int unnamed_file() {
#ifdef __linux__
    return memfd_create("tradewind", MFD_CLOEXEC);
#else
    errno = ENOSYS;
    return -1;
#endif
}

std::int64_t random_mark() {
    std::random_device random;
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(random()) << 32) | random());
}

std::byte* map(int file, Index bytes) {
    void* mapped = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return mapped == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapped);
}

// The memory that this process shares, by address.
struct Registry {
    std::mutex mutex;
    std::map<const std::byte*, const SharedMemory*> all;
};
Registry& registry() {
    static auto* kept = new Registry;  // arrays may outlive static objects
    return *kept;
}

}  // namespace

SharedMemory::SharedMemory(Index bytes) : bytes_(bytes) {
    const Index whole = header + bytes;
    const int file = unnamed_file();
    const auto why = [] { return std::string(std::strerror(errno)); };
    const auto refuse = [&](const char* what) {
        const std::string text = why();
        if (file >= 0) close(file);
        throw PlanError(std::to_string(bytes) + " bytes of memory that the ranks of a node share: " + what + ": " +
                        text);
    };
    if (file < 0) refuse("making it");
    errno = posix_fallocate(file, 0, static_cast<off_t>(whole));  // now, not when a full memory is written to
    if (errno != 0) refuse("reserving it");
    mapped_ = map(file, whole);
    if (!mapped_) refuse("mapping it");
    handle_ = {getpid(), file, whole, random_mark()};
    std::memcpy(mapped_, &handle_.mark, sizeof handle_.mark);
    const std::lock_guard lock(registry().mutex);
    registry().all[data()] = this;
}

SharedMemory::~SharedMemory() {
    {
        const std::lock_guard lock(registry().mutex);
        registry().all.erase(data());
    }
    munmap(mapped_, static_cast<std::size_t>(handle_.bytes));
    close(static_cast<int>(handle_.file));
}

std::byte* SharedMemory::data() const {
    return mapped_ + header;
}

std::optional<SharedPlace> find_shared(const std::byte* data, Index bytes) {
    const std::lock_guard lock(registry().mutex);
    auto next = registry().all.upper_bound(data);
    if (next == registry().all.begin()) return std::nullopt;
    const SharedMemory& memory = *(--next)->second;
    const Index offset = data - memory.data();
    if (offset + bytes > memory.bytes()) return std::nullopt;
    return SharedPlace{memory.handle(), header + offset};
}

bool in_shared_memory(const Field& field, Element element) {
    if (field.copier) return false;
    Index below = 0, above = bytes_of(element);
    for (int a = 0; a < 3; ++a) {
        const Index reach = std::max<Index>(field.shape[a] - 1, 0) * field.stride[a];
        (reach < 0 ? below : above) += reach;
    }
    return find_shared(field.data + below, above - below).has_value();
}

PeerMemories::~PeerMemories() {
    for (const auto& [handle, data] : mapped_) munmap(data, static_cast<std::size_t>(handle.bytes));
}

std::byte* PeerMemories::at(const SharedPlace& place) {
    const SharedHandle& handle = place.handle;
    const auto known = mapped_.find(handle);
    if (known != mapped_.end()) return known->second + place.offset;
    const std::string path = "/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.file);
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    std::byte* mapped = file < 0 ? nullptr : map(file, handle.bytes);
    const std::string text = std::strerror(errno);
    if (file >= 0) close(file);
    if (!mapped)
        throw PlanError("mapping the memory of process " + std::to_string(handle.process) + " (" + path + "): " + text +
                        "; transport shared needs ranks that may see each other's files: use isend-irecv");
    std::int64_t mark = 0;
    std::memcpy(&mark, mapped, sizeof mark);
    mapped_[handle] = mapped;
    if (mark != handle.mark)
        throw PlanError("process " + std::to_string(handle.process) +
                        " is another one here than on the rank that shares its memory: ranks in containers of their "
                        "own cannot use transport shared; use isend-irecv");
    return mapped + place.offset;
}

}  // namespace tradewind::mpi
