#include "mpi/transport/transfers.hpp"

#include <algorithm>

#include "mpi/error.hpp"
#include "mpi/notes.hpp"

namespace tradewind::mpi {

namespace {

void append_parts(const End& end, std::byte* data, Index length, Index largest, std::vector<Transfer>& parts) {
    for (Index done = 0; done < length; done += largest) {
        const Index bytes = std::min(length - done, largest);
        parts.push_back({end.peer, end.tag, data + done, static_cast<int>(bytes), MPI_BYTE, bytes});
    }
}

}  // namespace

std::vector<Transfer> in_parts(const End& end, Bytes largest) {
    std::vector<Transfer> parts;
    append_parts(end, end.data(), end.bytes, largest.value, parts);
    return parts;
}

Transfers::Transfers(const Work& work) {
    const bool direct = work.request.packed_by(schedule::Packing::direct);
    const Notes of_receivers = direct ? exchange_notes(work, false, places(work, false)) : Notes{};
    const Notes of_senders = direct ? exchange_notes(work, true, places(work, true)) : Notes{};
    const auto make = [&](const std::vector<End>& ends, const Notes& notes, std::size_t s) {
        OfEnds all;
        for (std::size_t i = 0; i < ends.size(); ++i)
            all.push_back(direct ? in_runs(ends[i], notes[s][i]) : whole(ends[i], work.request));
        return all;
    };
    for (std::size_t s = 0; s < work.program.stages.size(); ++s) {
        sends_.push_back(make(work.program.stages[s].sends, of_receivers, s));
        receives_.push_back(make(work.program.stages[s].receives, of_senders, s));
    }
}

// With packing buffer in parts of the largest message; else one, whatever its length.
std::vector<Transfer> Transfers::whole(const End& end, const PlanRequest& request) {
    if (request.packed_by(schedule::Packing::datatype)) {
        types_.emplace_back(end.place(), request.element);
        return {{end.peer, end.tag, static_cast<std::byte*>(MPI_BOTTOM), 1, types_.back().handle(), end.bytes,
                 unit_of(request.element)}};
    }
    return in_parts(end, request.largest_message);
}

std::vector<Transfer> Transfers::in_runs(const End& end, const std::vector<Block>& there) {
    std::vector<Transfer> parts;
    for (const RunPair& run : common_runs(end.place(), there, max_direct_runs))
        append_parts(end, run.here, run.bytes, Index{1} << 30, parts);
    return parts;
}

Index Transfers::sent() const {
    Index count = 0;
    for (const OfEnds& stage : sends_)
        for (const auto& parts : stage) count += static_cast<Index>(parts.size());
    return count;
}

std::string to_text(bool sending, const Transfer& t) {
    return (sending ? "sending to rank " : "receiving from rank ") + std::to_string(t.peer) + " (tag " +
           std::to_string(t.tag) + ", " + std::to_string(t.bytes) + " bytes)";
}

}  // namespace tradewind::mpi
