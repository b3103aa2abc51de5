#include "mpi/transport/one_sided.hpp"

#include <algorithm>

#include "mpi/error.hpp"

namespace tradewind {

namespace {

constexpr std::size_t most_runs = std::size_t{1} << 16;  // of one message
constexpr Index largest_access = Index{1} << 30;         // MPI counts in int

MPI_Aint address(const std::byte* data) {
    return static_cast<MPI_Aint>(reinterpret_cast<std::intptr_t>(data));
}

}  // namespace

Accesses::Accesses(const Work& work, const Window& window, bool puts) {
    const Describe exposed = places(work, !puts);
    const Notes there =
        exchange_notes(work, !puts, [&](int stage, std::size_t i) { return window.as_peers_see(exposed(stage, i)); });
    for (int s = 0; s < work.stages(); ++s) {
        const std::vector<End>& ends = puts ? work.stage(s).sends : work.stage(s).receives;
        auto& stage = accesses_.emplace_back();
        for (std::size_t i = 0; i < ends.size(); ++i)
            stage.push_back(make(work.request, ends[i], there[static_cast<std::size_t>(s)][i]));
    }
}

std::vector<Access> Accesses::make(const PlanRequest& request, const End& end, const std::vector<Block>& there) {
    if (request.packing == "datatype") {
        types_.emplace_back(end.place());
        const MPI_Datatype here_type = types_.back().handle();
        types_.emplace_back(there);
        return {{end.peer, MPI_BOTTOM, 0, 1, here_type, types_.back().handle()}};
    }
    std::vector<Access> all;
    for (const RunPair& run : common_runs(end.place(), there, most_runs))
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

WindowBuffers::WindowBuffers(const Communicator& communicator, const PlanRequest& request, Index out, Index in,
                             bool puts) {
    whole_ = request.packing == "buffer";
    window_ = whole_ ? Window::allocated(communicator, puts ? in : out) : Window::dynamic(communicator);
    if (!whole_ || puts) outgoing_ = Memory(out);
    if (!whole_ || !puts) incoming_ = Memory(in);
    outgoing = whole_ && !puts ? window_->data() : outgoing_.data();
    incoming = whole_ && puts ? window_->data() : incoming_.data();
}

void WindowBuffers::expose(const Work& work, bool puts) {
    std::vector<Block> all;
    for (int s = 0; s < work.stages(); ++s)
        for (const End& end : puts ? work.stage(s).receives : work.stage(s).sends)
            for (const Block& block : end.place()) all.push_back(block);
    if (!whole_) window_->attach(all);
    check(MPI_Barrier(work.comm()), [&] { return work.where(0) + ": attaching memory"; });
}

}  // namespace tradewind
