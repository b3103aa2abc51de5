#include "kernel/nekbone/element_loops.hpp"
#include "kernel/width.hpp"

namespace tradewind::kernel {

namespace {

// A thread's work: elements that are its own.
struct Job {
    const Operator* by = nullptr;
    Which which;
    const double *u = nullptr, *r = nullptr;  // r: p = r + beta p first
    double *p = nullptr, *out = nullptr, *sums = nullptr;
    double beta = 0;
    double* room = nullptr;  // [3][point]
};

template <int B, int N>
[[gnu::always_inline]] inline void multiply(const Operator& by, Index element, double* a, double* b, double* c) {
    const Index volume = N > 0 ? N * N * N : by.elements->volume();
    if (by.factors) {
        const double* g = by.factors + element * 6 * volume;
        for (Index i = 0; i < volume; ++i) {
            const double ua = a[i], ub = b[i], uc = c[i];
            a[i] = (g[i] * ua + g[volume + i] * ub) + g[2 * volume + i] * uc;
            b[i] = (g[volume + i] * ua + g[3 * volume + i] * ub) + g[4 * volume + i] * uc;
            c[i] = (g[2 * volume + i] * ua + g[4 * volume + i] * ub) + g[5 * volume + i] * uc;
        }
        return;
    }
    with_metric<B, N>(
        *by.elements, element, [&]<int W>(int at, Vector<W> weight, const Metric<W>& m) __attribute__((always_inline)) {
            const Vector<W> ua = load<Vector<W>>(a + at), ub = load<Vector<W>>(b + at), uc = load<Vector<W>>(c + at);
            const Vector<W> factor = weight / m.determinant;
            Vector<W> flux[3];
            for (int d = 0; d < 3; ++d) flux[d] = factor * ((m.c[0][d] * ua + m.c[1][d] * ub) + m.c[2][d] * uc);
            store(a + at, (m.c[0][0] * flux[0] + m.c[0][1] * flux[1]) + m.c[0][2] * flux[2]);
            store(b + at, (m.c[1][0] * flux[0] + m.c[1][1] * flux[1]) + m.c[1][2] * flux[2]);
            store(c + at, (m.c[2][0] * flux[0] + m.c[2][1] * flux[1]) + m.c[2][2] * flux[2]);
        });
}

// p A p of an element; what is not multiplied by test functions counts by its share.
template <int B, int N>
[[gnu::always_inline]] inline double energy(const Operator& by, Index element, const double* p, const double* out) {
    constexpr int room = N > 0 ? N : Elements::maximum_points;
    const int n = N > 0 ? N : by.elements->points();
    double row[room], plane[room * room], lane[room] = {};
    by.elements->shares(element, row, plane);
    const double shift = by.mass ? 0.0 : by.shift;
    for (int line = 0; line < n * n; ++line) {
        const double share = shift * plane[line];
        along<B, N>(n, [&]<int W>(int i) __attribute__((always_inline)) {
            const Vector<W> value = load<Vector<W>>(p + line * n + i);
            store(lane + i, load<Vector<W>>(lane + i) + value * (load<Vector<W>>(out + line * n + i) +
                                                                 (share * load<Vector<W>>(row + i)) * value));
        });
    }
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += lane[i];
    return sum;
}

template <int B, int N>
[[gnu::always_inline]] inline void of_element(const Job& job, Index element) {
    const Operator& by = *job.by;
    const Index volume = N > 0 ? N * N * N : by.elements->volume(), first = element * volume;
    double *a = job.room, *b = a + volume, *c = b + volume, *out = job.out + first;
    const double* u = job.u + first;
    if (job.r) {
        double* p = job.p + first;
        const double* r = job.r + first;
        for (Index i = 0; i < volume; ++i) p[i] = r[i] + job.beta * p[i];
    }
    differentiate<B, N>(*by.elements, u, a, b, c);
    multiply<B, N>(by, element, a, b, c);
    integrate<B, N>(*by.elements, a, b, c, out);
    if (by.mass)
        for (Index i = 0; i < volume; ++i) out[i] += by.shift * by.mass[first + i] * u[i];
    if (job.sums) job.sums[element] = energy<B, N>(by, element, u, out);
}

template <int B, int N>
[[gnu::always_inline]] inline void of_elements(const Job& job) {
    for (const std::int32_t element : job.which) of_element<B, N>(job, element);
}

template <int B>
[[gnu::always_inline]] inline void run_by(const Job& job) {
    with_points<B>(job.by->elements->points(), [&]<int N>() __attribute__((always_inline)) { of_elements<B, N>(job); });
}

TRADEWIND_BY_WIDTH(void, run, (const Job& job), (job))

void write_factors(const Elements& elements, Index element, double* to) {
    const Index volume = elements.volume();
    with_metric<16, 0>(
        elements, element, [&]<int W>(int at, double weight, const Metric<W>& m) __attribute__((always_inline)) {
            const double factor = weight / m.determinant;
            int row = 0;
            for (int a = 0; a < 3; ++a)
                for (int b = a; b < 3; ++b, ++row)
                    to[row * volume + at] =
                        factor * ((m.c[a][0] * m.c[b][0] + m.c[a][1] * m.c[b][1]) + m.c[a][2] * m.c[b][2]);
        });
}

void run(Job job, Team& team) {
    const Index room = 3 * job.by->elements->volume();
    std::vector<double> rooms(static_cast<std::size_t>(room * team.threads()));
    split_work(team, static_cast<Index>(job.which.size()), [&](int thread, Index begin, Index end) {
        Job mine = job;
        mine.which = job.which.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
        mine.room = rooms.data() + room * thread;
        run(mine);
    });
}

}  // namespace

void geometric_factors(const Elements& elements, double* factors, Team& team) {
    split_work(team, elements.count(), [&](int, Index begin, Index end) {
        for (Index e = begin; e < end; ++e) write_factors(elements, e, factors + e * 6 * elements.volume());
    });
}

void element_mass(const Elements& elements, double* mass, Team& team) {
    split_work(team, elements.count(), [&](int, Index begin, Index end) {
        for (Index e = begin; e < end; ++e)
            with_metric<16, 0>(elements, e, [&]<int W>(int at, double weight, const Metric<W>& metric) {
                mass[e * elements.volume() + at] = weight * metric.determinant;
            });
    });
}

void apply(const Operator& by, Which which, const double* u, double* out, Team& team) {
    Job job;
    job.by = &by;
    job.which = which;
    job.u = u;
    job.out = out;
    run(job, team);
}

void apply_to_direction(const Operator& by, Which which, double beta, const double* r, double* p, double* out,
                        double* sums, Team& team) {
    Job job;
    job.by = &by;
    job.which = which;
    job.u = p;
    job.out = out;
    job.r = r;
    job.p = p;
    job.beta = beta;
    job.sums = sums;
    run(job, team);
}

}  // namespace tradewind::kernel
