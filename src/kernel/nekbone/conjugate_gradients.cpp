#include "kernel/nekbone/conjugate_gradients.hpp"

#include "kernel/nekbone/element_loops.hpp"
#include "kernel/width.hpp"

namespace tradewind::kernel {

namespace {

// Sets the values on those sides of an element to 0 that are not open. Not inlined: with the loops of each number of
// points this would be half of the code.
template <class Real>
[[gnu::noinline]] void close(const Elements& elements, Index element, Real* u) {
    const unsigned closed = ~static_cast<unsigned>(elements.open(element));
    if (!(closed & 63U)) return;
    const int n = elements.points(), strides[3] = {1, n, n * n};
    for (int side = 0; side < 6; ++side) {
        if (!(closed >> side & 1U)) continue;
        const int across = strides[side / 2], a = strides[side < 2 ? 1 : 0], b = strides[side < 4 ? 2 : 1];
        Real* first = u + (side % 2 ? (n - 1) * across : 0);
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) first[j * b + i * a] = 0;
    }
}

template <class Real>
[[gnu::always_inline]] inline void close(const Operator<Real>& by, Index element, Real* u) {
    if (element == 0 || !by.closes_first_only) close(*by.elements, element, u + element * by.elements->volume());
}

template <class Real>
struct Update {
    const Operator<Real>* by;
    Real alpha, beta;
    const Real* p;
    Real *out, *x, *r;
    double* sums;
    Real* q;
    const Pipelined<Real>* vectors;
};

// line(place, share of a plane, row of shares) for all lines of points of an element, in vectors.
template <class Real, int B, int N, class F>
[[gnu::always_inline]] inline void in_lines(const Elements& elements, Index element, const F& f) {
    constexpr int room = N > 0 ? N : Elements::maximum_points;
    const int n = N > 0 ? N : elements.points();
    Real row[room], plane[room * room];
    elements.shares(element, row, plane);
    const Index first = element * elements.volume();
    for (int line = 0; line < n * n; ++line)
        along<Real, B, N>(n, [&]<int W>(int i) __attribute__((always_inline)) {
            f.template operator()<W>(first + line * n + i, i, plane[line] * load<Vector<Real, W>>(row + i));
        });
}

template <class V, class Real>
[[gnu::always_inline]] inline void add(Real* sum, V value) {
    store(sum, load<V>(sum) + value);
}

template <int B, int N, class Real>
[[gnu::always_inline]] inline void update_element(const Update<Real>& job, Index element) {
    const Elements& elements = *job.by->elements;
    const Real shift = job.by->mass ? Real(0) : static_cast<Real>(job.by->shift);
    close(*job.by, element, job.out);
    Real lanes[N > 0 ? N : Elements::maximum_points] = {};
    in_lines<Real, B, N>(elements, element,
                         [&]<int W>(Index at, int i, Vector<Real, W> share) __attribute__((always_inline)) {
                             using V = Vector<Real, W>;
                             const V p = load<V>(job.p + at);
                             store(job.x + at, load<V>(job.x + at) + job.alpha * p);
                             const V r = load<V>(job.r + at) - job.alpha * (load<V>(job.out + at) + shift * p);
                             store(job.r + at, r);
                             add<V>(lanes + i, share * (r * r));
                         });
    job.sums[element] = total(lanes, elements.points());
}

template <int B, int N, class Real>
[[gnu::always_inline]] inline void pipelined_element(const Update<Real>& job, Index element) {
    const Elements& elements = *job.by->elements;
    const Real shift = job.by->mass ? Real(0) : static_cast<Real>(job.by->shift), alpha = job.alpha, beta = job.beta;
    const Pipelined<Real>& v = *job.vectors;
    close(*job.by, element, job.q);
    constexpr int room = N > 0 ? N : Elements::maximum_points;
    Real squares[room] = {}, products[room] = {};
    in_lines<Real, B, N>(elements, element,
                         [&]<int W>(Index at, int i, Vector<Real, W> share) __attribute__((always_inline)) {
                             using V = Vector<Real, W>;
                             const V w = load<V>(v.w + at), r = load<V>(v.r + at);
                             const V z = (load<V>(job.q + at) + shift * w) + beta * load<V>(v.z + at);
                             const V s = w + beta * load<V>(v.s + at), p = r + beta * load<V>(v.p + at);
                             const V next_r = r - alpha * s, next_w = w - alpha * z;
                             store(v.z + at, z);
                             store(v.s + at, s);
                             store(v.p + at, p);
                             store(v.x + at, load<V>(v.x + at) + alpha * p);
                             store(v.r + at, next_r);
                             store(v.w + at, next_w);
                             add<V>(squares + i, share * (next_r * next_r));
                             add<V>(products + i, share * (next_w * next_r));
                         });
    job.sums[element] = total(squares, elements.points());
    job.sums[elements.count() + element] = total(products, elements.points());
}

template <class Real>
void run_update(const Update<Real>& job, Index begin, Index end) {
    with_points<own_width>(job.by->elements->points(), [&]<int N>() __attribute__((always_inline)) {
        for (Index element = begin; element < end; ++element) update_element<own_width, N>(job, element);
    });
}

template <int B, class Real>
[[gnu::always_inline]] inline void run_pipelined_by(const Update<Real>& job, Index begin, Index end) {
    with_points<B>(job.by->elements->points(), [&]<int N>() __attribute__((always_inline)) {
        for (Index element = begin; element < end; ++element) pipelined_element<B, N>(job, element);
    });
}

TRADEWIND_BY_WIDTH(void, run_pipelined, (const Update<double>& job, Index begin, Index end), (job, begin, end))
TRADEWIND_BY_WIDTH(void, run_pipelined, (const Update<float>& job, Index begin, Index end), (job, begin, end))

}  // namespace

