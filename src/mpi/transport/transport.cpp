#include "schedule/transport.hpp"

#include "mpi/carrier.hpp"

namespace tradewind::mpi {

namespace {

class PlainBuffers : public Buffers {
  public:
    PlainBuffers(Index out, Index in) : out_(out, Memory::Contents::anything), in_(in, Memory::Contents::anything) {
        outgoing = out_.data();
        incoming = in_.data();
    }

  private:
    Memory out_, in_;
};

}  // namespace

Buffering Transport::buffering(const Communicator&, const PlanRequest& request) {
    const bool buffered = request.packed_by(schedule::Packing::buffer);
    const auto scattered = [buffered](int, const std::vector<Block>& blocks) { return buffered && !one_run(blocks); };
    return {scattered, scattered};
}

std::unique_ptr<Buffers> Transport::buffers(const Communicator&, const PlanRequest&, Index outgoing, Index incoming) {
    return std::make_unique<PlainBuffers>(outgoing, incoming);
}

std::unique_ptr<Transport> make_transport(const std::string& name) {
    switch (schedule::transport(name).family) {
        case schedule::Family::two_sided: return make_two_sided();
        case schedule::Family::persistent: return make_persistent();
        case schedule::Family::fence: return make_fence();
        case schedule::Family::notify: return make_notify();
        case schedule::Family::shared: return make_shared();
        case schedule::Family::collective: return make_collective();
        case schedule::Family::nccl: return make_nccl();
    }
    return nullptr;
}

}  // namespace tradewind::mpi
