#include "mpi/device/copier.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <unordered_map>

#include "mpi/device/kernels.hpp"
#include "mpi/device/nccl.hpp"
#include "mpi/device/trial.hpp"
#include "mpi/error.hpp"

namespace tradewind::mpi {

namespace {

constexpr unsigned own_order = 1;  // of a stream: not ordered with the default one
constexpr unsigned no_timing = 2;  // of an event

// The context of a device on this thread, as long as it lives; then the one that was there before.
class Current {
  public:
    enum class Check { yes, no };  // no: at the end of the process, when the driver may be gone
    Current(const Driver& driver, Context context, Check check = Check::yes) : driver_(driver) {
        const int code = driver.push_context(context);
        if (check == Check::yes) driver.check(code, "using a device");
    }
    ~Current() {
        Context left = nullptr;
        driver_.pop_context(&left);
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

  private:
    const Driver& driver_;
};

// Rows of the table that the kernels read, of one copy. Several, one after another, where a copy adds
// several times to one element.
struct Kept {
    std::size_t first = 0, rows = 1;
};

// The largest word of which both ends of a copy, and all distances in it, are multiples.
std::int32_t word_of(const StridedCopy& c) {
    const auto number = [](const void* address) {
        return static_cast<Index>(reinterpret_cast<std::uintptr_t>(address));
    };
    Index common = std::gcd(c.run, std::gcd(number(c.from), number(c.to)));
    for (std::size_t a = 0; a < 3; ++a)
        if (c.count[a] > 1) common = std::gcd(common, std::gcd(c.from_stride[a], c.to_stride[a]));
    if (c.places > 1) common = std::gcd(common, std::gcd(c.from_places.step, c.to_places.step));
    return common % 16 == 0 ? 16 : common % 8 == 0 ? 8 : 4;
}

// The elements of a copy that adds, in the order in which the host adds them.
struct Addition {
    Index from, to;  // bytes
};
std::vector<Addition> additions(const StridedCopy& c) {
    const Index size = bytes_of(c.element);
    std::vector<Addition> all;
    all.reserve(static_cast<std::size_t>(c.bytes() / size));
    for (Index k = 0; k < c.count[2]; ++k)
        for (Index j = 0; j < c.count[1]; ++j)
            for (Index i = 0; i < c.count[0]; ++i)
                for (Index p = 0; p < c.places; ++p) {
                    const Index from = k * c.from_stride[2] + j * c.from_stride[1] + i * c.from_stride[0];
                    const Index to = k * c.to_stride[2] + j * c.to_stride[1] + i * c.to_stride[0];
                    for (Index e = 0; e < c.run; e += size)
                        all.push_back({from + c.from_places.of(p) + e, to + c.to_places.of(p) + e});
                }
    return all;
}

// The same in rounds in none of which two go to one element, and each element's come in their order. Empty: one round
// does, so that the copy can stay as it is.
std::vector<std::vector<Addition>> rounds_of(const StridedCopy& c) {
    std::vector<std::vector<Addition>> rounds;
    if (!c.adds || c.places == 1) return rounds;
    std::unordered_map<Index, std::size_t> times;
    for (const Addition& a : additions(c)) {
        const std::size_t round = times[a.to]++;
        if (round == rounds.size()) rounds.emplace_back();
        rounds[round].push_back(a);
    }
    if (rounds.size() == 1) rounds.clear();
    return rounds;
}

// The memory of other processes that this one has opened: once each, as drivers want it, for all plans.
class OpenedMemories {
  public:
    std::byte* open(const Driver& driver, const std::array<Index, 8>& numbers) {
        const std::lock_guard<std::mutex> lock(mutex_);
        Opened& opened = all_[numbers];
        if (opened.users == 0) {
            constexpr unsigned lazily = 1;  // peers' access, also to another device
            driver.check(driver.open(&opened.memory, std::bit_cast<MemoryHandle>(numbers), lazily),
                         "opening memory of another process; transport isend-irecv does without");
        }
        ++opened.users;
        return opened.memory;
    }
    void close(const Driver& driver, std::byte* memory) {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found =
            std::find_if(all_.begin(), all_.end(), [&](const auto& o) { return o.second.memory == memory; });
        if (found == all_.end() || --found->second.users > 0) return;
        driver.close(memory);
        all_.erase(found);
    }

