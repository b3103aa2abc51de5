#include "schedule/matrix.hpp"

#include "base/error.hpp"

namespace tradewind {

std::vector<Index> communication_matrix(const Schedule& schedule, int bins, int first, int last,
                                        const std::function<void()>& poll) {
    if (bins < 1 || bins > schedule.ranks())
        throw InputError(std::to_string(bins) + " bins: 1.." + std::to_string(schedule.ranks()) + " are allowed");
    if (first < 0 || last > schedule.stages() || first > last)
        throw InputError("stages " + std::to_string(first) + ".." + std::to_string(last - 1) + ": 0.." +
                         std::to_string(schedule.stages() - 1) + " are allowed");
    const Index ranks = schedule.ranks();
    std::vector<Index> matrix(static_cast<std::size_t>(bins) * bins);
    const auto bin = [&](Index rank) { return rank * bins / ranks; };
    for (int stage = first; stage < last; ++stage)
        for (Rank rank = 0; rank < ranks; ++rank) {
            if (rank % 1024 == 0) poll();
            Index* row = &matrix[bin(rank) * bins];
            for (int j = 0; j < schedule.sends(rank, stage); ++j)
                if (const Message m = schedule.send(rank, stage, j); m.count > 0) row[bin(m.peer)] += m.count;
        }
    return matrix;
}

}  // namespace tradewind
