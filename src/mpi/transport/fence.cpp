// Puts, or gets, between two fences of all ranks.
#include "mpi/error.hpp"
#include "mpi/transport/one_sided.hpp"

namespace tradewind::mpi {

namespace {

class Fence : public Carrier {
  public:
    Fence(const Work& work, const Window& window, bool puts)
        : work_(work), window_(window), puts_(puts), accesses_(work, window, puts) {}

    // The first fence: this rank has left the stage before; MPI may make it wait for the peers.
    void post(int s) override {
        window_.set_fenced(true);
        fence(s, MPI_MODE_NOPRECEDE);
        const std::size_t ends = (puts_ ? work_.stage(s).sends : work_.stage(s).receives).size();
        for (std::size_t i = 0; i < ends; ++i)
            for (const Access& a : accesses_.of(s, i)) check(start(a), [&] { return text(s, a); });
    }
    void arrive(int s) override {
        fence(s, MPI_MODE_NOSUCCEED | (puts_ ? 0 : MPI_MODE_NOPUT));
        window_.set_fenced(false);
    }
    Index messages() const override { return accesses_.count(); }

  private:
    // A fence cannot be given up. With a watchdog all ranks meet before it, in a barrier that can.
    void fence(int s, int assertion) {
        const auto where = [&] { return work_.where(s); };
        if (work_.request.watchdog_s > 0) {
            check(MPI_Ibarrier(work_.comm(), &request_), where);
            wait_all(1, &request_, MPI_STATUSES_IGNORE, work_.request.watchdog_s, where,
                     [](int) { return std::string("all ranks to reach the fence"); });
        }
        check(MPI_Win_fence(assertion, window_.handle()), [&] { return where() + ": MPI_Win_fence"; });
    }
    int start(const Access& a) {
        if (puts_) return MPI_Put(a.here, a.count, a.type, a.peer, a.there, a.count, a.type_there, window_.handle());
        return MPI_Get(const_cast<void*>(a.here), a.count, a.type, a.peer, a.there, a.count, a.type_there,
                       window_.handle());
    }
    std::string text(int s, const Access& a) const {
        return work_.where(s) + (puts_ ? ": putting to rank " : ": getting from rank ") + std::to_string(a.peer);
    }

    const Work& work_;
    const Window& window_;
    const bool puts_;
    Accesses accesses_;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

class FenceTransport : public OneSidedTransport {
    std::unique_ptr<Carrier> carrier(const Work& work, const schedule::Schedule&, Buffers& buffers) override {
        return std::make_unique<Fence>(work, window(buffers), puts(work.request));
    }
};

}  // namespace

std::unique_ptr<Transport> make_fence() {
    return std::make_unique<FenceTransport>();
}

}  // namespace tradewind::mpi
