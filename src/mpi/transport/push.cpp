// Ranks of a node write messages of a device into each other's memory there. The receiver notifies the sender when its
// memory may be written, the sender the receiver when it is; messages between nodes are non-blocking MPI messages. Each
// target has a stream of its own, and rank r begins with its neighbour r + 1: so all links between devices are in use
// at once, each by one message (ESCAPE D3.4, 3.1.3.2, where all-to-alls of 4 GPUs are made so).
#include <algorithm>

#include "mpi/carrier.hpp"
#include "mpi/error.hpp"
#include "mpi/node.hpp"
#include "mpi/notes.hpp"
#include "mpi/transport/transfers.hpp"

namespace tradewind::mpi {

namespace {

// Tags of messages are below 16384 (see mpi/program.cpp); a pair of ranks has few of them in a stage.
constexpr int first_ready = 8192;

// A message to a rank of the node.
struct Push {
    std::size_t end = 0, lane = 0;
    std::byte *from = nullptr, *to = nullptr;
};

class Pushes : public Carrier {
  public:
    Pushes(const Work& work, std::shared_ptr<const Node> node)
        : work_(work), node_(std::move(node)), device_(*work.program.copier), at_once_(work.request.pushes_at_once) {
        const Notes notes = exchange_notes(work, false, [&](int s, std::size_t i) { return described(s, i); });
        std::vector<int> lanes;  // peers
        for (int s = 0; s < work.stages(); ++s) add_stage(s, notes[static_cast<std::size_t>(s)], lanes);
        std::size_t most = 0;
        for (const Stage& stage : stages_) most = std::max(most, stage.requests());
        requests_.assign(most, MPI_REQUEST_NULL);
        statuses_.resize(most);
    }
    ~Pushes() override {
        for (std::byte* const memory : opened_) device_.close(memory);
    }

    void post(int s) override {
        const Stage& stage = of(s);
        const auto text = [&] { return work_.where(s) + ": posting"; };
        MPI_Request* request = requests_.data();
        for (const std::size_t i : stage.arriving) {
            const End& end = work_.stage(s).receives[i];
            check(MPI_Irecv(nullptr, 0, MPI_BYTE, end.peer, end.tag, work_.comm(), request++), text);
        }
        for (const Transfer& t : stage.received)
            check(MPI_Irecv(t.data, t.count, t.type, t.peer, t.tag, work_.comm(), request++), text);
        ready_ = request;
        for (const Push& push : stage.pushes) {
            const End& end = work_.stage(s).sends[push.end];
            check(MPI_Irecv(nullptr, 0, MPI_BYTE, end.peer, first_ready + end.tag, work_.comm(), request++), text);
        }
        for (const std::size_t i : stage.arriving) {
            const End& end = work_.stage(s).receives[i];
            check(MPI_Isend(nullptr, 0, MPI_BYTE, end.peer, first_ready + end.tag, work_.comm(), request++), text);
        }
        const auto send = work_.request.synchronous ? MPI_Issend : MPI_Isend;
        for (const Transfer& t : stage.sent)
            check(send(t.data, t.count, t.type, t.peer, t.tag, work_.comm(), request++), text);
        next_ = request;
    }
    void arrive(int s) override {
        const Stage& stage = of(s);
        for (std::size_t i = 0; i < stage.pushes.size(); ++i) {
            const Push& push = stage.pushes[i];
            const End& end = work_.stage(s).sends[push.end];
            wait(s, ready_ + i, 1, [&](int) { return "rank " + std::to_string(end.peer) + " to be ready for a push"; });
            device_.push(push.lane, push.to, push.from, end.bytes);
            if (!at_once_) finish(s, push);
        }
        if (at_once_)
            for (const Push& push : stage.pushes) finish(s, push);
        wait(s, requests_.data(), static_cast<int>(next_ - requests_.data()), [&](int i) { return waited_for(s, i); });
        for (std::size_t i = 0; i < stage.received.size(); ++i)
            check_length(statuses_[stage.arriving.size() + i], stage.received[i], [&] { return work_.where(s); });
    }
    Index messages() const override {
        Index count = 0;
        for (const StageProgram& stage : work_.program.stages) count += static_cast<Index>(stage.sends.size());
        return count;
    }

  private:
    struct Stage {
        std::vector<Push> pushes;              // in their order
        std::vector<std::size_t> arriving;     // receives from ranks of the node
        std::vector<Transfer> received, sent;  // between nodes
        std::size_t requests() const { return 2 * (pushes.size() + arriving.size()) + received.size() + sent.size(); }
    };
    const Stage& of(int stage) const { return stages_[static_cast<std::size_t>(stage)]; }

    // --- when the plan is made ---

