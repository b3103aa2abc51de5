#include "mpi/overlap.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <vector>

namespace tradewind::mpi {

namespace {

struct Direction {
    Index points, stride;  // of more than one point; elements, not negative
};

// Two elements lie at one place where steps along the directions, not all 0, add up to 0. Along all but the longest one
// they are tried out, which gives the steps along that one.
bool steps_to_zero(std::vector<Direction> all) {
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.points > b.points; });
    while (all.size() < 3) all.push_back({1, 0});
    const auto& [longest, second, third] = std::tie(all[0], all[1], all[2]);
    for (Index k = 0; k < third.points; ++k)
        for (Index j = k == 0 ? 1 : 1 - second.points; j < second.points; ++j) {
            const Index rest = k * third.stride + j * second.stride;
            if (rest % longest.stride == 0 && std::abs(rest / longest.stride) < longest.points) return true;
        }
    return false;
}

}  // namespace

bool overlaps_itself(const Field& field, Element element) {
    std::vector<Direction> all;
    for (std::size_t a = 0; a < 3; ++a) {
        if (field.shape[a] == 0) return false;
        if (field.shape[a] > 1) all.push_back({field.shape[a], std::abs(field.stride[a]) / bytes_of(element)});
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.stride < b.stride; });
    if (!all.empty() && all[0].stride == 0) return true;
    bool nested = true;  // each stride leads beyond all that the smaller ones reach: what most arrays are
    Index reach = 0;
    for (const Direction& d : all) {
        nested = nested && d.stride > reach;
        reach += (d.points - 1) * d.stride;
    }
    return !nested && steps_to_zero(std::move(all));
}

}  // namespace tradewind::mpi
