// Where the messages of arrays on a device are gathered for MPI.
#pragma once

#include <memory>
#include <string>

#include "mpi/carrier.hpp"

namespace tradewind::mpi {

// Plans on the host's memory have one that does nothing.
class Staging {
  public:
    Staging() = default;
    ~Staging();
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    // The buffers of a transport for arrays of a device, whose copier the fields of the request name.
    std::unique_ptr<Buffers> buffers(Transport& transport, const Communicator& communicator, const PlanRequest& request,
                                     Index outgoing, Index incoming);
    // Whether the buffers are in the device's memory.
    bool direct() const { return direct_; }
    // "staged through pinned memory of the host"; "" of plans on the host's memory.
    const std::string& text() const { return text_; }
    // Leaves all as it is, for buffers that stay.
    void release() { pinned_.clear(); }

  private:
    void pin(const PlanRequest& request, std::byte* memory, Index bytes);

    std::shared_ptr<Copier> copier_;
    std::vector<std::byte*> pinned_;
    bool direct_ = false;
    std::string text_;
};

// How messages reach MPI, in words.
std::string staged_text(const Copier& copier);
std::string direct_text(const Copier& copier);

}  // namespace tradewind::mpi
