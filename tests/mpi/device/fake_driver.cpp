// A driver of devices for tests, as a library with the entry points of CUDA's driver: what Tradewind loads in place of
// libcuda.so.1, so that its own code runs as on a GPU. Its compiler is fake_compiler.cpp.
//
// The memory of a device has two mappings: at the address that the caller gets, any access of the host ends the
// process; the driver and its kernels reach it at another one. What is put into a stream is carried out as late as
// order allows: nothing until the host waits for a stream, and then that and what it depends on, no more; or, by
// TRADEWIND_FAKE_SEED, also other work that is ready, and what an operation depends on in any order, at random.
// Messages between devices (fake_nccl.cpp) are such work, too, begun here or because another process needs them. The
// target of a copy to the host holds poison until
// then, and so does new memory of a device. A wrong use ends the process with a line that says which.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

// --- kernels: their text, compiled for the host, a thread after another ---

struct Three {
    unsigned x, y, z;
};
static Three threadIdx, blockIdx, blockDim, gridDim;
#define __global__
#define __device__
namespace kernels {
#include "kernels.cpp"
}
#undef __global__
#undef __device__

namespace {

constexpr unsigned char poison = 0xA5;
constexpr std::size_t page = 4096;

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "fake driver: %s\n", what.c_str());
    std::fflush(stderr);
    std::abort();
}

struct Memory {
    char* device;  // as the caller sees it
    char* shadow;  // as the driver does
    std::size_t bytes;
    int file;
    bool opened;  // that of another process
};

// Work that depends on other processes: `attempt` does what can be done, and returns whether it is over.
struct External {
    int (*attempt)(void*);
    int (*demanded)(void*);  // whether another process waits for it
    void* data;
};

struct Operation {
    std::function<void()> work;
    const External* external = nullptr;
    std::vector<std::shared_ptr<Operation>> after;
    const char* host = nullptr;  // that it reads or writes
    std::size_t host_bytes = 0;
    bool reads_host = false, done = false;
};
using OperationPtr = std::shared_ptr<Operation>;

struct Stream {
    OperationPtr last;
    bool blocking = true;  // ordered with the default stream
};
struct Event {
    OperationPtr last;
};

struct State {
    std::recursive_mutex mutex;
    std::map<const char*, Memory> memories;
    std::map<const char*, std::size_t> pinned;
    std::set<Stream*> streams;
    Stream legacy;
    std::vector<OperationPtr> pending;
    std::mt19937 random{static_cast<unsigned>(
        std::atoi(std::getenv("TRADEWIND_FAKE_SEED") ? std::getenv("TRADEWIND_FAKE_SEED") : "0"))};
    bool eager = std::getenv("TRADEWIND_FAKE_SEED") != nullptr;
    std::map<std::string, long> counts;
    int current = 0;
};
State& state() {
    static State& all = *new State;
    return all;
}
using Lock = std::lock_guard<std::recursive_mutex>;

void count(const std::string& what, long bytes = 1) {
    state().counts[what] += bytes;
}

const Memory* find(const void* address) {
    auto next = state().memories.upper_bound(static_cast<const char*>(address));
    if (next == state().memories.begin()) return nullptr;
    const Memory& memory = (--next)->second;
    return static_cast<const char*>(address) < memory.device + memory.bytes ? &memory : nullptr;
}
char* shadow(const void* address, std::size_t bytes, const char* what) {
    const Memory* const memory = find(address);
    if (!memory) fail(std::string(what) + ": an address that is not the device's");
    const std::size_t offset = static_cast<std::size_t>(static_cast<const char*>(address) - memory->device);
    if (offset + bytes > memory->bytes) fail(std::string(what) + ": beyond the end of its memory");
    return memory->shadow + offset;
}

bool ready(const Operation& operation) {
    return std::all_of(operation.after.begin(), operation.after.end(), [](const OperationPtr& o) { return o->done; });
}
// As far as that goes without waiting for other processes; whether it is done.
bool try_to_carry_out(const OperationPtr& operation) {
    if (!operation || operation->done) return true;
    std::vector<OperationPtr> before = operation->after;
    if (state().eager) std::shuffle(before.begin(), before.end(), state().random);
    for (const OperationPtr& each : before)
        if (!try_to_carry_out(each)) return false;
    if (operation->external && operation->external->attempt(operation->external->data) == 0) return false;
    if (operation->work) operation->work();
    operation->done = true;
    operation->after.clear();
    std::erase(state().pending, operation);
    return true;
}
// Carries out, as far as can be, work that other processes wait for.
void serve() {
    for (const OperationPtr& each : std::vector(state().pending))
        if (each->external && !each->done && each->external->demanded(each->external->data) != 0)
            try_to_carry_out(each);
}
void carry_out(const OperationPtr& operation) {
    while (!try_to_carry_out(operation)) {
        serve();
        usleep(50);
    }
}
void carry_out_some() {
    while (state().eager && !state().pending.empty() && state().random() % 3 == 0) {
        const OperationPtr any = state().pending[state().random() % state().pending.size()];
        if (ready(*any)) try_to_carry_out(any);
    }
}

