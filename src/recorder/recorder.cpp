#include "recorder/recorder.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "recorder/json.hpp"

namespace tradewind::recorder {
namespace {

constexpr char FOLDER[] = "TRADEWIND_RECORD";
constexpr std::size_t EVENTS_PER_BLOCK = 8192;
constexpr std::uint64_t FLUSH_NS = 1'000'000'000;  // a program that is killed loses no more

thread_local Thread* thread_state __attribute__((tls_model("initial-exec"))) = nullptr;

template <class T>
T value_at(Word address, std::size_t offset) {
    T value;
    std::memcpy(&value, reinterpret_cast<const char*>(address) + offset, sizeof value);
    return value;
}

/// Returns the bytes of a status. MPICH and Open MPI have always kept them where they do; the ABI of MPI 5 leaves that
/// to the library.
std::int64_t bytes_of(Word status) {
    if (abi().status_bytes == StatusBytes::ASK) {
        std::int64_t bytes = 0;
        call("PMPI_Get_count_c", status, abi().byte, reinterpret_cast<Word>(&bytes));
        return bytes;
    }
    if (abi().status_bytes == StatusBytes::WHOLE) return value_at<std::int64_t>(status, 16);
    return static_cast<std::int64_t>(value_at<std::uint32_t>(status, 4) >> 1) << 32 |
           value_at<std::uint32_t>(status, 0);
}

/// Returns the time from one to another, 0 where that is earlier.
std::uint64_t time_between(std::uint64_t begin_ns, std::int64_t end_ns) {
    const auto begin = static_cast<std::int64_t>(begin_ns);
    return end_ns > begin ? static_cast<std::uint64_t>(end_ns - begin) : 0;
}

std::string library_version() {
    char text[8192] = "";
    int length = 0;
    call("PMPI_Get_library_version", reinterpret_cast<Word>(text), reinterpret_cast<Word>(&length));
    const std::string_view whole(text, strnlen(text, sizeof text));
    return std::string(whole.substr(0, whole.find('\n')));
}

}  // namespace

Recorder& recorder = *new Recorder;  // never destroyed: a program may end MPI when its own objects are destroyed

Thread& this_thread() {
    if (thread_state == nullptr) thread_state = new Thread;  // to the end of the process: threads may end after it
    return *thread_state;
}

Status read_status(Word address) {
    return {value_at<int>(address, static_cast<std::size_t>(abi().status_source)),
            value_at<int>(address, static_cast<std::size_t>(abi().status_tag)), bytes_of(address)};
}

std::uint16_t time_code(std::uint64_t ns) {
    if (ns < 256) return static_cast<std::uint16_t>(ns);
    const int exponent = std::bit_width(ns) - 8;
    const std::uint64_t mantissa = (ns + (std::uint64_t{1} << (exponent - 1))) >> exponent;  // 128 to 256
    return static_cast<std::uint16_t>((static_cast<std::uint64_t>(exponent) << 7) + mantissa);
}

std::uint64_t time_of(std::uint16_t code) {
    if (code < 256) return code;
    return (std::uint64_t{code & 127U} + 128) << ((code >> 7) - 1);
}

void Recorder::begin() {
    const char* folder = std::getenv(FOLDER);
    if (folder == nullptr || *folder == 0 || is_recording || file_.is_open()) return;
    int rank = 0, level = 0;
    call("PMPI_Comm_rank", abi().world, reinterpret_cast<Word>(&rank));
    const bool is_created = file_.open(folder, rank);
    if (!is_created) {
        std::fprintf(stderr, "tradewind record: rank %d is not recorded: cannot create its file in %s: %s\n", rank,
                     folder, errno == EEXIST ? "there is one already" : std::strerror(errno));
    }
    // The others would wait for this rank, and a trace would have ranks of several programs.
    if (!is_on_all_ranks(is_created)) {
        if (is_created) file_.remove(folder);
        return;
    }
    is_synchronized_ = true;
    call("PMPI_Query_thread", reinterpret_cast<Word>(&level));
    is_multiple_ = level == abi().thread_multiple;
    thread_level_ = is_multiple_                       ? "multiple"
                    : level == abi().thread_serialized ? "serialized"
                    : level == abi().thread_funneled   ? "funneled"
                                                       : "single";
    process_ = getpid();
    communicators.begin();
    clock.calibrate();
    zero_ns_ = flushed_ns_ = synchronize();
    order_.reserve(EVENTS_PER_BLOCK);
    gaps_.reserve(EVENTS_PER_BLOCK);
    durations_.reserve(EVENTS_PER_BLOCK);
    describe_rank();
    is_recording = file_.flush();
    if (!is_recording) {
        std::fprintf(stderr, "tradewind record: rank %d is not recorded: cannot write into %s: %s\n", rank, folder,
                     std::strerror(errno));
        file_.remove(folder);  // without its first blocks it says nothing
    }
}

std::uint64_t Recorder::synchronize() const {
    call("PMPI_Barrier", abi().world);
    return Clock::system_ns();
}

/// Without datatypes, which differ by library: the ranks where it is so make a communicator.
bool Recorder::is_on_all_ranks(bool is_here) const {
    Word part = 0;
    const auto address = reinterpret_cast<Word>(&part);
    int all = 0, size = 0;
    call("PMPI_Comm_split", abi().world, Word{is_here ? 0U : 1U}, Word{0}, address);
    call("PMPI_Comm_size", abi().world, reinterpret_cast<Word>(&all));
    call("PMPI_Comm_size", handle_at(address), reinterpret_cast<Word>(&size));
    call("PMPI_Comm_free", address);
    return is_here && size == all;
}

void Recorder::describe_rank() {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    std::string text = "{\"rank\":" + std::to_string(communicators.world().rank) +
                       ",\"size\":" + std::to_string(communicators.world().members.size()) + ",\"host\":" + json(host) +
                       ",\"library\":" + json(library_version()) + ",\"abi\":" + json(abi().name) +
                       ",\"thread_level\":" + json(thread_level_) + ",\"begin_ns\":" + std::to_string(zero_ns_) +
                       ",\"calls\":[";
    for (int n = 0; n < function_count; n++) text += (n > 0 ? "," : "") + json(function_names[n]);
    text += "]}";
    file_.add(Block::RANK, text.data(), text.size());
}

Event& Recorder::event(int call, Word frame, Thread& thread) {
    if (thread.number == NONE) {
        thread.number = threads_++;
        thread.end_ns = 0;
    }
    event_.begin(call, thread.number);
    event_.operation.site = sites.number(frame);
    return event_;
}

void Recorder::commit(Thread& thread, Ticks begin, Ticks end) {
    // The times that a reader will compute go on from each other: what rounding adds now is taken off next time.
    const auto begin_ns = static_cast<std::int64_t>(clock.ns(begin) - zero_ns_);
    const auto end_ns = static_cast<std::int64_t>(clock.ns(end) - zero_ns_);
    const std::uint16_t gap = time_code(time_between(thread.end_ns, begin_ns));
    const std::uint64_t begun_ns = thread.end_ns + time_of(gap);
    const std::uint16_t duration = time_code(time_between(begun_ns, end_ns));
    thread.end_ns = begun_ns + time_of(duration);
    order_.push_back(operations_.number(event_));
    gaps_.push_back(gap);
    durations_.push_back(duration);
    if (is_multiple_) {
        const std::uint64_t number = events_.load(std::memory_order_relaxed);
        overtakers_.push_back(static_cast<std::uint32_t>(number - std::min(number, thread.begun)));
        events_.store(number + 1, std::memory_order_release);
    }
    if (order_.size() == EVENTS_PER_BLOCK || clock.ns(end) > flushed_ns_ + FLUSH_NS) flush();
}

void Recorder::count(int call, Ticks begin, Ticks end) {
    Function& function = functions[call];
    function.calls++;
    function.ns += clock.ns(end) - clock.ns(begin);
}

void Recorder::gather() {
    std::string definitions = types.definitions + communicators.definitions + window_definitions;
    if (!definitions.empty()) file_.add(Block::DEFINITIONS, definitions.data(), definitions.size());
    types.definitions.clear();
    communicators.definitions.clear();
    window_definitions.clear();
    if (!sites.definitions.empty()) file_.add(Block::SITES, sites.definitions.data(), sites.definitions.size());
    sites.definitions.clear();
    const std::vector<Operation>& fresh = operations_.fresh();
    if (!fresh.empty()) {
        const Lists& lists = operations_.fresh_lists();
        const std::uint32_t lengths[4] = {
            static_cast<std::uint32_t>(fresh.size()), static_cast<std::uint32_t>(lists.asked.size()),
            static_cast<std::uint32_t>(lists.ended.size()), static_cast<std::uint32_t>(lists.blocks.size())};
        std::vector<char> bytes;
        const auto append = [&bytes](const void* data, std::size_t size) {
            bytes.insert(bytes.end(), static_cast<const char*>(data), static_cast<const char*>(data) + size);
        };
        append(lengths, sizeof lengths);
        append(fresh.data(), fresh.size() * sizeof(Operation));
        append(lists.ended.data(), lists.ended.size() * sizeof(Ended));
        append(lists.blocks.data(), lists.blocks.size() * 8);
        append(lists.asked.data(), lists.asked.size() * 4);
        file_.add(Block::OPERATIONS, bytes.data(), bytes.size());
        operations_.written();
    }
    if (!order_.empty()) {
        file_.add(Block::ORDER, order_.data(), order_.size() * sizeof order_[0]);
        if (is_multiple_) file_.add(Block::OVERTAKERS, overtakers_.data(), overtakers_.size() * sizeof overtakers_[0]);
        file_.add(Block::GAPS, gaps_.data(), gaps_.size() * sizeof gaps_[0]);
        file_.add(Block::DURATIONS, durations_.data(), durations_.size() * sizeof durations_[0]);
    }
    order_.clear();
    gaps_.clear();
    durations_.clear();
    overtakers_.clear();
}

void Recorder::flush() {
    gather();
    if (!file_.flush()) {
        is_recording = false;
        std::fprintf(stderr, "tradewind record: rank %d is recorded no further, the program goes on: %s\n",
                     communicators.world().rank, std::strerror(errno));
        end_full();
        return;
    }
    clock.adjust();
    flushed_ns_ = Clock::system_ns();
}

std::string Recorder::end_text(const char* ending) const {
    std::string text = std::string("{\"ending\":") + json(ending) + ",\"end_sync_ns\":" + std::to_string(end_sync_ns_) +
                       ",\"end_ns\":" + std::to_string(Clock::system_ns() - zero_ns_) + ",\"counted\":{";
    bool is_first = true;
    for (int n = 0; n < function_count; n++) {
        const auto add = [&](const std::string& name, std::uint64_t calls, std::uint64_t ns) {
            if (calls == 0) return;
            text += (is_first ? "" : ",") + json(name) + ":[" + std::to_string(calls) + "," + std::to_string(ns) + "]";
            is_first = false;
        };
        add(function_names[n], functions[n].calls, functions[n].ns);
        add(std::string(function_names[n]) + " (failed)", functions[n].failures, 0);
    }
    return text + "}}";
}

/// Writes that the disk is full: what a failed write has freed has room for that, else the last blocks have. Where even
/// that cannot be, the file ends as that of a killed program.
void Recorder::end_full() {
    const std::string text = end_text("full");
    file_.add(Block::END, text.data(), text.size());
    if (!file_.flush()) {
        file_.add(Block::END, text.data(), text.size());
        (void)!file_.replace_last();
    }
    file_.close();
}

void Recorder::end(const char* ending) {
    if (getpid() != process_) return;  // a copy of the process by fork has the file open, too
    if (is_synchronized_ && std::strcmp(ending, "finalized") == 0) end_sync_ns_ = synchronize();
    is_synchronized_ = false;
    const Lock lock(*this);  // threads that are within a call have it whole in the file, or not at all
    if (!is_recording) return;
    is_recording = false;
    gather();
    const std::string text = end_text(ending);
    file_.add(Block::END, text.data(), text.size());
    if (!file_.flush()) return end_full();
    file_.close();
}

namespace {

/// A program that ends without MPI_Finalize, or by one that no wrapper sees.
__attribute__((destructor)) void end_of_process() {
    recorder.end("exited");
}

}  // namespace
}  // namespace tradewind::recorder