template <class Real>
void update(const Operator<Real>& by, double alpha, const Real* p, Real* out, Real* x, Real* r, double* sums,
            Team& team) {
    const Update<Real> job{&by, static_cast<Real>(alpha), 0, p, out, x, r, sums, nullptr, nullptr};
    split_work(team, by.elements->count(), [&](int, Index begin, Index end) { run_update(job, begin, end); });
}

template <class Real>
void update_pipelined(const Operator<Real>& by, double alpha, double beta, Real* q, const Pipelined<Real>& vectors,
                      double* sums, Team& team) {
    const auto a = static_cast<Real>(alpha), b = static_cast<Real>(beta);
    const Update<Real> job{&by, a, b, nullptr, nullptr, nullptr, nullptr, sums, q, &vectors};
    split_work(team, by.elements->count(), [&](int, Index begin, Index end) { run_pipelined(job, begin, end); });
}

template <class Real>
void complete(const Operator<Real>& by, const Real* p, Real* out, Team& team) {
    const Real shift = by.mass ? Real(0) : static_cast<Real>(by.shift);
    const Index volume = by.elements->volume();
    split_work(team, by.elements->count(), [&](int, Index begin, Index end) {
        for (Index element = begin; element < end; ++element) {
            Real* to = out + element * volume;
            for (Index i = 0; i < volume; ++i) to[i] += shift * p[element * volume + i];
            close(by, element, out);
        }
    });
}

template <class Real>
void dot(const Elements& elements, const Real* a, const Real* b, double* sums, Team& team) {
    split_work(team, elements.count(), [&](int, Index begin, Index end) {
        for (Index element = begin; element < end; ++element) {
            Real lanes[Elements::maximum_points] = {};
            in_lines<Real, own_width, 0>(
                elements, element, [&]<int W>(Index at, int i, Real share) { lanes[i] += share * (a[at] * b[at]); });
            sums[element] = total(lanes, elements.points());
        }
    });
}

template <class Real>
void set_boundary(const Elements& elements, Real* u, Team& team) {
    split_work(team, elements.count(), [&](int, Index begin, Index end) {
        for (Index element = begin; element < end; ++element) close(elements, element, u + element * elements.volume());
    });
}

#define TRADEWIND_NEKBONE(Real)                                                                                   \
    template void update(const Operator<Real>&, double, const Real*, Real*, Real*, Real*, double*, Team&);        \
    template void update_pipelined(const Operator<Real>&, double, double, Real*, const Pipelined<Real>&, double*, \
                                   Team&);                                                                        \
    template void complete(const Operator<Real>&, const Real*, Real*, Team&);                                     \
    template void dot(const Elements&, const Real*, const Real*, double*, Team&);                                 \
    template void set_boundary(const Elements&, Real*, Team&);
TRADEWIND_NEKBONE(float)
TRADEWIND_NEKBONE(double)
#undef TRADEWIND_NEKBONE

}  // namespace tradewind::kernel