  private:
    struct Opened {
        std::byte* memory = nullptr;
        std::size_t users = 0;
    };
    std::mutex mutex_;
    std::map<std::array<Index, 8>, Opened> all_;
};
OpenedMemories& opened_memories() {
    static auto& all = *new OpenedMemories;  // plans may outlast other static objects
    return all;
}

class DeviceCopier : public Copier {
  public:
    DeviceCopier(const Driver& driver, int device, Stream caller)
        : driver_(driver), device_(device), context_(retained()), caller_(caller) {
        const Current current(driver_, context_);
        kernels_ = &Kernels::of(driver_, device_);
        for (Stream* const stream : {&work_, &out_, &in_})
            check(driver_.create_stream(stream, own_order), "making a stream");
        for (Event* const event : {&entered_, &left_, &packed_, &arrived_})
            check(driver_.create_event(event, no_timing), "making an event");
    }
    // The driver may be gone by now, at the end of the process: nothing is checked.
    ~DeviceCopier() override {
        wait_at_the_end();
        const Current current(driver_, context_, Current::Check::no);
        for (std::byte* const memory : kept_memory_) driver_.release(memory);
        for (const Event event : {entered_, left_, packed_, arrived_}) driver_.destroy_event(event);
        for (const Stream stream : {work_, out_, in_}) driver_.destroy_stream(stream);
        for (const Stream stream : lanes_) driver_.destroy_stream(stream);
        if (messages_) driver_.destroy_stream(messages_);
        if (over_) driver_.destroy_event(over_);
    }

    std::string memory() const override { return std::string(driver_.name()) + " " + std::to_string(device_); }
    std::byte* allocate(Index bytes) override {
        const Current current(driver_, context_);
        std::byte* memory = nullptr;
        check(driver_.allocate(&memory, static_cast<std::size_t>(bytes)), "allocating memory");
        return memory;
    }
    void release(std::byte* memory) override {
        const Current current(driver_, context_, Current::Check::no);
        driver_.release(memory);
    }
    std::byte* allocate_pinned(Index bytes) override {
        const Current current(driver_, context_);
        void* memory = nullptr;
        check(driver_.allocate_pinned(&memory, static_cast<std::size_t>(bytes), 0), "allocating pinned memory");
        return static_cast<std::byte*>(memory);
    }
    void release_pinned(std::byte* memory) override {
        const Current current(driver_, context_, Current::Check::no);
        driver_.release_pinned(memory);
    }
    bool pin(std::byte* memory, Index bytes) override {
        const Current current(driver_, context_);
        return driver_.pin(memory, static_cast<std::size_t>(bytes), 0) == 0;
    }
    void unpin(std::byte* memory) override {
        const Current current(driver_, context_, Current::Check::no);
        driver_.unpin(memory);
    }

    void compile(StridedCopy* copies, std::size_t count) override {
        const Current current(driver_, context_);
        std::vector<DeviceCopy> rows;
        for (std::size_t i = 0; i < count; ++i) {
            Kept& kept = kept_.emplace_back(Kept{rows_.size() + rows.size(), 1});
            append_rows(copies[i], rows);
            kept.rows = rows_.size() + rows.size() - kept.first;
            copies[i].kept = &kept;
        }
        const DeviceCopy* const table = upload(rows);
        for (std::size_t i = 0; i < rows.size(); ++i)
            rows_.push_back({table + i, rows[i].first_block, blocks_of(rows[i])});
    }
    std::size_t compile(const tradewind::mpi::Groups& groups) override {
        const Current current(driver_, context_);
        const auto list = [this](const std::vector<Index>& values) { return upload(values); };
        groups_.push_back({{nullptr,
                            nullptr,
                            list(groups.from.begins),
                            list(groups.from.places),
                            list(groups.to.begins),
                            list(groups.to.places),
                            static_cast<Index>(groups.from.begins.size()) - 1,
                            groups.levels[0],
                            {groups.from.level[0], groups.from.level[1]},
                            {groups.to.level[0], groups.to.level[1]}},
                           groups.levels[0] * groups.levels[1]});
        return groups_.size() - 1;
    }

