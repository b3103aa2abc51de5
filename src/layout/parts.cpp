#include "layout/parts.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/random.hpp"

namespace tradewind::layout {

Parts Parts::even(Index points, Index parts) {
    if (parts < 1) throw InputError(std::to_string(parts) + " parts of a direction: 1 or more are allowed");
    Parts made;
    made.points_ = points;
    made.parts_ = parts;
    made.division_ = Division(points, parts);
    return made;
}

Parts Parts::cut(std::vector<Index> cuts) {
    if (cuts.size() < 2) throw InputError(std::to_string(cuts.size()) + " cuts: 2 or more are allowed, 0 the first");
    if (cuts.front() != 0) throw InputError("cut 0 is " + std::to_string(cuts.front()) + ": 0 is allowed");
    Parts made;
    made.kind_ = Kind::cut;
    for (std::size_t p = 0; p + 1 < cuts.size(); ++p)
        if (cuts[p + 1] < cuts[p])
            throw InputError("cut " + std::to_string(p + 1) + " is " + std::to_string(cuts[p + 1]) + ", less than " +
                             std::to_string(cuts[p]) + " before it: ascending cuts are allowed");
    for (const Index c : cuts) made.mark_ = mix(made.mark_, static_cast<std::uint64_t>(c));
    made.points_ = cuts.back();
    made.parts_ = static_cast<Index>(cuts.size()) - 1;
    made.cuts_ = std::move(cuts);
    return made;
}

Parts Parts::dealt(const std::vector<std::int32_t>& owners, Index parts) {
    if (parts < 1) throw InputError(std::to_string(parts) + " parts of a direction: 1 or more are allowed");
    Parts made;
    made.kind_ = Kind::dealt;
    made.points_ = static_cast<Index>(owners.size());
    made.parts_ = parts;
    std::vector<Index> counts(static_cast<std::size_t>(parts) + 1, 0);
    for (std::size_t i = 0; i < owners.size(); ++i) {
        if (owners[i] < 0 || owners[i] >= parts)
            throw InputError("point " + std::to_string(i) + " belongs to part " + std::to_string(owners[i]) + ": 0.." +
                             std::to_string(parts - 1) + " are allowed");
        made.mark_ = mix(made.mark_, static_cast<std::uint64_t>(owners[i]));
        if (i == 0 || owners[i] != owners[i - 1]) ++counts[static_cast<std::size_t>(owners[i]) + 1];
    }
    for (std::size_t p = 1; p < counts.size(); ++p) counts[p] += counts[p - 1];
    made.cuts_ = counts;
    made.runs_.resize(static_cast<std::size_t>(counts.back()));
    for (std::size_t begin = 0, end = 0; begin < owners.size(); begin = end) {
        while (end < owners.size() && owners[end] == owners[begin]) ++end;
        Index& next = counts[static_cast<std::size_t>(owners[begin])];
        made.runs_[static_cast<std::size_t>(next++)] = {static_cast<Index>(begin), static_cast<Index>(end)};
    }
    made.owners_ = owners;
    return made;
}

std::vector<Run> Parts::runs(Index part) const {
    const auto p = static_cast<std::size_t>(part);
    switch (kind_) {
        case Kind::even: return {{division_.begin(part), division_.end(part)}};
        case Kind::cut: return {{cuts_[p], cuts_[p + 1]}};
        default: return {runs_.begin() + cuts_[p], runs_.begin() + cuts_[p + 1]};
    }
}

Index Parts::width(Index part) const {
    if (kind_ == Kind::even) return division_.width(part);
    Index sum = 0;
    for (const Run& run : runs(part)) sum += run.length();
    return sum;
}

Index Parts::widest() const {
    if (kind_ == Kind::even) return division_.widest();
    Index maximum = 0;
    for (Index part = 0; part < parts_; ++part) maximum = std::max(maximum, width(part));
    return maximum;
}

Index Parts::owner(Index point) const {
    switch (kind_) {
        case Kind::even: return division_.owner(point);
        case Kind::cut: return std::upper_bound(cuts_.begin(), cuts_.end(), point) - cuts_.begin() - 1;
        default: return owners_[static_cast<std::size_t>(point)];
    }
}

std::string Parts::describe() const {
    std::string text = std::to_string(points_) + " in " + std::to_string(parts_);
    if (kind_ == Kind::even) return text;
    return text + (kind_ == Kind::cut ? " cut " : " dealt ") + std::to_string(mark_ % 1000000007);
}

std::vector<Parts::Owned> Parts::ordered() const {
    std::vector<Owned> all;
    for (Index part = 0; part < parts_; ++part)
        for (const Run& run : runs(part))
            if (run.length() > 0) all.push_back({run, part});
    if (kind_ == Kind::dealt)
        std::sort(all.begin(), all.end(), [](const Owned& a, const Owned& b) { return a.run.begin < b.run.begin; });
    return all;
}

}  // namespace tradewind::layout