Stream& stream_of(void* handle) {
    if (reinterpret_cast<std::uintptr_t>(handle) <= 2) return state().legacy;
    auto* const stream = static_cast<Stream*>(handle);
    if (!state().streams.count(stream)) fail("an invalid stream");
    return *stream;
}
OperationPtr enqueue(void* handle, std::function<void()> work) {
    carry_out_some();
    Stream& stream = stream_of(handle);
    auto operation = std::make_shared<Operation>();
    operation->work = std::move(work);
    if (stream.last) operation->after.push_back(stream.last);
    if (&stream == &state().legacy) {
        for (Stream* const other : state().streams)
            if (other->blocking && other->last) operation->after.push_back(other->last);
    } else if (stream.blocking && state().legacy.last) {
        operation->after.push_back(state().legacy.last);
    }
    stream.last = operation;
    state().pending.push_back(operation);
    return operation;
}
void touch_host(const OperationPtr& operation, const void* host, std::size_t bytes, bool reads) {
    operation->host = static_cast<const char*>(host);
    operation->host_bytes = bytes;
    operation->reads_host = reads;
}
bool touched(const void* host, std::size_t bytes) {
    const char* const begin = static_cast<const char*>(host);
    return std::any_of(state().pending.begin(), state().pending.end(), [&](const OperationPtr& o) {
        return o->host && o->host < begin + bytes && begin < o->host + o->host_bytes;
    });
}
void require_idle(const void* memory, std::size_t bytes, const char* what) {
    if (touched(memory, bytes)) fail(std::string(what) + " that copies still read or write");
}

// All memory is in one range of addresses as the caller sees it, and at one distance from there as the driver does: a
// kernel may go from one array to another by a number of bytes.
constexpr std::size_t range = std::size_t{1} << 36;
char* arena() {
    static char* const begin = [] {
        void* const memory = mmap(nullptr, 2 * range, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) fail("no addresses");
        return static_cast<char*>(memory);
    }();
    return begin;
}
bool map(char* place, std::size_t bytes, int protection, int file) {
    return mmap(place, bytes, protection, MAP_SHARED | MAP_FIXED, file, 0) == place;
}
void unmap(char* place, std::size_t bytes) {
    mmap(place, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}
int add(int file, std::size_t bytes, bool opened, char** memory) {
    static std::size_t used = page;
    char* const device = arena() + used;
    used += bytes + page;  // a page that is never mapped lies between
    if (used > range) return 2;
    if (!map(device, bytes, PROT_NONE, file) || !map(device + range, bytes, PROT_READ | PROT_WRITE, file)) return 2;
    state().memories[device] = {device, device + range, bytes, file, opened};
    *memory = device;
    return 0;
}
void remove(char* memory) {
    const auto found = state().memories.find(memory);
    if (found == state().memories.end()) fail("freed an invalid address");
    unmap(found->second.device, found->second.bytes);
    unmap(found->second.shadow, found->second.bytes);
    close(found->second.file);
    state().memories.erase(found);
}

}  // namespace

// --- the driver's functions ---