    // Copies that do not depend on each other are one launch.
    void copy(const StridedCopy* copies, std::size_t count) override {
        const Current current(driver_, context_);
        for (std::size_t first = 0; first < count;) {
            std::size_t last = first + 1;
            while (last < count && !copies[last].waits && !copies[last].adds && !copies[first].adds) ++last;
            const Kept &begin = kept_of(copies[first]), &end = kept_of(copies[last - 1]);
            if (copies[first].adds)
                for (std::size_t row = 0; row < begin.rows; ++row) launch(begin.first + row, 1);
            else
                launch(begin.first, end.first + end.rows - begin.first);
            first = last;
        }
        begun_ = true;
    }
    // One message, or part of it, is copied while the next is gathered.
    void to_host(std::byte* host, const std::byte* device, Index bytes) override {
        const Current current(driver_, context_);
        check(driver_.record(packed_, work_), "recording an event");
        check(driver_.stream_waits(out_, packed_, 0), "ordering streams");
        check(driver_.to_host(host, device, static_cast<std::size_t>(bytes), out_), "copying to the host");
        begun_ = true;
    }
    void from_host(std::byte* device, const std::byte* host, Index bytes) override {
        const Current current(driver_, context_);
        check(driver_.to_device(device, host, static_cast<std::size_t>(bytes), in_), "copying from the host");
        check(driver_.record(arrived_, in_), "recording an event");
        check(driver_.stream_waits(work_, arrived_, 0), "ordering streams");
        begun_ = true;
    }
    void clear(std::byte* memory, Index bytes) override {
        const Current current(driver_, context_);
        check(driver_.fill(memory, 0, static_cast<std::size_t>(bytes), work_), "clearing memory");
        begun_ = true;
    }
    void combine(Element element, Operation operation, std::byte* into, const std::byte* left, const std::byte* right,
                 Index count) override {
        const Current current(driver_, context_);
        kernels_->combine(work_, element, operation, into, left, right, count);
        begun_ = true;
    }
    void combine(Element element, Operation operation, std::size_t groups, const std::byte* from,
                 std::byte* to) override {
        const Current current(driver_, context_);
        DeviceGroups given = groups_[groups].first;
        given.from = from;
        given.to = to;
        kernels_->combine(work_, element, operation, given, groups_[groups].second);
        begun_ = true;
    }

