#include "layout/lines.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/random.hpp"

namespace tradewind::layout {

Lines::Lines(std::vector<Index> begins, std::vector<Index> ends)
    : begins_(std::move(begins)), ends_(std::move(ends)), starts_{0} {
    if (begins_.size() != ends_.size())
        throw InputError(std::to_string(begins_.size()) + " lines begin and " + std::to_string(ends_.size()) + " end");
    for (std::size_t l = 0; l < begins_.size(); ++l) {
        if (begins_[l] < 0 || ends_[l] < begins_[l])
            throw InputError("line " + std::to_string(l) + " has the places from " + std::to_string(begins_[l]) +
                             " to before " + std::to_string(ends_[l]) + ": it may begin at 0 or more, and end there");
        starts_.push_back(starts_.back() + ends_[l] - begins_[l]);
        mark_ = mix(mix(mark_, static_cast<std::uint64_t>(begins_[l])), static_cast<std::uint64_t>(ends_[l]));
    }
    if (points() == 0) throw InputError(std::to_string(begins_.size()) + " lines have no points");
}

Index Lines::last_end() const {
    return *std::max_element(ends_.begin(), ends_.end());
}

Index Lines::count(const std::vector<Run>& lines, const std::vector<Run>& places) const {
    Index sum = 0;
    for (const Run& run : lines)
        for (Index line = run.begin; line < run.end; ++line)
            for (const Run& there : places)
                sum += std::max<Index>(0, std::min(there.end, end(line)) - std::max(there.begin, begin(line)));
    return sum;
}

std::vector<Run> Lines::runs(const std::vector<Run>& lines, const std::vector<Run>& places) const {
    std::vector<Run> found;
    for (const Run& run : lines)
        for (Index line = run.begin; line < run.end; ++line)
            for (const Run& there : places) {
                const Index first = std::max(there.begin, begin(line)), last = std::min(there.end, end(line));
                if (first >= last) continue;
                const Index shift = starts_[static_cast<std::size_t>(line)] - begin(line);
                if (!found.empty() && found.back().end == first + shift)
                    found.back().end = last + shift;
                else
                    found.push_back({first + shift, last + shift});
            }
    return found;
}

std::array<Index, 2> Lines::at(Index point) const {
    const Index line = std::upper_bound(starts_.begin(), starts_.end(), point) - starts_.begin() - 1;
    return {line, point - starts_[static_cast<std::size_t>(line)] + begin(line)};
}

}  // namespace tradewind::layout
