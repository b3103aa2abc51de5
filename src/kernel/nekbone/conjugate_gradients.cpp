#include "kernel/nekbone/conjugate_gradients.hpp"

#include "kernel/nekbone/element_loops.hpp"
#include "kernel/width.hpp"

namespace tradewind::kernel {

namespace {

// Sets the values on those sides of an element to 0 that are not open.
[[gnu::always_inline]] inline void close(const Elements& elements, Index element, double* u) {
    const unsigned closed = ~static_cast<unsigned>(elements.open(element));
    if (!(closed & 63U)) return;
    const int n = elements.points(), strides[3] = {1, n, n * n};
    for (int side = 0; side < 6; ++side) {
        if (!(closed >> side & 1U)) continue;
        const int across = strides[side / 2], a = strides[side < 2 ? 1 : 0], b = strides[side < 4 ? 2 : 1];
        double* first = u + (side % 2 ? (n - 1) * across : 0);
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) first[j * b + i * a] = 0;
    }
}

[[gnu::always_inline]] inline void close(const Operator& by, Index element, double* u) {
    if (element == 0 || !by.closes_first_only) close(*by.elements, element, u + element * by.elements->volume());
}

struct Update {
    const Operator* by;
    double alpha, beta;
    const double* p;
    double *out, *x, *r, *sums;
    double* q;
    const Pipelined* vectors;
};

// line(place, share of a plane, row of shares) for all lines of points of an element, in vectors.
template <int B, int N, class F>
[[gnu::always_inline]] inline void in_lines(const Elements& elements, Index element, const F& f) {
    constexpr int room = N > 0 ? N : Elements::maximum_points;
    const int n = N > 0 ? N : elements.points();
    double row[room], plane[room * room];
    elements.shares(element, row, plane);
    const Index first = element * elements.volume();
    for (int line = 0; line < n * n; ++line)
        along<B, N>(n, [&]<int W>(int i) __attribute__((always_inline)) {
            f.template operator()<W>(first + line * n + i, i, plane[line] * load<Vector<W>>(row + i));
        });
}

template <int W>
[[gnu::always_inline]] inline void add(double* sum, Vector<W> value) {
    store(sum, load<Vector<W>>(sum) + value);
}

[[gnu::always_inline]] inline double total(const double* lanes, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += lanes[i];
    return sum;
}

template <int B, int N>
[[gnu::always_inline]] inline void update_element(const Update& job, Index element) {
    const Elements& elements = *job.by->elements;
    const double shift = job.by->mass ? 0.0 : job.by->shift;
    close(*job.by, element, job.out);
    double lanes[N > 0 ? N : Elements::maximum_points] = {};
    in_lines<B, N>(elements, element, [&]<int W>(Index at, int i, Vector<W> share) __attribute__((always_inline)) {
        const Vector<W> p = load<Vector<W>>(job.p + at);
        store(job.x + at, load<Vector<W>>(job.x + at) + job.alpha * p);
        const Vector<W> r = load<Vector<W>>(job.r + at) - job.alpha * (load<Vector<W>>(job.out + at) + shift * p);
        store(job.r + at, r);
        add<W>(lanes + i, share * (r * r));
    });
    job.sums[element] = total(lanes, elements.points());
}

template <int B, int N>
[[gnu::always_inline]] inline void pipelined_element(const Update& job, Index element) {
    const Elements& elements = *job.by->elements;
    const double shift = job.by->mass ? 0.0 : job.by->shift, alpha = job.alpha, beta = job.beta;
    const Pipelined& v = *job.vectors;
    close(*job.by, element, job.q);
    constexpr int room = N > 0 ? N : Elements::maximum_points;
    double squares[room] = {}, products[room] = {};
    in_lines<B, N>(elements, element, [&]<int W>(Index at, int i, Vector<W> share) __attribute__((always_inline)) {
        const Vector<W> w = load<Vector<W>>(v.w + at), r = load<Vector<W>>(v.r + at);
        const Vector<W> z = (load<Vector<W>>(job.q + at) + shift * w) + beta * load<Vector<W>>(v.z + at);
        const Vector<W> s = w + beta * load<Vector<W>>(v.s + at), p = r + beta * load<Vector<W>>(v.p + at);
        const Vector<W> next_r = r - alpha * s, next_w = w - alpha * z;
        store(v.z + at, z);
        store(v.s + at, s);
        store(v.p + at, p);
        store(v.x + at, load<Vector<W>>(v.x + at) + alpha * p);
        store(v.r + at, next_r);
        store(v.w + at, next_w);
        add<W>(squares + i, share * (next_r * next_r));
        add<W>(products + i, share * (next_w * next_r));
    });
    job.sums[element] = total(squares, elements.points());
    job.sums[elements.count() + element] = total(products, elements.points());
}

void run_update(const Update& job, Index begin, Index end) {
    with_points<own_width>(job.by->elements->points(), [&]<int N>() __attribute__((always_inline)) {
        for (Index element = begin; element < end; ++element) update_element<own_width, N>(job, element);
    });
}

template <int B>
[[gnu::always_inline]] inline void run_pipelined_by(const Update& job, Index begin, Index end) {
    with_points<B>(job.by->elements->points(), [&]<int N>() __attribute__((always_inline)) {
        for (Index element = begin; element < end; ++element) pipelined_element<B, N>(job, element);
    });
}

TRADEWIND_BY_WIDTH(void, run_pipelined, (const Update& job, Index begin, Index end), (job, begin, end))

}  // namespace

void update(const Operator& by, double alpha, const double* p, double* out, double* x, double* r, double* sums,
            Team& team) {
    const Update job{&by, alpha, 0, p, out, x, r, sums, nullptr, nullptr};
    split_work(team, by.elements->count(), [&](int, Index begin, Index end) { run_update(job, begin, end); });
}

void update_pipelined(const Operator& by, double alpha, double beta, double* q, const Pipelined& vectors, double* sums,
                      Team& team) {
    const Update job{&by, alpha, beta, nullptr, nullptr, nullptr, nullptr, sums, q, &vectors};
    split_work(team, by.elements->count(), [&](int, Index begin, Index end) { run_pipelined(job, begin, end); });
}

void complete(const Operator& by, const double* p, double* out, Team& team) {
    const double shift = by.mass ? 0.0 : by.shift;
    const Index volume = by.elements->volume();
    split_work(team, by.elements->count(), [&](int, Index begin, Index end) {
        for (Index element = begin; element < end; ++element) {
            double* to = out + element * volume;
            for (Index i = 0; i < volume; ++i) to[i] += shift * p[element * volume + i];
            close(by, element, out);
        }
    });
}

void dot(const Elements& elements, const double* a, const double* b, double* sums, Team& team) {
    split_work(team, elements.count(), [&](int, Index begin, Index end) {
        for (Index element = begin; element < end; ++element) {
            double lanes[Elements::maximum_points] = {};
            in_lines<own_width, 0>(elements, element,
                                   [&]<int W>(Index at, int i, double share) { lanes[i] += share * (a[at] * b[at]); });
            sums[element] = total(lanes, elements.points());
        }
    });
}

void set_boundary(const Elements& elements, double* u, Team& team) {
    split_work(team, elements.count(), [&](int, Index begin, Index end) {
        for (Index element = begin; element < end; ++element) close(elements, element, u + element * elements.volume());
    });
}

}  // namespace tradewind::kernel