    void enter() override {
        const Current current(driver_, context_);
        check(driver_.record(entered_, caller_), "recording an event in the caller's stream");
        check(driver_.stream_waits(work_, entered_, 0), "ordering streams");
    }
    void leave() override {
        const Current current(driver_, context_);
        check(driver_.record(left_, work_), "recording an event");
        check(driver_.stream_waits(caller_, left_, 0), "ordering the caller's stream");
    }
    void finish() override {
        if (!begun_) return;
        const Current current(driver_, context_);
        check(driver_.wait_for_stream(out_), "waiting for copies to the host");
        check(driver_.wait_for_stream(work_), "waiting for copies");
        begun_ = false;
    }
    void wait_at_the_end() noexcept override {
        const Current current(driver_, context_, Current::Check::no);
        for (const Stream stream : {work_, out_, in_}) driver_.wait_for_stream(stream);
    }
    // A small allocation may share a larger one with others, whose handle it has.
    std::pair<std::array<Index, 8>, Index> share(std::byte* memory) override {
        const Current current(driver_, context_);
        std::byte* begin = nullptr;
        std::size_t bytes = 0;
        check(driver_.address_range(&begin, &bytes, memory), "finding an allocation");
        MemoryHandle handle;
        check(driver_.share(&handle, begin), "sharing memory of a device with other processes");
        const auto numbers = std::bit_cast<std::array<Index, 8>>(handle);
        shared_[numbers] = begin;
        return {numbers, memory - begin};
    }
    std::byte* open(const std::array<Index, 8>& numbers) override {
        const Current current(driver_, context_);
        return opened_memories().open(driver_, numbers);
    }
    std::byte* own(const std::array<Index, 8>& numbers) const override { return shared_.at(numbers); }
    void close(std::byte* memory) override {
        const Current current(driver_, context_, Current::Check::no);
        opened_memories().close(driver_, memory);
    }
    void push(std::size_t lane, std::byte* to, const std::byte* from, Index bytes) override {
        const Current current(driver_, context_);
        while (lanes_.size() <= lane)
            check(driver_.create_stream(&lanes_.emplace_back(), own_order), "making a stream");
        check(driver_.record(packed_, work_), "recording an event");
        check(driver_.stream_waits(lanes_[lane], packed_, 0), "ordering streams");
        check(driver_.within(to, from, static_cast<std::size_t>(bytes), lanes_[lane]), "pushing to another process");
    }
    void finish_push(std::size_t lane) override {
        const Current current(driver_, context_);
        check(driver_.wait_for_stream(lanes_[lane]), "waiting for a push");
    }
    const Nccl& nccl() const override { return Nccl::of(driver_.kind()); }
    void on_device(const std::function<void()>& calls) const override {
        const Current current(driver_, context_);
        calls();
    }
    void* begin_messages() override {
        const Current current(driver_, context_);
        if (!messages_) check(driver_.create_stream(&messages_, own_order), "making a stream");
        if (!over_) check(driver_.create_event(&over_, no_timing), "making an event");
        check(driver_.record(packed_, work_), "recording an event");
        check(driver_.stream_waits(messages_, packed_, 0), "ordering the stream of messages");
        return messages_;
    }
    void end_messages() override {
        const Current current(driver_, context_);
        check(driver_.record(over_, messages_), "recording the end of messages");
        begun_ = true;
    }
    void await_messages() override {
        const Current current(driver_, context_);
        check(driver_.stream_waits(work_, over_, 0), "ordering copies after messages");
    }
    bool messages_over() const override {
        const Current current(driver_, context_);
        const int code = driver_.query(over_);
        if (code != not_ready) check(code, "looking for messages");
        return code != not_ready;
    }
    std::pair<bool, std::string> mpi_takes() const override {
        const DeviceMpi& found = device_mpi(driver_.kind(), device_);
        return {found.takes, found.reason};
    }
    void set_stream(std::uintptr_t stream) override { caller_ = reinterpret_cast<Stream>(stream); }
    std::uintptr_t stream() const override { return reinterpret_cast<std::uintptr_t>(caller_); }

  private:
    // A row of the table: where it is on the device, and its blocks.
    struct Row {
        const DeviceCopy* place;
        Index first_block, blocks;
    };

    void check(int code, const char* what) const { driver_.check(code, what); }
    Context retained() const {
        int devices = 0;
        check(driver_.device_count(&devices), "counting devices");
        if (device_ < 0 || device_ >= devices)
            throw InputError("device " + std::to_string(device_) + " of " + driver_.name() + ": this process has 0.." +
                             std::to_string(devices - 1));
        Context context = nullptr;
        check(driver_.retain_context(&context, device_), "using a device");
        return context;
    }

