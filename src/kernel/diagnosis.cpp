#include "kernel/diagnosis.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.hpp"

namespace tradewind::kernel {

namespace {

template <class Real>
void add_level(Diagnosis& so_far, Array<const Real> field, const layout::Box& region, Index z) {
    for (Index y = region.begin[layout::Y]; y < region.end[layout::Y]; ++y)
        for (Index x = region.begin[layout::X]; x < region.end[layout::X]; ++x) {
            const double value = *field.at(x, y, z), square = value * value;
            if (!std::isfinite(square)) {
                if (!so_far.not_finite) so_far.not_finite = {x, y, z};
                continue;
            }
            so_far.sum.add(value);
            so_far.squares.add(square);
            so_far.minimum = std::min(so_far.minimum, value);
            so_far.maximum = std::max(so_far.maximum, value);
        }
}

void add(Diagnosis& so_far, const Diagnosis& later) {
    so_far.sum.add(later.sum);
    so_far.squares.add(later.squares);
    so_far.minimum = std::min(so_far.minimum, later.minimum);
    so_far.maximum = std::max(so_far.maximum, later.maximum);
    if (!so_far.not_finite) so_far.not_finite = later.not_finite;
}

}  // namespace

template <class Real>
Diagnosis diagnose(Array<const Real> field, const layout::Box& region, Team& team) {
    if (!field.box().contains(region)) throw InputError("region: it reaches beyond the array");
    const Index levels = region.width(layout::Z);
    std::vector<Diagnosis> by_thread(static_cast<std::size_t>(team.threads()));
    team.run([&](int thread) {
        for (Index n = levels * thread / team.threads(); n < levels * (thread + 1) / team.threads(); ++n)
            add_level(by_thread[static_cast<std::size_t>(thread)], field, region, region.begin[layout::Z] + n);
    });
    for (std::size_t thread = 1; thread < by_thread.size(); ++thread) add(by_thread[0], by_thread[thread]);
    return by_thread[0];
}

template Diagnosis diagnose(Array<const float>, const layout::Box&, Team&);
template Diagnosis diagnose(Array<const double>, const layout::Box&, Team&);

}  // namespace tradewind::kernel