EXPORT int cuInit(unsigned) {
    return 0;
}
EXPORT int cuGetErrorString(int code, const char** text) {
    *text = code == 2 ? "out of memory" : "invalid value";
    return 0;
}
EXPORT int cuDeviceGetCount(int* devices) {
    *devices = 2;
    return 0;
}
EXPORT int cuDeviceGetName(char* name, int length, int device) {
    std::snprintf(name, static_cast<std::size_t>(length), "Fake %d", device);
    return 0;
}
EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) {
    *context = reinterpret_cast<void*>(static_cast<std::uintptr_t>(device) + 1);
    return 0;
}
EXPORT int cuCtxPushCurrent_v2(void*) {
    const Lock lock(state().mutex);
    ++state().current;
    return 0;
}
EXPORT int cuCtxPopCurrent_v2(void**) {
    const Lock lock(state().mutex);
    if (--state().current < 0) fail("a context left that was not entered");
    return 0;
}
EXPORT int cuMemAlloc_v2(char** memory, std::size_t bytes) {
    const Lock lock(state().mutex);
    if (bytes == 0) return 1;
    bytes = (bytes + page - 1) / page * page;
    const int file = memfd_create("fake-device", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) return 2;
    const int code = add(file, bytes, false, memory);
    if (code == 0) std::memset(shadow(*memory, bytes, "new memory"), poison, bytes);
    return code;
}
// Freeing waits for all work, as CUDA's does.
EXPORT int cuMemFree_v2(char* memory) {
    const Lock lock(state().mutex);
    while (!state().pending.empty()) carry_out(state().pending.front());
    remove(memory);
    return 0;
}
EXPORT int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
    const Lock lock(state().mutex);
    *memory = std::aligned_alloc(page, (bytes + page - 1) / page * page);
    std::memset(*memory, poison, bytes);
    state().pinned[static_cast<char*>(*memory)] = bytes;
    return 0;
}
EXPORT int cuMemFreeHost(void* memory) {
    const Lock lock(state().mutex);
    const auto found = state().pinned.find(static_cast<char*>(memory));
    if (found == state().pinned.end()) fail("freed an invalid address of pinned memory");
    require_idle(memory, found->second, "freed pinned memory");
    state().pinned.erase(found);
    std::free(memory);
    return 0;
}
EXPORT int cuMemHostRegister_v2(void* memory, std::size_t bytes, unsigned) {
    const Lock lock(state().mutex);
    state().pinned[static_cast<char*>(memory)] = bytes;
    return 0;
}
EXPORT int cuMemHostUnregister(void* memory) {
    const Lock lock(state().mutex);
    const auto found = state().pinned.find(static_cast<char*>(memory));
    if (found == state().pinned.end()) fail("unpinned memory that was not pinned");
    require_idle(memory, found->second, "unpinned memory");
    state().pinned.erase(found);
    return 0;
}
EXPORT int cuMemcpyHtoDAsync_v2(char* device, const void* host, std::size_t bytes, void* stream) {
    const Lock lock(state().mutex);
    char* const to = shadow(device, bytes, "copy from the host");
    count("from host", static_cast<long>(bytes));
    touch_host(enqueue(stream, [=] { std::memcpy(to, host, bytes); }), host, bytes, true);
    return 0;
}
EXPORT int cuMemcpyDtoHAsync_v2(void* host, const char* device, std::size_t bytes, void* stream) {
    const Lock lock(state().mutex);
    const char* const from = shadow(device, bytes, "copy to the host");
    count("to host", static_cast<long>(bytes));
    if (!touched(host, bytes)) std::memset(host, poison, bytes);
    touch_host(enqueue(stream, [=] { std::memcpy(host, from, bytes); }), host, bytes, false);
    return 0;
}
EXPORT int cuMemcpyDtoDAsync_v2(char* to, const char* from, std::size_t bytes, void* stream) {
    const Lock lock(state().mutex);
    char *const t = shadow(to, bytes, "copy"), *const f = shadow(from, bytes, "copy");
    count(find(to)->opened ? "to peer" : "within", static_cast<long>(bytes));
    enqueue(stream, [=] { std::memmove(t, f, bytes); });
    return 0;
}
EXPORT int cuMemsetD8Async(char* memory, unsigned char value, std::size_t bytes, void* stream) {
    const Lock lock(state().mutex);
    char* const to = shadow(memory, bytes, "fill");
    enqueue(stream, [=] { std::memset(to, value, bytes); });
    return 0;
}
EXPORT int cuStreamCreate(void** stream, unsigned flags) {
    const Lock lock(state().mutex);
    auto* const made = new Stream;
    made->blocking = flags == 0;
    state().streams.insert(made);
    *stream = made;
    return 0;
}
EXPORT int cuStreamDestroy_v2(void* stream) {
    const Lock lock(state().mutex);
    state().streams.erase(&stream_of(stream));
    return 0;
}
EXPORT int cuStreamSynchronize(void* stream) {
    const Lock lock(state().mutex);
    count("waits");
    carry_out_some();
    Stream& waited = stream_of(stream);
    if (&waited == &state().legacy)
        for (Stream* const other : state().streams)
            if (other->blocking) carry_out(other->last);
    carry_out(waited.last);
    return 0;
}
EXPORT int cuEventCreate(void** event, unsigned) {
    *event = new Event;
    return 0;
}
EXPORT int cuEventDestroy_v2(void* event) {
    delete static_cast<Event*>(event);
    return 0;
}
EXPORT int cuEventRecord(void* event, void* stream) {
    const Lock lock(state().mutex);
    static_cast<Event*>(event)->last = enqueue(stream, [] {});
    return 0;
}
EXPORT int cuStreamWaitEvent(void* stream, void* event, unsigned) {
    const Lock lock(state().mutex);
    const OperationPtr last = static_cast<Event*>(event)->last;
    const OperationPtr waiting = enqueue(stream, [] {});
    if (last && !last->done) waiting->after.push_back(last);
    return 0;
}
EXPORT int cuEventQuery(void* event) {
    const Lock lock(state().mutex);
    if (try_to_carry_out(static_cast<Event*>(event)->last)) return 0;
    serve();
    return 600;
}
// The release of ROCm that this stands for: 5 has other numbers for types of memory.
EXPORT int hipRuntimeGetVersion(int* version) {
    const char* const release = std::getenv("TRADEWIND_FAKE_ROCM");
    *version = 10'000'000 * (release ? std::atoi(release) : 7);
    return 0;
}
EXPORT int cuPointerGetAttribute(void* value, int attribute, std::uintptr_t pointer) {
    const Lock lock(state().mutex);
    if (!find(reinterpret_cast<const void*>(pointer))) return 1;
    int version = 0;
    hipRuntimeGetVersion(&version);
    const unsigned in_device = version < 60'000'000 ? 1 : 2;
    *static_cast<unsigned*>(value) = attribute == 2 ? in_device : 0;
    return 0;
}

