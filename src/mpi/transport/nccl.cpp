// Messages from device to device by NCCL or RCCL: those of a stage are one group of calls in a stream of their own. The
// host waits for none of them: the plan's copies are ordered before and after them on the device.
#include <algorithm>

#include "mpi/carrier.hpp"
#include "mpi/device/nccl_connection.hpp"
#include "mpi/error.hpp"

namespace tradewind::mpi {

namespace {

// In the order of each pair of ranks, by which NCCL matches sends with receives. Empty messages are left out.
std::vector<const End*> ordered(const std::vector<End>& ends) {
    std::vector<const End*> all;
    for (const End& end : ends)
        if (end.bytes > 0) all.push_back(&end);
    std::sort(all.begin(), all.end(),
              [](const End* a, const End* b) { return std::pair(a->peer, a->tag) < std::pair(b->peer, b->tag); });
    return all;
}

class NcclMessages : public Carrier {
  public:
    explicit NcclMessages(const Work& work)
        : work_(work),
          device_(*work.program.copier),
          connection_(connected(work.communicator, device_, work.request.watchdog_s)) {
        for (const StageProgram& stage : work.program.stages)
            stages_.push_back({ordered(stage.receives), ordered(stage.sends)});
    }

    bool after_copies() const override { return true; }
    void post(int s) override {
        if (of(s).empty()) return;
        failing(s, [&] { device_.on_device([this, s] { begin(of(s)); }); });
    }
    void arrive(int s) override {
        if (of(s).empty()) return;
        if (work_.request.watchdog_s > 0) failing(s, [&] { wait(s); });
        device_.await_messages();
    }
    Index messages() const override {
        Index count = 0;
        for (const Stage& stage : stages_) count += static_cast<Index>(stage.sends.size());
        return count;
    }

  private:
    struct Stage {
        std::vector<const End*> receives, sends;
        bool empty() const { return receives.empty() && sends.empty(); }
    };
    const Stage& of(int stage) const { return stages_[static_cast<std::size_t>(stage)]; }

    // Whatever fails, all that is under way between the ranks ends.
    template <typename Step>
    void failing(int s, Step step) {
        try {
            step();
        } catch (const PlanError& error) {
            device_.on_device([this] { connection_->abort(); });
            throw PlanError(work_.where(s) + ": " + error.what());
        }
    }
    void begin(const Stage& stage) {
        const Nccl& nccl = connection_->nccl();
        NcclComm const comm = connection_->handle();
        connection_->await_ready("messages before", work_.request.watchdog_s);
        Stream const stream = device_.begin_messages();
        nccl.check(nccl.group_start(), "beginning messages", comm);
        int code = 0;
        const auto add = [&](int result) {
            if (result != 0 && result != Nccl::in_progress) code = result;
        };
        for (const End* end : stage.receives)
            add(nccl.receive(end->buffer, count(*end), Nccl::bytes, end->peer, comm, stream));
        for (const End* end : stage.sends)
            add(nccl.send(end->buffer, count(*end), Nccl::bytes, end->peer, comm, stream));
        const int end = nccl.group_end();  // also of a group that has failed
        nccl.check(code != 0 ? code : end, "beginning messages", comm);
        connection_->await_ready("beginning messages", work_.request.watchdog_s);  // they are in the stream
        device_.end_messages();
    }
    static std::size_t count(const End& end) { return static_cast<std::size_t>(end.bytes); }

    void wait(int s) {
        Deadline deadline(work_.request.watchdog_s);
        while (!device_.messages_over()) {
            connection_->ready("messages");
            if (deadline.passed()) throw PlanError(late(of(s)));
        }
        connection_->ready("messages");
    }
    std::string late(const Stage& stage) const {
        std::vector<int> peers;
        for (const auto* ends : {&stage.receives, &stage.sends})
            for (const End* end : *ends) peers.push_back(end->peer);
        std::sort(peers.begin(), peers.end());
        peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
        std::string names;
        for (std::size_t i = 0; i < std::min<std::size_t>(peers.size(), 8); ++i)
            names += (i == 0 ? "messages with rank " : ", ") + std::to_string(peers[i]);
        if (peers.size() > 8) names += " and " + std::to_string(peers.size() - 8) + " more";
        return timed_out(connection_->nccl().name(), work_.request.watchdog_s, names);
    }

    const Work& work_;
    Copier& device_;
    const std::shared_ptr<NcclConnection> connection_;
    std::vector<Stage> stages_;
};

class NcclTransport : public Transport {
  public:
    std::unique_ptr<Carrier> carrier(const Work& work, const schedule::Schedule&, Buffers&) override {
        return std::make_unique<NcclMessages>(work);
    }
};

}  // namespace

std::unique_ptr<Transport> make_nccl() {
    return std::make_unique<NcclTransport>();
}

}  // namespace tradewind::mpi
