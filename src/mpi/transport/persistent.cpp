// Requests that are made once with the plan.
#include <algorithm>
#include <utility>

#include "mpi/error.hpp"
#include "mpi/transport/transfers.hpp"

namespace tradewind::mpi {

namespace {

class Persistent : public Carrier {
  public:
    explicit Persistent(const Work& work) : work_(work), transfers_(work) {
        std::size_t maximum = 0;
        for (int s = 0; s < work.stages(); ++s) {
            stages_.push_back(make(s));
            maximum = std::max(maximum, stages_.back().requests.size());
        }
        statuses_.resize(maximum);
    }
    void post(int s) override {
        Stage& stage = of(s);
        if (stage.requests.empty()) return;  // which Open MPI calls an error
        check(MPI_Startall(static_cast<int>(stage.requests.size()), stage.requests.data()),
              [&] { return work_.where(s) + ": MPI_Startall"; });
    }
    bool pokes() const override { return true; }
    bool test(int s) override {
        Stage& stage = of(s);
        int over = 0;
        check(MPI_Testall(static_cast<int>(stage.requests.size()), stage.requests.data(), &over, statuses_.data()),
              [&] { return work_.where(s) + ": MPI_Testall"; });
        if (over == 0) return false;
        check_lengths(s);
        tested_ = s;
        return true;
    }
    void arrive(int s) override {
        if (tested_ == s) return;
        wait(s, 0, of(s).received);
        check_lengths(s);
    }
    void leave(int s) override {
        if (std::exchange(tested_, -1) != s) wait(s, of(s).received, of(s).requests.size());
    }
    Index messages() const override { return transfers_.sent(); }

  private:
    void check_lengths(int s) {
        for (std::size_t i = 0; i < of(s).received; ++i)
            check_length(statuses_[i], *of(s).transfers[i], [&] { return work_.where(s); });
    }
    // Freed before the communicator that they were made on, also where not all of them could be made.
    struct Requests : std::vector<MPI_Request> {
        Requests() = default;
        Requests(Requests&&) = default;
        Requests& operator=(Requests&&) = delete;
        ~Requests() {
            int finalized = 0;
            MPI_Finalized(&finalized);
            for (MPI_Request& request : *this)
                if (request != MPI_REQUEST_NULL && !finalized) MPI_Request_free(&request);
        }
        MPI_Request* add() { return &emplace_back(MPI_REQUEST_NULL); }
    };
    struct Stage {
        Requests requests;  // receives first
        std::vector<const Transfer*> transfers;
        std::size_t received = 0;
    };
    Stage& of(int stage) { return stages_[static_cast<std::size_t>(stage)]; }

    Stage make(int s) const {
        Stage stage;
        const StageProgram& program = work_.stage(s);
        for (std::size_t i = 0; i < program.receives.size(); ++i)
            for (const Transfer& t : transfers_.of_receive(s, i)) {
                check(MPI_Recv_init(t.data, t.count, t.type, t.peer, t.tag, work_.comm(), stage.requests.add()),
                      [&] { return work_.where(s) + ": " + to_text(false, t); });
                stage.transfers.push_back(&t);
            }
        stage.received = stage.requests.size();
        const auto init = work_.request.synchronous ? MPI_Ssend_init : MPI_Send_init;
        for (std::size_t i = 0; i < program.sends.size(); ++i)
            for (const Transfer& t : transfers_.of_send(s, i)) {
                check(init(t.data, t.count, t.type, t.peer, t.tag, work_.comm(), stage.requests.add()),
                      [&] { return work_.where(s) + ": " + to_text(true, t); });
                stage.transfers.push_back(&t);
            }
        return stage;
    }

    void wait(int s, std::size_t first, std::size_t last) {
        if (first == last) return;
        Stage& stage = of(s);
        wait_all(
            static_cast<int>(last - first), &stage.requests[first], &statuses_[first], work_.request.watchdog_s,
            [&] { return work_.where(s); },
            [&](int i) {
                const std::size_t slot = first + static_cast<std::size_t>(i);
                return to_text(slot >= stage.received, *stage.transfers[slot]);
            });
    }

    const Work& work_;
    const Transfers transfers_;
    std::vector<Stage> stages_;
    std::vector<MPI_Status> statuses_;
    int tested_ = -1;  // the stage that a test has found over
};

class PersistentTransport : public Transport {
    std::unique_ptr<Carrier> carrier(const Work& work, const schedule::Schedule&, Buffers&) override {
        return std::make_unique<Persistent>(work);
    }
};

}  // namespace

std::unique_ptr<Transport> make_persistent() {
    return std::make_unique<PersistentTransport>();
}

}  // namespace tradewind::mpi