// --- modules and kernels ---

namespace {

using Launch = std::function<void(void** parameters)>;

// Kernels get addresses of the device; on the host they work on those of the driver.
template <typename Pointer>
Pointer seen(Pointer address) {
    return address ? reinterpret_cast<Pointer>(shadow(address, 1, "kernel")) : address;
}

void run_threads(Three grid, Three block, const std::function<void()>& kernel) {
    gridDim = grid;
    blockDim = block;
    for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
        for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x)
            for (threadIdx.x = 0; threadIdx.x < block.x; ++threadIdx.x) kernel();
}

struct Kernel {
    std::string name;
    void (*combine)(void*, const void*, const void*, kernels::Index) = nullptr;
    void (*groups)(kernels::Groups) = nullptr;
};

std::map<std::string, Kernel>& all_kernels() {
    static std::map<std::string, Kernel> all = [] {
        std::map<std::string, Kernel> made{{"tw_copy", {"tw_copy"}}};
#define KERNEL(type, name)                                                                  \
    made["tw_combine_" #type "_" #name] = {"combine", kernels::tw_combine_##type##_##name}; \
    made["tw_groups_" #type "_" #name] = {"groups", nullptr, kernels::tw_groups_##type##_##name};
#define KERNELS(type) KERNEL(type, sum) KERNEL(type, prod)
#define ORDERED(type) KERNELS(type) KERNEL(type, min) KERNEL(type, max)
        ORDERED(f4) ORDERED(f8) ORDERED(i4) ORDERED(i8) KERNELS(c8) KERNELS(c16) return made;
    }();
    return all;
}

template <typename T>
T parameter(void** parameters, int i) {
    return *static_cast<T*>(parameters[i]);
}

void copy_rows(Three grid, Three block, const kernels::Copy* copies, int rows, kernels::Index first, int words) {
    const kernels::Copy* const table = seen(copies);
    std::vector<kernels::Copy> own(table, table + rows);
    for (kernels::Copy& c : own) {
        c.from = seen(c.from);
        c.to = seen(c.to);
        c.from_steps = seen(c.from_steps);
        c.to_steps = seen(c.to_steps);
    }
    run_threads(grid, block, [&] { kernels::tw_copy(own.data(), rows, first, words); });
}

}  // namespace

EXPORT int cuModuleLoadData(void** module, const void* image) {
    if (std::strcmp(static_cast<const char*>(image), "fake code") != 0) fail("a module that the compiler has not made");
    *module = &all_kernels();
    return 0;
}
EXPORT int cuModuleGetFunction(void** function, void*, const char* name) {
    const auto found = all_kernels().find(name);
    if (found == all_kernels().end()) return 1;
    *function = &found->second;
    return 0;
}
EXPORT int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned, unsigned bx, unsigned, unsigned, unsigned,
                          void* stream, void** p, void**) {
    const Lock lock(state().mutex);
    count("launches");
    if (state().current == 0) fail("a launch without a context");
    const Kernel& kernel = *static_cast<Kernel*>(function);
    const Three grid{gx, gy, 1}, block{bx, 1, 1};
    using kernels::Index;
    if (kernel.name == "tw_copy") {
        enqueue(stream, [=, copies = parameter<const kernels::Copy*>(p, 0), rows = parameter<int>(p, 1),
                         first = parameter<Index>(p, 2),
                         words = parameter<int>(p, 3)] { copy_rows(grid, block, copies, rows, first, words); });
    } else if (kernel.name == "combine") {
        enqueue(stream,
                [=, combine = kernel.combine, into = parameter<char*>(p, 0), left = parameter<const char*>(p, 1),
                 right = parameter<const char*>(p, 2), n = parameter<Index>(p, 3)] {
                    char* const i = seen(into);
                    const char *const l = seen(left), *const r = seen(right);
                    run_threads(grid, block, [&] { combine(i, l, r, n); });
                });
    } else {
        enqueue(stream, [=, groups = kernel.groups, g = parameter<kernels::Groups>(p, 0)] {
            kernels::Groups own = g;
            own.from = seen(g.from);
            own.to = seen(g.to);
            own.from_begins = seen(g.from_begins);
            own.from_places = seen(g.from_places);
            own.to_begins = seen(g.to_begins);
            own.to_places = seen(g.to_places);
            run_threads(grid, block, [&] { groups(own); });
        });
    }
    return 0;
}

