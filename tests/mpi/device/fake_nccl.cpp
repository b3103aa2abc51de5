// NCCL for tests, over the fake driver: what Tradewind loads in place of libnccl.so.2.
//
// Calls do not block, as those of a real communicator that was made so: what they begin is over when its state has been
// asked for. A group of sends and receives is work of a stream, which the fake driver carries out as late as order
// allows: when the host waits for it, or another rank for its messages. The sends of a pair of ranks match its receives
// in their order. Files in the folder of this library carry what is sent. A wrong use ends the process with a line that
// says which.
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

enum Result {
    success = 0,
    system_error = 2,
    invalid_argument = 4,
    invalid_usage = 5,
    remote_error = 6,
    in_progress = 7
};

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "fake NCCL: %s\n", what.c_str());
    std::fflush(stderr);
    std::abort();
}

// --- of the fake driver ---

template <typename Function>
Function* of_driver(const char* name) {
    void* driver = nullptr;
    for (const char* const library : {"libcuda.so.1", "libamdhip64.so.7"})
        if (!driver) driver = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    void* const found = driver ? dlsym(driver, name) : nullptr;
    if (!found) fail(std::string("no ") + name);
    return reinterpret_cast<Function*>(found);
}

struct External {
    int (*attempt)(void*);
    int (*demanded)(void*);
    void* data;
};
void enqueue(void* stream, const External* external) {
    static auto* const call = of_driver<void(void*, const External*)>("fake_enqueue");
    call(stream, external);
}
char* reach(const void* address, std::size_t bytes) {
    static auto* const call = of_driver<char*(const void*, std::size_t)>("fake_reach");
    return call(address, bytes);
}
void require_context() {
    static auto* const call = of_driver<int()>("fake_contexts");
    if (call() == 0) fail("a call without a context");
}
void add_count(const char* what, long number) {
    static auto* const call = of_driver<void(const char*, long)>("fake_add");
    call(what, number);
}

// --- files ---

std::string folder() {
    Dl_info info;
    dladdr(reinterpret_cast<void*>(&folder), &info);
    const std::string path = info.dli_fname;
    return path.substr(0, path.rfind('/'));
}
bool exists(const std::string& path) {
    return access(path.c_str(), F_OK) == 0;
}
void write(const std::string& path, const char* data, std::size_t bytes) {
    const std::string beside = path + "." + std::to_string(getpid());
    std::ofstream(beside, std::ios::binary).write(data, static_cast<std::streamsize>(bytes));
    std::rename(beside.c_str(), path.c_str());
}
std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
bool runs(const std::string& process) {
    const std::string status = read("/proc/" + process + "/stat");
    const std::size_t name_end = status.rfind(')');
    return name_end != std::string::npos && status[name_end + 2] != 'Z';
}

// --- what tests ask for ---

std::map<std::string, int>& wishes() {
    static auto& all = *new std::map<std::string, int>;
    return all;
}

// --- communicators ---

struct Group;
struct Communicator {
    std::string place;
    int ranks, rank;
    std::vector<std::string> processes{};  // of its ranks, once all have come
    std::map<int, long> sent{}, received{};
    std::atomic<int> error{success};
    std::atomic<bool> aborted{false};
    std::string text{};
    std::vector<Group*> launching{};  // groups that have ended, and are in no stream yet
    int looks = 0;

    std::string file(const char* kind, int from, int to, long number) const {
        return place + "/" + kind + std::to_string(from) + "-" + std::to_string(to) + "-" + std::to_string(number);
    }
    std::string joined(int r) const { return place + "/joined-" + std::to_string(r); }
};

struct Message {
    int peer;
    const void* data;
    std::size_t bytes;
    long number = 0;
    bool done = false;
};
struct Group {
    Communicator* of = nullptr;
    void* stream = nullptr;
    std::vector<Message> sends{}, receives{};
    External external{};
};

std::string sent_file(const Communicator& c, const Message& m, const char* kind) {
    return c.file(kind, c.rank, m.peer, m.number);
}
std::string received_file(const Communicator& c, const Message& m, const char* kind) {
    return c.file(kind, m.peer, c.rank, m.number);
}

bool receive(Communicator& c, Message& m) {
    const std::string file = received_file(c, m, "message-"), wanted = received_file(c, m, "wanted-");
    if (!exists(file)) {
        if (!exists(wanted)) write(wanted, "", 0);
        if (!runs(c.processes[static_cast<std::size_t>(m.peer)]) && !exists(file)) c.error = remote_error;
        return false;
    }
    const std::string content = read(file);
    if (content.size() != m.bytes)
        fail("a receive of " + std::to_string(m.bytes) + " bytes matches a send of " + std::to_string(content.size()));
    content.copy(reach(m.data, m.bytes), m.bytes);
    unlink(file.c_str());
    unlink(wanted.c_str());
    return true;
}
int attempt(void* data) {
    auto& group = *static_cast<Group*>(data);
    Communicator& c = *group.of;
    bool all = true;
    for (Message& m : group.sends) {
        if (m.done || c.aborted) continue;
        write(sent_file(c, m, "message-"), reach(m.data, m.bytes), m.bytes);
        add_count("by nccl", static_cast<long>(m.bytes));
        m.done = true;
    }
    for (Message& m : group.receives) {
        if (!m.done && !c.aborted) m.done = receive(c, m);
        all = all && m.done;
    }
    return all || c.aborted || c.error != success;
}
int demanded(void* data) {
    const auto& group = *static_cast<Group*>(data);
    for (const Message& m : group.sends)
        if (!m.done && exists(sent_file(*group.of, m, "wanted-"))) return 1;
    return 0;
}