    // Values in the device's memory, which stay there as long as the copier.
    template <typename Value>
    const Value* upload(const std::vector<Value>& values) {
        if (values.empty()) return nullptr;
        std::byte* memory = nullptr;
        const std::size_t bytes = values.size() * sizeof(Value);
        check(driver_.allocate(&memory, bytes), "allocating memory");
        kept_memory_.push_back(memory);
        check(driver_.to_device(memory, values.data(), bytes, work_), "copying from the host");
        check(driver_.wait_for_stream(work_), "waiting for copies");
        return reinterpret_cast<const Value*>(memory);
    }
    // Lists of places are those of all fields alike.
    const Index* upload_steps(const Places& places, Index count) {
        if (!places.steps) return nullptr;
        const Index*& known = lists_[{places.steps, count}];
        if (!known) known = upload(std::vector<Index>(places.steps, places.steps + count));
        return known;
    }

    static Index blocks_of(const DeviceCopy& row) {
        return (row.all_words() + Kernels::words_per_block - 1) / Kernels::words_per_block;
    }
    void append_row(DeviceCopy row, std::vector<DeviceCopy>& rows) const {
        row.first_block = rows.empty() ? 0 : rows.back().first_block + blocks_of(rows.back());
        rows.push_back(row);
    }
    void append_rows(const StridedCopy& c, std::vector<DeviceCopy>& rows) {
        const std::int32_t word = c.adds ? static_cast<std::int32_t>(bytes_of(c.element)) : word_of(c);
        const std::int32_t element = c.adds ? static_cast<std::int32_t>(c.element) : -1;
        const std::vector<std::vector<Addition>> rounds = rounds_of(c);
        for (const std::vector<Addition>& round : rounds) {
            std::vector<Index> from, to;
            for (const Addition& a : round) from.push_back(a.from), to.push_back(a.to);
            append_row({c.from,
                        c.to,
                        upload(from),
                        upload(to),
                        1,
                        {1, 1, 1},
                        {},
                        {},
                        1,
                        1,
                        static_cast<Index>(round.size()),
                        0,
                        word,
                        element},
                       rows);
        }
        if (!rounds.empty()) return;
        append_row({c.from,
                    c.to,
                    upload_steps(c.from_places, c.places),
                    upload_steps(c.to_places, c.places),
                    c.run / word,
                    {c.count[0], c.count[1], c.count[2]},
                    {c.from_stride[0], c.from_stride[1], c.from_stride[2]},
                    {c.to_stride[0], c.to_stride[1], c.to_stride[2]},
                    c.from_places.step,
                    c.to_places.step,
                    c.places,
                    0,
                    word,
                    element},
                   rows);
    }

    static const Kept& kept_of(const StridedCopy& copy) { return *static_cast<const Kept*>(copy.kept); }
    void launch(std::size_t first, std::size_t count) const {
        const Row &begin = rows_[first], &end = rows_[first + count - 1];
        kernels_->copy(work_, begin.place, static_cast<int>(count), begin.first_block,
                       end.first_block + end.blocks - begin.first_block);
    }

    const Driver& driver_;
    const int device_;
    const Context context_;
    Stream caller_;
    Kernels* kernels_ = nullptr;
    Stream work_ = nullptr, out_ = nullptr, in_ = nullptr;  // kernels; copies to the host; copies from it
    Event entered_ = nullptr, left_ = nullptr, packed_ = nullptr, arrived_ = nullptr;
    std::vector<Stream> lanes_;                          // of pushes, by target
    Stream messages_ = nullptr;                          // of NCCL
    Event over_ = nullptr;                               // of all in it
    std::map<std::array<Index, 8>, std::byte*> shared_;  // memory of this process
    std::deque<Kept> kept_;
    std::vector<Row> rows_;
    std::vector<std::pair<DeviceGroups, Index>> groups_;  // and their levels
    std::map<std::pair<const Index*, Index>, const Index*> lists_;
    std::vector<std::byte*> kept_memory_;
    bool begun_ = false;
};

}  // namespace

std::shared_ptr<Copier> make_device_copier(DriverKind kind, int device, std::optional<std::uintptr_t> stream) {
    const Driver& driver = Driver::of(kind);
    return std::make_shared<DeviceCopier>(driver, device,
                                          stream ? reinterpret_cast<Stream>(*stream) : driver.default_stream());
}

}  // namespace tradewind::mpi