// --- memory of other processes ---

namespace {
struct Handle {
    int process, file;
    std::size_t bytes;
};
}  // namespace

EXPORT int cuMemGetAddressRange_v2(char** begin, std::size_t* bytes, const char* memory) {
    const Lock lock(state().mutex);
    const Memory* const found = find(memory);
    if (!found) return 1;
    *begin = found->device;
    *bytes = found->bytes;
    return 0;
}
EXPORT int cuIpcGetMemHandle(char* handle, char* memory) {
    const Lock lock(state().mutex);
    const Memory* const found = find(memory);
    if (!found || found->device != memory) return 1;
    const Handle given{getpid(), found->file, found->bytes};
    std::memset(handle, 0, 64);
    std::memcpy(handle, &given, sizeof given);
    return 0;
}
struct HandleBytes {
    char bytes[64];
};
EXPORT int cuIpcOpenMemHandle_v2(char** memory, HandleBytes handle, unsigned) {
    const Lock lock(state().mutex);
    Handle given;
    std::memcpy(&given, &handle, sizeof given);
    if (given.process == getpid()) return 1;  // a process cannot open its own
    const std::string path = "/proc/" + std::to_string(given.process) + "/fd/" + std::to_string(given.file);
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    return file < 0 ? 1 : add(file, given.bytes, true, memory);
}
EXPORT int cuIpcCloseMemHandle(char* memory) {
    const Lock lock(state().mutex);
    remove(memory);
    return 0;
}

// --- for the fake NCCL ---

EXPORT void fake_enqueue(void* stream, const External* external) {
    static const bool serving = [] {
        std::thread([] {
            for (;; usleep(200)) {
                const Lock lock(state().mutex);
                serve();
            }
        }).detach();
        return true;
    }();
    static_cast<void>(serving);
    const Lock lock(state().mutex);
    enqueue(stream, {})->external = external;
}
EXPORT char* fake_reach(const void* address, std::size_t bytes) {
    const Lock lock(state().mutex);
    return shadow(address, bytes, "message");
}
EXPORT void fake_add(const char* what, long bytes) {
    const Lock lock(state().mutex);
    count(what, bytes);
}
EXPORT int fake_contexts() {
    const Lock lock(state().mutex);
    return state().current;
}

// --- for tests ---

// How often, or how many bytes: "to host", "from host", "to peer", "within", "by nccl",
// "connections", "connections ended", "launches", "waits".
EXPORT long fake_count(const char* what) {
    const Lock lock(state().mutex);
    return state().counts[what];
}
EXPORT void fake_seed(unsigned seed) {
    const Lock lock(state().mutex);
    state().random.seed(seed);
    state().eager = seed != 0;
}
// The address at which the driver reaches memory of a device; any other address as it is.
EXPORT void* fake_shadow(void* address) {
    const Lock lock(state().mutex);
    return find(address) ? shadow(address, 1, "shadow") : address;
}
EXPORT int fake_pending() {
    const Lock lock(state().mutex);
    return static_cast<int>(state().pending.size());
}
