// The processes of a communicator, for what works on any (see base/peers.hpp).
#pragma once

#include "base/peers.hpp"
#include "mpi/communicator.hpp"

namespace tradewind::mpi {

// Its functions throw PlanError where MPI fails.
class Processes : public Peers {
  public:
    explicit Processes(MPI_Comm comm) : comm_(comm) {}  // collective

    int process() const override { return comm_.rank(); }
    int processes() const override { return comm_.ranks(); }
    std::int64_t minimum(std::int64_t value) override;
    void swap(const std::vector<ByteBuffer>& out, std::vector<ByteBuffer>& in) override;
    void gather(const ByteBuffer& mine, const std::function<void(int, std::span<const std::byte>)>& use) override;

  private:
    template <class Action>
    void severing(Action action);
    void expect(std::vector<ByteBuffer>& in);
    void send(std::span<const std::byte> buffer, int to);

    Communicator comm_;
    std::vector<MPI_Request> receives_;  // of a swap, [process]
    std::vector<MPI_Request> sends_;
};

}  // namespace tradewind::mpi
