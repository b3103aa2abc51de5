#include "mpi/packing/add.hpp"

#include <complex>
#include <type_traits>

namespace tradewind::mpi {

namespace {

template <typename T>
T sum(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;  // signed overflow is undefined
        return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    } else {
        return a + b;
    }
}

template <typename T>
void add(const StridedCopy& c) {
    const Index elements = c.run / static_cast<Index>(sizeof(T));
    for (Index k = 0; k < c.count[2]; ++k)
        for (Index j = 0; j < c.count[1]; ++j)
            for (Index i = 0; i < c.count[0]; ++i) {
                const std::byte* from = c.from + k * c.from_stride[2] + j * c.from_stride[1] + i * c.from_stride[0];
                std::byte* to = c.to + k * c.to_stride[2] + j * c.to_stride[1] + i * c.to_stride[0];
                for (Index p = 0; p < c.places; ++p) {
                    const auto* values = reinterpret_cast<const T*>(from + c.from_places.of(p));
                    auto* sums = reinterpret_cast<T*>(to + c.to_places.of(p));
                    for (Index e = 0; e < elements; ++e) sums[e] = sum(sums[e], values[e]);
                }
            }
}

}  // namespace

void choose_adding(StridedCopy& copy) {
    switch (copy.element) {
        case Element::f4: copy.execute = add<float>; return;
        case Element::f8: copy.execute = add<double>; return;
        case Element::i4: copy.execute = add<std::int32_t>; return;
        case Element::i8: copy.execute = add<std::int64_t>; return;
        case Element::c8: copy.execute = add<std::complex<float>>; return;
        case Element::c16: copy.execute = add<std::complex<double>>; return;
    }
}

}  // namespace tradewind::mpi
