#include "schedule/transport.hpp"

#include <map>

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
    const bool buffered = request.packing == "buffer";
    const auto scattered = [buffered](int, const std::vector<Block>& blocks) { return buffered && !one_run(blocks); };
    return {scattered, scattered};
}

std::unique_ptr<Buffers> Transport::buffers(const Communicator&, const PlanRequest&, Index outgoing, Index incoming) {
    return std::make_unique<PlainBuffers>(outgoing, incoming);
}

std::unique_ptr<Transport> make_transport(const std::string& name) {
    static const std::map<std::string, std::unique_ptr<Transport> (*)()> table{
        {"sendrecv", make_two_sided},    {"isend-recv", make_two_sided}, {"send-irecv", make_two_sided},
        {"isend-irecv", make_two_sided}, {"even-odd", make_two_sided},   {"persistent", make_persistent},
        {"put-fence", make_fence},       {"get-fence", make_fence},      {"put-notify", make_notify},
        {"shared", make_shared},         {"neighbor", make_collective},  {"alltoallv", make_collective},
        {"alltoallw", make_collective},
    };
    return table.at(schedule::transport(name).name)();  // transport() throws where nobody knows the name
}

}  // namespace tradewind::mpi