    // The handle of the memory that a receive arrives in, which is as long as the numbers of a block, and its place
    // there.
    std::vector<Block> described(int s, std::size_t i) const {
        const End& end = work_.stage(s).receives[i];
        if (!node_->has(end.peer)) return {};
        const auto [numbers, offset] = device_.share(end.mirror);
        Block handle;
        handle.data = reinterpret_cast<std::byte*>(numbers[0]);
        handle.run = numbers[1];
        std::copy_n(numbers.begin() + 2, 3, handle.shape.begin());
        std::copy_n(numbers.begin() + 5, 3, handle.stride.begin());
        return {handle, buffer_block(reinterpret_cast<std::byte*>(offset), end.bytes)};
    }
    std::byte* opened(const End& end, const std::vector<Block>& note) {
        std::array<Index, 8> numbers{reinterpret_cast<std::intptr_t>(note[0].data), note[0].run};
        std::copy_n(note[0].shape.begin(), 3, numbers.begin() + 2);
        std::copy_n(note[0].stride.begin(), 3, numbers.begin() + 5);
        const auto offset = static_cast<Index>(reinterpret_cast<std::intptr_t>(note[1].data));
        if (end.peer == work_.communicator.rank()) return device_.own(numbers) + offset;
        std::byte* const memory = device_.open(numbers);
        opened_.push_back(memory);
        return memory + offset;
    }
    void add_stage(int s, const std::vector<std::vector<Block>>& notes, std::vector<int>& lanes) {
        Stage stage;
        const StageProgram& program = work_.stage(s);
        const auto between = [&](const End& end, std::vector<Transfer>& all) {
            for (const Transfer& part : in_parts(end, work_.request.largest_message)) all.push_back(part);
        };
        for (std::size_t i = 0; i < program.receives.size(); ++i)
            if (node_->has(program.receives[i].peer))
                stage.arriving.push_back(i);
            else
                between(program.receives[i], stage.received);
        for (std::size_t i = 0; i < program.sends.size(); ++i) {
            const End& end = program.sends[i];
            if (!node_->has(end.peer)) {
                between(end, stage.sent);
                continue;
            }
            if (end.tag >= first_ready)
                throw PlanError(work_.where(s) + ": more messages between two ranks of a node than " +
                                std::to_string(first_ready) + " on devices");
            const auto lane = std::find(lanes.begin(), lanes.end(), end.peer);
            const auto number = static_cast<std::size_t>(lane - lanes.begin());
            if (lane == lanes.end()) lanes.push_back(end.peer);
            stage.pushes.push_back({i, number, end.mirror, opened(end, notes[i])});
        }
        const int rank = work_.communicator.rank(), ranks = work_.communicator.ranks();
        std::stable_sort(stage.pushes.begin(), stage.pushes.end(), [&](const Push& a, const Push& b) {
            const auto steps = [&](const Push& p) {
                return (program.sends[p.end].peer - rank - 1 + 2 * ranks) % ranks;
            };
            return steps(a) < steps(b);
        });
        stages_.push_back(std::move(stage));
    }

    // --- when it is called ---

    template <typename Name>
    void wait(int s, MPI_Request* first, int count, Name name) {
        wait_all(
            count, first, &statuses_[static_cast<std::size_t>(first - requests_.data())], work_.request.watchdog_s,
            [&] { return work_.where(s); }, name);
    }
    // The receiver may read what has been pushed.
    void finish(int s, const Push& push) {
        const End& end = work_.stage(s).sends[push.end];
        device_.finish_push(push.lane);
        check(MPI_Isend(nullptr, 0, MPI_BYTE, end.peer, end.tag, work_.comm(), next_++),
              [&] { return work_.where(s) + ": notifying rank " + std::to_string(end.peer); });
    }
    std::string waited_for(int s, int request) const {
        const Stage& stage = of(s);
        auto i = static_cast<std::size_t>(request);
        if (i < stage.arriving.size())
            return "the push of rank " + std::to_string(work_.stage(s).receives[stage.arriving[i]].peer);
        i -= stage.arriving.size();
        if (i < stage.received.size()) return to_text(false, stage.received[i]);
        return "a notice to another rank, or a message between nodes";
    }

    const Work& work_;
    const std::shared_ptr<const Node> node_;
    Copier& device_;
    const bool at_once_;
    std::vector<Stage> stages_;
    std::vector<std::byte*> opened_;
    std::vector<MPI_Request> requests_;
    std::vector<MPI_Status> statuses_;
    MPI_Request *ready_ = nullptr, *next_ = nullptr;
};

}  // namespace

std::unique_ptr<Carrier> make_pushes(const Work& work, std::shared_ptr<const Node> node) {
    return std::make_unique<Pushes>(work, std::move(node));
}

}  // namespace tradewind::mpi
