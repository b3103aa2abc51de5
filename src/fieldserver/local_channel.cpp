#include "fieldserver/local_channel.hpp"

#include <utility>

#include "mpi/error.hpp"

namespace tradewind::fieldserver {

LocalChannel::LocalChannel(int number, int host, std::unique_ptr<LocalControl> control, const OutputPlan& plan,
                           ServerMethod method, Agreement& agreement)
    : Channel(number, {{agreement.comm(), host, 0}, host, std::move(control)}, plan, std::move(method), agreement),
      agreement_(agreement),
      local_(static_cast<LocalControl*>(this->control.get())) {}

void LocalChannel::leave() {
    if (local_) local_->kill();
}

// Memory for a whole field, which an order names to the server; of nothing on ranks that are not the host. Throws
// PlanError, on all ranks, where the host has no room.
PartMemory LocalChannel::shared_with_server(const FieldForm& form, Json::Object order) {
    std::string problem;
    PartMemory memory(0, false);
    try {
        if (local_) memory = PartMemory(form.bytes(), true);
    } catch (const mpi::PlanError& error) {
        problem = error.what();
    }
    if (const std::string first = agreement_.first_error(problem); !first.empty()) throw mpi::PlanError(first);
    if (!local_) return memory;
    const mpi::SharedHandle& handle = memory.shared()->handle();
    order.emplace_back("memory", Json::Array{handle.process, handle.file, handle.bytes, handle.mark});
    send_order(order);
    return memory;
}

PartMemory LocalChannel::new_whole(std::size_t place, const FieldForm& form) {
    return shared_with_server(form, {{"op", "memory"}, {"place", Index(place)}});
}

std::optional<PartMemory> LocalChannel::input_memory(const FieldForm& form) {
    if (const auto found = input_.find(form.alike); found != input_.end()) return found->second;
    const PartMemory memory = shared_with_server(form, {{"op", "input_memory"}, {"alike", form.alike}});
    return input_.emplace(form.alike, memory).first->second;
}

}  // namespace tradewind::fieldserver
