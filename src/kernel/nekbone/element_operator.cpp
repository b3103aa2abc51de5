#include "kernel/nekbone/element_loops.hpp"
#include "kernel/width.hpp"

namespace tradewind::kernel {

namespace {

// A thread's work: elements that are its own.
template <class Real>
struct Job {
    const Operator<Real>* by = nullptr;
    Which which;
    const Real *u = nullptr, *r = nullptr;  // r: p = r + beta p first
    Real *p = nullptr, *out = nullptr;
    double* sums = nullptr;
    Real beta = 0;
    Real* room = nullptr;  // [3][point]
};

template <int B, int N, class Real>
[[gnu::always_inline]] inline void multiply(const Operator<Real>& by, Index element, Real* a, Real* b, Real* c) {
    const Index volume = N > 0 ? N * N * N : by.elements->volume();
    if (by.factors) {
        const Real* g = by.factors + element * 6 * volume;
        for (Index i = 0; i < volume; ++i) {
            const Real ua = a[i], ub = b[i], uc = c[i];
            a[i] = (g[i] * ua + g[volume + i] * ub) + g[2 * volume + i] * uc;
            b[i] = (g[volume + i] * ua + g[3 * volume + i] * ub) + g[4 * volume + i] * uc;
            c[i] = (g[2 * volume + i] * ua + g[4 * volume + i] * ub) + g[5 * volume + i] * uc;
        }
        return;
    }
    with_metric<Real, B, N>(*by.elements, element,
                            [&]<int W>(int at, Vector<Real, W> weight, const Metric<Real, W>& m)
                                __attribute__((always_inline)) {
                                    using V = Vector<Real, W>;
                                    const V ua = load<V>(a + at), ub = load<V>(b + at), uc = load<V>(c + at);
                                    const V factor = weight / m.determinant;
                                    V flux[3];
                                    for (int d = 0; d < 3; ++d)
                                        flux[d] = factor * ((m.c[0][d] * ua + m.c[1][d] * ub) + m.c[2][d] * uc);
                                    store(a + at, (m.c[0][0] * flux[0] + m.c[0][1] * flux[1]) + m.c[0][2] * flux[2]);
                                    store(b + at, (m.c[1][0] * flux[0] + m.c[1][1] * flux[1]) + m.c[1][2] * flux[2]);
                                    store(c + at, (m.c[2][0] * flux[0] + m.c[2][1] * flux[1]) + m.c[2][2] * flux[2]);
                                });
}

// p A p of an element; what is not multiplied by test functions counts by its share.
template <int B, int N, class Real>
[[gnu::always_inline]] inline double energy(const Operator<Real>& by, Index element, const Real* p, const Real* out) {
    constexpr int room = N > 0 ? N : Elements::maximum_points;
    const int n = N > 0 ? N : by.elements->points();
    Real row[room], plane[room * room], lane[room] = {};
    by.elements->shares(element, row, plane);
    const Real shift = by.mass ? Real(0) : static_cast<Real>(by.shift);
    for (int line = 0; line < n * n; ++line) {
        const Real share = shift * plane[line];
        along<Real, B, N>(n, [&]<int W>(int i) __attribute__((always_inline)) {
            using V = Vector<Real, W>;
            const V value = load<V>(p + line * n + i);
            store(lane + i,
                  load<V>(lane + i) + value * (load<V>(out + line * n + i) + (share * load<V>(row + i)) * value));
        });
    }
    return total(lane, n);
}

template <int B, int N, class Real>
[[gnu::always_inline]] inline void of_element(const Job<Real>& job, Index element) {
    const Operator<Real>& by = *job.by;
    const Index volume = N > 0 ? N * N * N : by.elements->volume(), first = element * volume;
    Real *a = job.room, *b = a + volume, *c = b + volume, *out = job.out + first;
    const Real* u = job.u + first;
    if (job.r) {
        Real* p = job.p + first;
        const Real* r = job.r + first;
        for (Index i = 0; i < volume; ++i) p[i] = r[i] + job.beta * p[i];
    }
    differentiate<B, N>(*by.elements, u, a, b, c);
    multiply<B, N>(by, element, a, b, c);
    integrate<B, N>(*by.elements, a, b, c, out);
    if (by.mass) {
        const Real shift = static_cast<Real>(by.shift);
        for (Index i = 0; i < volume; ++i) out[i] += shift * by.mass[first + i] * u[i];
    }
    if (job.sums) job.sums[element] = energy<B, N>(by, element, u, out);
}

template <int B, class Real>
[[gnu::always_inline]] inline void run_by(const Job<Real>& job) {
    with_points<B>(job.by->elements->points(), [&]<int N>() __attribute__((always_inline)) {
        for (const std::int32_t element : job.which) of_element<B, N>(job, element);
    });
}

TRADEWIND_BY_WIDTH(void, run, (const Job<double>& job), (job))
TRADEWIND_BY_WIDTH(void, run, (const Job<float>& job), (job))

template <class Real>
void write_factors(const Elements& elements, Index element, Real* to) {
    const Index volume = elements.volume();
    with_metric<double, 16, 0>(
        elements, element,
        [&]<int W>(int at, double weight, const Metric<double, W>& m) __attribute__((always_inline)) {
            const double factor = weight / m.determinant;
            int row = 0;
            for (int a = 0; a < 3; ++a)
                for (int b = a; b < 3; ++b, ++row)
                    to[row * volume + at] = static_cast<Real>(
                        factor * ((m.c[a][0] * m.c[b][0] + m.c[a][1] * m.c[b][1]) + m.c[a][2] * m.c[b][2]));
        });
}

template <class Real>
void run_in_team(Job<Real> job, Team& team) {
    const Index room = 3 * job.by->elements->volume();
    std::vector<Real> rooms(static_cast<std::size_t>(room * team.threads()));
    split_work(team, static_cast<Index>(job.which.size()), [&](int thread, Index begin, Index end) {
        Job<Real> mine = job;
        mine.which = job.which.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
        mine.room = rooms.data() + room * thread;
        run(mine);
    });
}

}  // namespace

template <class Real>
void geometric_factors(const Elements& elements, Real* factors, Team& team) {
    split_work(team, elements.count(), [&](int, Index begin, Index end) {
        for (Index e = begin; e < end; ++e) write_factors(elements, e, factors + e * 6 * elements.volume());
    });
}

template <class Real>
void element_mass(const Elements& elements, Real* mass, Team& team) {
    split_work(team, elements.count(), [&](int, Index begin, Index end) {
        for (Index e = begin; e < end; ++e)
            with_metric<double, 16, 0>(elements, e, [&]<int W>(int at, double weight, const Metric<double, W>& metric) {
                mass[e * elements.volume() + at] = static_cast<Real>(weight * metric.determinant);
            });
    });
}

template <class Real>
void apply(const Operator<Real>& by, Which which, const Real* u, Real* out, Team& team) {
    Job<Real> job;
    job.by = &by;
    job.which = which;
    job.u = u;
    job.out = out;
    run_in_team(job, team);
}

template <class Real>
void apply_to_direction(const Operator<Real>& by, Which which, double beta, const Real* r, Real* p, Real* out,
                        double* sums, Team& team) {
    Job<Real> job;
    job.by = &by;
    job.which = which;
    job.u = p;
    job.out = out;
    job.r = r;
    job.p = p;
    job.beta = static_cast<Real>(beta);
    job.sums = sums;
    run_in_team(job, team);
}

#define TRADEWIND_NEKBONE(Real)                                                   \
    template void geometric_factors(const Elements&, Real*, Team&);               \
    template void element_mass(const Elements&, Real*, Team&);                    \
    template void apply(const Operator<Real>&, Which, const Real*, Real*, Team&); \
    template void apply_to_direction(const Operator<Real>&, Which, double, const Real*, Real*, Real*, double*, Team&);
TRADEWIND_NEKBONE(float)
TRADEWIND_NEKBONE(double)
#undef TRADEWIND_NEKBONE

}  // namespace tradewind::kernel
