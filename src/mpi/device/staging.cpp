#include "mpi/device/staging.hpp"

#include "mpi/device/nccl.hpp"

namespace tradewind::mpi {

namespace {

class PinnedBuffers : public Buffers {
  public:
    PinnedBuffers(std::shared_ptr<Copier> copier, Index out, Index in) : copier_(std::move(copier)) {
        if (out > 0) outgoing = copier_->allocate_pinned(out);
        if (in > 0) incoming = copier_->allocate_pinned(in);
    }
    ~PinnedBuffers() override {
        for (std::byte* const memory : {outgoing, incoming})
            if (memory) copier_->release_pinned(memory);
    }

  private:
    const std::shared_ptr<Copier> copier_;
};

class DeviceBuffers : public Buffers {
  public:
    DeviceBuffers(const std::shared_ptr<Copier>& copier, Index out, Index in) : out_(out, copier), in_(in, copier) {
        outgoing = out_.data();
        incoming = in_.data();
    }

  private:
    PlanMemory out_, in_;
};

// Windows and memory that a node shares are not; these transports take any.
bool plain(const PlanRequest& request) {
    switch (request.carried_by().family) {
        case schedule::Family::two_sided:
        case schedule::Family::persistent:
        case schedule::Family::collective: return true;
        default: return false;
    }
}

}  // namespace

std::string staged_text(const Copier& copier) {
    const auto [takes, reason] = copier.mpi_takes();
    return "staged through pinned memory of the host (" +
           (takes ? "this transport or packing takes no pointers of a device" : reason) + ")";
}

std::string direct_text(const Copier& copier) {
    return "direct: MPI takes pointers of the device (" + copier.mpi_takes().second + ")";
}

Staging::~Staging() {
    for (std::byte* const memory : pinned_) copier_->unpin(memory);
}

void Staging::pin(const PlanRequest& request, std::byte* memory, Index bytes) {
    if (bytes == 0) return;
    if (copier_->pin(memory, bytes))
        pinned_.push_back(memory);
    else
        text_ =
            "staged through pageable memory of the host: the driver cannot pin that of transport " + request.transport;
}

std::unique_ptr<Buffers> Staging::buffers(Transport& transport, const Communicator& communicator,
                                          const PlanRequest& request, Index outgoing, Index incoming) {
    copier_ = request.source[0].copier;
    if (request.carried_by().on_devices) {
        direct_ = true;
        text_ = "from device to device by " + copier_->nccl().name();
        return std::make_unique<DeviceBuffers>(copier_, outgoing, incoming);
    }
    text_ = staged_text(*copier_);
    if (plain(request)) {
        // Datatypes of a device's memory are gathered element by element, which takes hundreds of times as long.
        direct_ = copier_->mpi_takes().first && !request.packed_by(schedule::Packing::datatype);
        if (!direct_) return std::make_unique<PinnedBuffers>(copier_, outgoing, incoming);
        text_ = direct_text(*copier_);
        return std::make_unique<DeviceBuffers>(copier_, outgoing, incoming);
    }
    if (request.carried_by().family == schedule::Family::shared)
        text_ = std::string("within the node pushes of the device, by one stream per target, ") +
                (request.pushes_at_once ? "all at once" : "one after another") + "; between nodes " + text_;
    std::unique_ptr<Buffers> buffers = transport.buffers(communicator, request, outgoing, incoming);
    pin(request, buffers->outgoing, outgoing);
    pin(request, buffers->incoming, incoming);
    return buffers;
}

}  // namespace tradewind::mpi
