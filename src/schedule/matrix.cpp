#include "schedule/matrix.hpp"

#include "base/checked.hpp"
#include "base/error.hpp"

namespace tradewind::schedule {

std::vector<Index> communication_matrix(const Schedule& schedule, Rank ranks_per_bin, int first, int last,
                                        const std::function<void()>& poll) {
    if (ranks_per_bin < 1) throw InputError(std::to_string(ranks_per_bin) + " ranks in a bin: 1 or more are allowed");
    if (first < 0 || last > schedule.stages() || first > last)
        throw InputError("stages " + std::to_string(first) + ".." + std::to_string(last - 1) + ": 0.." +
                         std::to_string(schedule.stages() - 1) + " are allowed");
    const Rank ranks = schedule.ranks();
    const std::size_t bins = (ranks - 1) / ranks_per_bin + 1;
    std::vector<Index> matrix(bins * bins);
    for (int stage = first; stage < last; ++stage)
        for (Rank rank = 0; rank < ranks; ++rank) {
            if (rank % 1024 == 0) poll();
            Index* row = &matrix[rank / ranks_per_bin * bins];
            for (int j = 0; j < schedule.sends(rank, stage); ++j)
                if (const Message m = schedule.send(rank, stage, j); m.count > 0)
                    add_checked(row[m.peer / ranks_per_bin], m.count, "communication matrix", "points");
        }
    return matrix;
}

}  // namespace tradewind::schedule
