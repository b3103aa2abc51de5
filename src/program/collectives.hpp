// Collective calls of MPI as messages, stage by stage, as MPICH carries them out (Thakur, Rabenseifner & Gropp 2005,
// doi:10.1177/1094342005051521): which algorithm depends on the ranks and the bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "schedule/schedule.hpp"

namespace tradewind::program {

enum class Collective : std::uint8_t {
    barrier,
    broadcast,
    reduce,
    allreduce,
    gather,
    scatter,
    allgather,
    alltoall,
    reduce_scatter,
    scan,
};
inline constexpr std::string_view collective_names[] = {"barrier", "broadcast", "reduce",   "allreduce",      "gather",
                                                        "scatter", "allgather", "alltoall", "reduce_scatter", "scan"};

// Messages that a rank sends and receives at once; the stage ends when all of it has.
struct CollectiveStage {
    struct Sent {
        Rank to;
        std::int64_t bytes;
    };
    std::vector<Sent> sends;
    std::vector<Rank> receives;  // from whom
};

// Returns the schedule of an allreduce of a number of bytes.
using AllReduceSchedule = std::function<std::shared_ptr<const schedule::Schedule>(Rank ranks, std::int64_t bytes)>;

// The stages of `rank` among `ranks`, numbered from 0. `bytes`: of the vector (broadcast, reduce, allreduce, scan, and
// reduce_scatter, before it is scattered), or of what each rank contributes or gets (gather, scatter, allgather), or of
// all that this rank sends (alltoall).
std::vector<CollectiveStage> stages_of(Collective kind, Rank rank, Rank ranks, Rank root, std::int64_t bytes,
                                       const AllReduceSchedule& allreduce);

}  // namespace tradewind::program
