#include "fieldserver/step_parts.hpp"

namespace tradewind::fieldserver {

void StepParts::finish(Index count) {
    for (; count > 0; --count) {
        const StepPart part = ended_.front();
        ended_.pop_front();
        done_[part.first] = part.second;
        reused_.erase(part);
    }
    const auto over = [&](const auto& each) { return is_done(each.first); };
    dropped_.erase(std::remove_if(dropped_.begin(), dropped_.end(), over), dropped_.end());
}

bool StepParts::is_done(const StepPart& part) const {
    const auto found = done_.find(part.first);
    return found != done_.end() && part.second <= found->second;
}

std::vector<StepPart> StepParts::unfinished(const std::vector<StepPart>& kept) const {
    const auto by_step = [](const StepPart& a, const StepPart& b) {
        return std::pair(a.second, a.first) < std::pair(b.second, b.first);
    };
    std::set<StepPart, decltype(by_step)> found(by_step);
    found.insert(ended_.begin(), ended_.end());
    found.insert(kept.begin(), kept.end());
    for (const auto& [part, path] : dropped_)
        if (!is_done(part)) found.insert(part);
    return {found.begin(), found.end()};
}

std::vector<std::string> StepParts::dropped(const StepPart& part) const {
    std::vector<std::string> paths;
    for (const auto& [at, path] : dropped_)
        if (at == part) paths.push_back(path);
    return paths;
}

}  // namespace tradewind::fieldserver
