#include "mpi/transport/one_sided.hpp"

#include <algorithm>

#include "mpi/error.hpp"
#include "mpi/prepare.hpp"

namespace tradewind::mpi {

namespace {

constexpr Index largest_access = Index{1} << 30;  // MPI counts in int

MPI_Aint address(const std::byte* data) {
    return static_cast<MPI_Aint>(reinterpret_cast<std::intptr_t>(data));
}

}  // namespace

Accesses::Accesses(const Work& work, const Window& window, bool puts) {
    const Describe exposed = places(work, !puts);
    const Notes there = exchange_notes(work, !puts, [&](int stage, std::size_t i) {
        std::vector<Block> blocks = exposed(stage, i);
        for (Block& block : blocks) block.data = reinterpret_cast<std::byte*>(block.data - window.data());
        return blocks;
    });
    // A rank that fails here alone must not leave the others in a collective of its transport.
    prepare(work.comm(), "", [&] {
        take(work, puts, there);
        return true;
    });
}

void Accesses::take(const Work& work, bool puts, const Notes& there) {
    for (int s = 0; s < work.stages(); ++s) {
        const std::vector<End>& ends = puts ? work.stage(s).sends : work.stage(s).receives;
        auto& stage = accesses_.emplace_back();
        for (std::size_t i = 0; i < ends.size(); ++i)
            stage.push_back(make(work.request, ends[i], there[static_cast<std::size_t>(s)][i]));
    }
}

std::vector<Access> Accesses::make(const PlanRequest& request, const End& end, const std::vector<Block>& there) {
    if (request.packed_by(schedule::Packing::datatype)) {
        types_.emplace_back(end.place(), request.element);
        const MPI_Datatype here_type = types_.back().handle();
        types_.emplace_back(there, request.element);
        return {{end.peer, MPI_BOTTOM, 0, 1, here_type, types_.back().handle()}};
    }
    std::vector<Access> all;
    for (const RunPair& run : common_runs(end.place(), there, max_direct_runs))
        for (Index done = 0; done < run.bytes; done += largest_access) {
            const Index bytes = std::min(run.bytes - done, largest_access);
            all.push_back({end.peer, run.here + done, address(run.there) + done, static_cast<int>(bytes)});
        }
    return all;
}

Index Accesses::count() const {
    Index count = 0;
    for (const auto& stage : accesses_)
        for (const auto& of_end : stage) count += static_cast<Index>(of_end.size());
    return count;
}

WindowBuffers::WindowBuffers(const Communicator& communicator, Index out, Index in, bool puts)
    : window_(communicator, puts ? in : out), plain_(puts ? out : in) {
    outgoing = puts ? plain_.data() : window_.data();
    incoming = puts ? window_.data() : plain_.data();
}

Buffering OneSidedTransport::buffering(const Communicator&, const PlanRequest& request) {
    const bool buffered = request.packed_by(schedule::Packing::buffer), putting = puts(request);
    return {[=](int, const std::vector<Block>&) { return buffered || !putting; },
            [=](int, const std::vector<Block>&) { return buffered || putting; }};
}

std::unique_ptr<Buffers> OneSidedTransport::buffers(const Communicator& communicator, const PlanRequest& request,
                                                    Index outgoing, Index incoming) {
    return std::make_unique<WindowBuffers>(communicator, outgoing, incoming, puts(request));
}

}  // namespace tradewind::mpi