thread_local int depth = 0;
thread_local Group* current = nullptr;

int add(const void* data, std::size_t bytes, int type, int peer, void* comm, void* stream, bool sending) {
    if (depth == 0) fail("a message outside of a group");
    if (type != 0 && type != 1) fail("messages of other numbers than bytes");
    auto* const c = static_cast<Communicator*>(comm);
    if (c->error != success || c->aborted) return invalid_usage;
    if (peer < 0 || peer >= c->ranks || bytes == 0) return invalid_argument;
    require_context();
    reach(data, bytes);
    if (!current) current = new Group{c, stream};
    if (current->of != c || current->stream != stream) fail("a group of several communicators or streams");
    (sending ? current->sends : current->receives).push_back({peer, data, bytes});
    return success;
}

// Whether all ranks have come; then also whether they may.
bool all_joined(Communicator& c) {
    std::set<std::string> devices;
    std::vector<std::string> processes;
    for (int r = 0; r < c.ranks; ++r) {
        if (!exists(c.joined(r))) return false;
        const std::string line = read(c.joined(r));
        processes.push_back(line.substr(0, line.find(' ')));
        if (devices.insert(line.substr(line.find(' '))).second) continue;
        c.text = "Duplicate GPU detected : rank " + std::to_string(r) + " and another rank both on one CUDA device";
        c.error = invalid_usage;
    }
    c.processes = processes;
    return true;
}

}  // namespace

EXPORT int ncclGetVersion(int* version) {
    *version = wishes().count("version") ? wishes()["version"] : 22705;
    return success;
}
EXPORT const char* ncclGetErrorString(int code) {
    switch (code) {
        case system_error: return "unhandled system error";
        case invalid_usage: return "invalid usage";
        case remote_error: return "remote process exited or there was a network error";
        default: return "another error";
    }
}
EXPORT const char* ncclGetLastError(void* comm) {
    return comm ? static_cast<Communicator*>(comm)->text.c_str() : "";
}

struct Id {
    char bytes[128];
};
EXPORT int ncclGetUniqueId(Id* id) {
    if (wishes()["no id"]) return system_error;
    static int number = 0;
    const std::string name = "nccl-" + std::to_string(getpid()) + "-" + std::to_string(number++);
    std::snprintf(id->bytes, sizeof id->bytes, "%s", name.c_str());
    return mkdir((folder() + "/" + name).c_str(), 0700) == 0 ? success : system_error;
}

struct Config {
    std::size_t size;
    unsigned magic, version;
    int blocking;
};
EXPORT int ncclCommInitRankConfig(void** comm, int ranks, Id id, int rank, const Config* config) {
    require_context();
    if (config->size < sizeof(Config) || config->magic != 0xcafebeef || config->version < 21400)
        return invalid_argument;
    if (config->blocking != 0) fail("a communicator whose calls block");
    auto* const made = new Communicator{folder() + "/" + id.bytes, ranks, rank};
    *comm = made;
    add_count("connections", 1);
    if (wishes()["fails to connect"]) {
        made->error = system_error;
        return in_progress;
    }
    const std::string process = std::to_string(getpid());
    const std::string line = (wishes()["is gone"] ? "0" : process) + (wishes()["one device"] ? " one" : " " + process);
    write(made->joined(rank), line.data(), line.size());
    if (wishes()["fails once it has joined"]) made->error = system_error;
    return in_progress;
}
// Work that was begun is over only at the second look.
EXPORT int ncclCommGetAsyncError(void* comm, int* state) {
    auto& c = *static_cast<Communicator*>(comm);
    if (c.aborted) fail("a communicator that was aborted");
    *state = c.error;
    if (c.error != success) return success;
    *state = in_progress;
    if (c.processes.empty() && !all_joined(c)) return success;
    if (!c.launching.empty() && c.looks++ == 0) return success;
    for (Group* const group : c.launching) enqueue(group->stream, &group->external);
    c.launching.clear();
    c.looks = 0;
    *state = c.error;
    return success;
}
EXPORT int ncclCommAbort(void* comm) {
    require_context();
    add_count("connections aborted", 1);
    static_cast<Communicator*>(comm)->aborted = true;
    return success;
}
EXPORT int ncclCommDestroy(void* comm) {
    add_count("connections ended", 1);
    static_cast<Communicator*>(comm)->aborted = true;
    return success;
}

EXPORT int ncclGroupStart() {
    ++depth;
    return success;
}
EXPORT int ncclGroupEnd() {
    if (--depth < 0) fail("the end of a group that was not begun");
    Group* const group = current;
    current = nullptr;
    if (!group) return success;
    Communicator& c = *group->of;
    for (Message& m : group->sends) m.number = c.sent[m.peer]++;
    for (Message& m : group->receives) m.number = c.received[m.peer]++;
    group->external = {attempt, demanded, group};
    if (wishes()["fails"]) c.error = remote_error;
    c.launching.push_back(group);
    return in_progress;
}
EXPORT int ncclSend(const void* data, std::size_t bytes, int type, int peer, void* comm, void* stream) {
    return add(data, bytes, type, peer, comm, stream, true);
}
EXPORT int ncclRecv(void* data, std::size_t bytes, int type, int peer, void* comm, void* stream) {
    return add(data, bytes, type, peer, comm, stream, false);
}

// Asks for something: "version", "no id", "fails to connect", "fails once it has joined", "one device" of all ranks
// that ask for it, "is gone" of this process, as others see it, "fails".
EXPORT void fake_nccl(const char* what, int value) {
    wishes()[what] = value;
}
