// Puts, each followed by a flag that the target looks for. Only the two ranks of a message wait: the receiver notifies
// the sender when its memory may be written; the sender writes it, waits until that is done there, and raises the flag.
#include <algorithm>
#include <atomic>

#include "mpi/error.hpp"
#include "mpi/transport/one_sided.hpp"

namespace tradewind::mpi {

namespace {

using Flag = std::uint64_t;  // the number of the call that it speaks of

class Notify : public Carrier {
  public:
    Notify(const Work& work, Window& data)
        : work_(work), data_(data), accesses_(work, data, true), flags_(work.communicator, room(work)) {
        number();
        const Notes arrived = exchange_notes(work, false, [&](int s, std::size_t i) { return flag(received_, s, i); });
        const Notes ready = exchange_notes(work, true, [&](int s, std::size_t i) { return flag(sent_, s, i); });
        read(arrived, arrived_there_);
        read(ready, ready_there_);
        data.lock_all();
        flags_.lock_all();
        check(MPI_Barrier(work.comm()), [&] { return text(0, "MPI_Barrier"); });
    }

    void post(int s) override {
        if (s == 0) ++call_;
        const StageProgram& stage = work_.stage(s);
        for (std::size_t i = 0; i < stage.receives.size(); ++i)
            raise(s, stage.receives[i].peer, at(ready_there_, s)[i]);
        sent_now_.assign(stage.sends.size(), false);
        left_ = stage.sends.size();
        send_ready(s);
    }
    void arrive(int s) override {
        const std::size_t receives = work_.stage(s).receives.size();
        Deadline deadline(work_.request.watchdog_s);
        for (std::size_t i = 0; i < receives;) {
            if (is_raised(at(received_, s)[i])) {
                ++i;
            } else {
                send_ready(s);
                progress(s, deadline, i);
            }
        }
    }
    bool pokes() const override { return true; }
    bool test(int s) override {
        send_ready(s);
        call_mpi(s);
        const std::vector<Index>& flags = at(received_, s);
        return left_ == 0 && std::all_of(flags.begin(), flags.end(), [this](Index place) { return is_raised(place); });
    }
    void leave(int s) override {
        Deadline deadline(work_.request.watchdog_s);
        while (left_ > 0) {
            send_ready(s);
            if (left_ > 0) progress(s, deadline, work_.stage(s).receives.size());
        }
    }
    Index messages() const override { return accesses_.count(); }

  private:
    using Places = std::vector<std::vector<Index>>;  // of flags in a window, by stage and end

    static const std::vector<Index>& at(const Places& places, int s) { return places[static_cast<std::size_t>(s)]; }
    std::string text(int s, const std::string& what) const { return work_.where(s) + ": " + what; }

    // --- when the plan is made ---

    static Index room(const Work& work) {
        std::size_t flags = 0;
        for (const StageProgram& stage : work.program.stages) flags += stage.sends.size() + stage.receives.size();
        return static_cast<Index>(flags * sizeof(Flag));
    }
    // This rank's flags: of each receive, that it has arrived, and of each send, that the target is ready.
    void number() {
        Index next = 0;
        for (const StageProgram& stage : work_.program.stages) {
            for (auto [places, ends] : {std::pair{&received_, &stage.receives}, std::pair{&sent_, &stage.sends}}) {
                auto& of_stage = places->emplace_back();
                for (std::size_t i = 0; i < ends->size(); ++i, next += sizeof(Flag)) of_stage.push_back(next);
            }
        }
    }
    static std::vector<Block> flag(const Places& places, int s, std::size_t i) {
        return {buffer_block(reinterpret_cast<std::byte*>(at(places, s)[i]), sizeof(Flag))};
    }
    static void read(const Notes& notes, Places& places) {
        for (const auto& stage : notes) {
            auto& of_stage = places.emplace_back();
            for (const auto& blocks : stage)
                of_stage.push_back(static_cast<Index>(reinterpret_cast<std::intptr_t>(blocks[0].data)));
        }
    }

    // --- when it is called ---

    bool is_raised(Index place) const {
        Flag& flag = *reinterpret_cast<Flag*>(flags_.data() + place);
        return std::atomic_ref<Flag>(flag).load(std::memory_order_acquire) >= call_;
    }
    // Puts are not ordered, hence the flush before the flag; a flag is written whole by an accumulate only.
    void raise(int s, int peer, Index place) {
        check(MPI_Accumulate(&call_, 1, MPI_UINT64_T, peer, static_cast<MPI_Aint>(place), 1, MPI_UINT64_T, MPI_REPLACE,
                             flags_.handle()),
              [&] { return text(s, "notifying rank " + std::to_string(peer)); });
        check(MPI_Win_flush(peer, flags_.handle()), [&] { return text(s, "notifying rank " + std::to_string(peer)); });
    }
    void send_ready(int s) {
        const std::vector<End>& sends = work_.stage(s).sends;
        for (std::size_t i = 0; i < sends.size(); ++i) {
            if (sent_now_[i] || !is_raised(at(sent_, s)[i])) continue;
            const auto putting = [&] { return text(s, "putting to rank " + std::to_string(sends[i].peer)); };
            for (const Access& a : accesses_.of(s, i))
                check(MPI_Put(a.here, a.count, a.type, a.peer, a.there, a.count, a.type_there, data_.handle()),
                      putting);
            check(MPI_Win_flush(sends[i].peer, data_.handle()), putting);
            raise(s, sends[i].peer, at(arrived_there_, s)[i]);
            sent_now_[i] = true;
            --left_;
        }
    }
    // MPI may need calls to let a peer's puts through.
    void call_mpi(int s) {
        int flag = 0;
        check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, work_.comm(), &flag, MPI_STATUS_IGNORE),
              [&] { return text(s, "MPI_Iprobe"); });
        check(MPI_Win_sync(flags_.handle()), [&] { return text(s, "MPI_Win_sync"); });
    }
    // `first`: of the receives, the one that is looked for.
    void progress(int s, Deadline& deadline, std::size_t first) {
        call_mpi(s);
        if (!deadline.passed()) return;
        std::string waited_for;
        const auto add = [&](const std::string& what, int peer) {
            waited_for += (waited_for.empty() ? "" : ", ") + what + std::to_string(peer);
        };
        const StageProgram& stage = work_.stage(s);
        for (std::size_t i = first; i < stage.receives.size(); ++i)
            if (!is_raised(at(received_, s)[i])) add("the put of rank ", stage.receives[i].peer);
        for (std::size_t i = 0; i < stage.sends.size(); ++i)
            if (!sent_now_[i]) add("the readiness of rank ", stage.sends[i].peer);
        throw PlanError(timed_out(work_.where(s), work_.request.watchdog_s, waited_for));
    }

    const Work& work_;
    const Window& data_;
    Accesses accesses_;
    Window flags_;
    Places received_, sent_;              // this rank's flags
    Places arrived_there_, ready_there_;  // of each send, of each receive: the peer's
    Flag call_ = 0;
    std::vector<bool> sent_now_;
    std::size_t left_ = 0;  // sends of this stage
};

class NotifyTransport : public OneSidedTransport {
    std::unique_ptr<Carrier> carrier(const Work& work, const schedule::Schedule&, Buffers& buffers) override {
        return std::make_unique<Notify>(work, window(buffers));
    }
};

}  // namespace

std::unique_ptr<Transport> make_notify() {
    return std::make_unique<NotifyTransport>();
}

}  // namespace tradewind::mpi
