#include "mpi/reduce.hpp"

#include <array>
#include <complex>
#include <type_traits>

namespace tradewind::mpi {

namespace {

constexpr std::array<const char*, 4> operation_names{"sum", "min", "max", "prod"};

template <Operation operation, typename T>
void combine(std::byte* into, const std::byte* left, const std::byte* right, Index count) {
    auto* out = reinterpret_cast<T*>(into);
    const auto* a = reinterpret_cast<const T*>(left);
    const auto* b = reinterpret_cast<const T*>(right);
    for (Index i = 0; i < count; ++i) out[i] = combined<operation>(a[i], b[i]);
}

template <typename T>
Combine of_type(Operation operation) {
    switch (operation) {
        case Operation::sum: return combine<Operation::sum, T>;
        case Operation::prod: return combine<Operation::prod, T>;
        default: break;
    }
    if constexpr (std::is_arithmetic_v<T>)
        return operation == Operation::min ? combine<Operation::min, T> : combine<Operation::max, T>;
    throw InputError(std::string("the ") + name_of(operation) +
                     " of complex numbers is not defined: sum and prod are allowed");
}

}  // namespace

Operation parse_operation(const std::string& name) {
    for (std::size_t i = 0; i < operation_names.size(); ++i)
        if (name == operation_names[i]) return static_cast<Operation>(i);
    throw InputError("operation \"" + name + "\": sum, min, max and prod are allowed");
}

const char* name_of(Operation operation) {
    return operation_names[static_cast<std::size_t>(operation)];
}

Combine combine_function(Element element, Operation operation) {
    switch (element) {
        case Element::f4: return of_type<float>(operation);
        case Element::f8: return of_type<double>(operation);
        case Element::i4: return of_type<std::int32_t>(operation);
        case Element::i8: return of_type<std::int64_t>(operation);
        case Element::c8: return of_type<std::complex<float>>(operation);
        case Element::c16: return of_type<std::complex<double>>(operation);
    }
    throw InputError("unknown element type");
}

}  // namespace tradewind::mpi
