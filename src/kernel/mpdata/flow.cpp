#include "kernel/mpdata/flow.hpp"

#include <algorithm>
#include <vector>

#include "kernel/clones.hpp"

namespace tradewind::kernel {

namespace {

template <class Real>
[[gnu::always_inline]] inline void sum_rows(const double* by_row, const double* by_level, Index begin, Index end,
                                            Index terms, Index levels, double* total, Real* out) {
    for (Index row = begin; row < end; ++row) {
        std::fill(total, total + levels, 0.0);
        for (Index term = 0; term < terms; ++term) {
            const double factor = by_row[row * terms + term];
            const double* along = by_level + term * levels;
            for (Index level = 0; level < levels; ++level) total[level] += factor * along[level];
        }
        for (Index level = 0; level < levels; ++level) out[row * levels + level] = static_cast<Real>(total[level]);
    }
}

#define TRADEWIND_ROWS(Real)                                                                                          \
    TRADEWIND_CLONES void run_rows(const double* by_row, const double* by_level, Index begin, Index end, Index terms, \
                                   Index levels, double* total, Real* out) {                                          \
        sum_rows(by_row, by_level, begin, end, terms, levels, total, out);                                            \
    }
TRADEWIND_ROWS(float)
TRADEWIND_ROWS(double)
#undef TRADEWIND_ROWS

}  // namespace

template <class Real>
void sum_of_terms(const double* by_row, const double* by_level, Index rows, Index terms, Index levels, Real* out,
                  Team& team) {
    team.run([&](int thread) {
        const Index threads = team.threads();
        std::vector<double> total(static_cast<std::size_t>(levels));
        run_rows(by_row, by_level, rows * thread / threads, rows * (thread + 1) / threads, terms, levels, total.data(),
                 out);
    });
}

template void sum_of_terms(const double*, const double*, Index, Index, Index, float*, Team&);
template void sum_of_terms(const double*, const double*, Index, Index, Index, double*, Team&);

}  // namespace tradewind::kernel
