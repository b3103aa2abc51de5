#include "layout/row_ends.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/random.hpp"

namespace tradewind::layout {

RowEnds::RowEnds(int along, int across, std::vector<Index> ends)
    : along_(along),
      across_(across),
      ends_(std::move(ends)),
      mark_(mix(static_cast<std::uint64_t>(along), static_cast<std::uint64_t>(across))) {
    if (along < X || along > Z || across < X || across > Z || along == across)
        throw InputError("rows along direction " + std::to_string(along) + " and across " + std::to_string(across) +
                         ": two of 0, 1 and 2 are allowed");
    for (std::size_t row = 0; row < ends_.size(); ++row) {
        if (ends_[row] < 0)
            throw InputError("row " + std::to_string(row) + " ends at " + std::to_string(ends_[row]) +
                             ": 0 or more is allowed");
        mark_ = mix(mark_, static_cast<std::uint64_t>(ends_[row]));
    }
}

Index RowEnds::count(const std::vector<Run>& along, const std::vector<Run>& across) const {
    Index sum = 0;
    for (const Run& rows : across)
        for (Index row = rows.begin; row < rows.end; ++row)
            for (const Run& run : along) sum += std::max<Index>(0, std::min(run.end, end(row)) - run.begin);
    return sum;
}

void RowEnds::append(const Box& box, std::vector<Box>& boxes) const {
    const auto clipped = [&](Index row) { return std::min(box.end[along_], end(row)); };
    for (Index row = box.begin[across_], next = row; row < box.end[across_]; row = next) {
        Box rows = box;
        rows.begin[across_] = row;
        rows.end[along_] = clipped(row);
        for (next = row + 1; next < box.end[across_] && clipped(next) == rows.end[along_];) ++next;
        rows.end[across_] = next;
        if (!rows.empty()) boxes.push_back(rows);
    }
}

}  // namespace tradewind::layout
