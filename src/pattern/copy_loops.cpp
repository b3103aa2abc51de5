#include <complex>
#include <limits>
#include <type_traits>

#include "base/combine.hpp"
#include "base/error.hpp"
#include "pattern/copies.hpp"

namespace tradewind::pattern {

namespace {

// x op neutral has the bits of x: so the zero of a sum is negative.
template <Operation operation, class T>
T neutral() {
    if constexpr (operation == Operation::prod)
        return T(1);
    else if constexpr (std::is_integral_v<T>)
        return operation == Operation::sum   ? T(0)
               : operation == Operation::min ? std::numeric_limits<T>::max()
                                             : std::numeric_limits<T>::min();
    else if constexpr (std::is_floating_point_v<T>)
        return operation == Operation::sum   ? T(-0.0)
               : operation == Operation::min ? std::numeric_limits<T>::infinity()
                                             : -std::numeric_limits<T>::infinity();
    else
        return T(-0.0, -0.0);
}

// Elements at a constant distance; where that is their size the compiler knows it.
template <class T, bool dense>
struct Elements {
    std::byte* data;
    Index stride;
    T& operator[](Index i) const {
        if constexpr (dense)
            return reinterpret_cast<T*>(data)[i];
        else
            return *reinterpret_cast<T*>(data + i * stride);
    }
    Elements from(Index i) const {
        if constexpr (dense)
            return {data + i * static_cast<Index>(sizeof(T)), stride};
        else
            return {data + i * stride, stride};
    }
};

// Types whose loops over elements beside each other are compiled for themselves; complex numbers, which make no
// vectors, take those for any distance.
template <class T>
constexpr bool has_dense = std::is_arithmetic_v<T>;

// Calls body(place offset, cell) for each group of a sweep; in dense arrays, steps that are 1 are constants in the
// inner loop.
template <bool dense, class Body>
void each_group(const Copies::Sweep& s, Body body) {
    for (Index j = 0; j < s.count[1]; ++j) {
        const Index place = j * s.step[1], cell = s.cell + j * s.cell_step[1];
        if (dense && s.step[0] == 1 && s.cell_step[0] == 1) {
            for (Index i = 0; i < s.count[0]; ++i) body(place + i, cell + i);
        } else {
            for (Index i = 0; i < s.count[0]; ++i) body(place + i * s.step[0], cell + i * s.cell_step[0]);
        }
    }
}

template <class T>
bool is_dense(Line array) {
    return array.stride == static_cast<Index>(sizeof(T));
}

template <class T, bool dense>
void scatter_to(const Copies& c, const Elements<T, dense>& f, const T* cells) {
    for (const Copies::Sweep& s : c.sweeps())
        for (std::size_t k = 0; k < s.size; ++k) {
            const Elements<T, dense> at = f.from(c.places()[s.first + k]);
            each_group<dense>(s, [&](Index offset, Index cell) { at[offset] = cells[cell]; });
        }
    for (const Copies::List& list : c.lists()) {
        const Index *places = c.places() + list.first, *cell = c.cells() + list.first_cell;
        for (std::size_t k = 0; k < list.size; ++k)
            for (std::size_t i = 0; i < list.count; ++i) f[places[k * list.count + i]] = cells[cell[i]];
    }
}

template <class T>
void scatter(const Copies& copies, Line array, const std::byte* cells) {
    const T* const from = reinterpret_cast<const T*>(cells);
    if constexpr (has_dense<T>)
        if (is_dense<T>(array)) return scatter_to<T, true>(copies, {array.data, array.stride}, from);
    scatter_to<T, false>(copies, {array.data, array.stride}, from);
}

template <class T, Operation operation>
struct Loops {
    static constexpr auto op = combined<operation, T>;

    template <bool dense>
    struct On {
        using Array = Elements<T, dense>;

        static T combined(const Array& f, const Index* places, std::size_t size, Index offset) {
            T sum = f[places[0] + offset];
            for (std::size_t k = 1; k < size; ++k) sum = op(sum, f[places[k] + offset]);
            return sum;
        }
        static T combined_of(const Array& f, const Index* places, std::size_t size, std::size_t apart) {
            T sum = f[places[0]];
            for (std::size_t k = 1; k < size; ++k) sum = op(sum, f[places[k * apart]]);
            return sum;
        }

        // The places of different groups are different ones.
        static void combine_pairs(const Copies::Sweep& s, const Index* places, const Array& f) {
            for (Index j = 0; j < s.count[1]; ++j) {
                const Array a = f.from(places[0] + j * s.step[1]), b = f.from(places[1] + j * s.step[1]);
                const auto pair = [&](Index i) {
                    const T sum = op(a[i], b[i]);
                    a[i] = sum;
                    b[i] = sum;
                };
                if (dense && s.step[0] == 1)
                    for (Index i = 0; i < s.count[0]; ++i) pair(i);
                else
                    for (Index i = 0; i < s.count[0]; ++i) pair(i * s.step[0]);
            }
        }

        static void combine(const Copies& c, const Array& f) {
            for (const Copies::Sweep& s : c.sweeps()) {
                const Index* places = c.places() + s.first;
                if (s.size == 2) {
                    combine_pairs(s, places, f);
                    continue;
                }
                each_group<dense>(s, [&](Index offset, Index) {
                    const T sum = combined(f, places, s.size, offset);
                    for (std::size_t k = 0; k < s.size; ++k) f[places[k] + offset] = sum;
                });
            }
            for (const Copies::List& list : c.lists()) {
                const Index* places = c.places() + list.first;
                for (std::size_t i = 0; i < list.count; ++i) {
                    const T sum = combined_of(f, places + i, list.size, list.count);
                    for (std::size_t k = 0; k < list.size; ++k) f[places[k * list.count + i]] = sum;
                }
            }
        }

        static void gather(const Copies& c, const Array& f, T* cells) {
            for (const Copies::Sweep& s : c.sweeps()) {
                const Index* places = c.places() + s.first;
                if (s.size == 1)
                    each_group<dense>(
                        s, [&, place = places[0]](Index offset, Index cell) { cells[cell] = f[place + offset]; });
                else if (s.size == 2)
                    each_group<dense>(s, [&, a = places[0], b = places[1]](Index offset, Index cell) {
                        cells[cell] = op(f[a + offset], f[b + offset]);
                    });
                else
                    each_group<dense>(
                        s, [&](Index offset, Index cell) { cells[cell] = combined(f, places, s.size, offset); });
            }
            for (const Copies::List& list : c.lists()) {
                const Index *places = c.places() + list.first, *cell = c.cells() + list.first_cell;
                for (std::size_t i = 0; i < list.count; ++i)
                    cells[cell[i]] = combined_of(f, places + i, list.size, list.count);
            }
        }
    };

    static void combine(const Copies& copies, Line array) {
        if constexpr (has_dense<T>)
            if (is_dense<T>(array)) return On<true>::combine(copies, {array.data, array.stride});
        On<false>::combine(copies, {array.data, array.stride});
    }
    static void gather(const Copies& copies, Line array, std::byte* cells) {
        T* const to = reinterpret_cast<T*>(cells);
        if constexpr (has_dense<T>)
            if (is_dense<T>(array)) return On<true>::gather(copies, {array.data, array.stride}, to);
        On<false>::gather(copies, {array.data, array.stride}, to);
    }
    static void fold(std::span<const Fold> folds, std::byte* cells, const std::byte* received) {
        const T* from = reinterpret_cast<const T*>(received);
        for (const Fold& f : folds) {
            T* const own = reinterpret_cast<T*>(cells) + f.cell;
            if (f.parts.size() == 1) {
                const T* other = from + f.parts[0];
                if (f.own == 0)
                    for (Index i = 0; i < f.length; ++i) own[i] = op(own[i], other[i]);
                else
                    for (Index i = 0; i < f.length; ++i) own[i] = op(other[i], own[i]);
                continue;
            }
            for (Index i = 0; i < f.length; ++i) {
                T sum = f.own == 0 ? own[i] : from[f.parts[0] + i];
                for (std::size_t k = f.own == 0 ? 0 : 1; k < f.parts.size(); ++k) {
                    if (k == f.own && k > 0) sum = op(sum, own[i]);
                    sum = op(sum, from[f.parts[k] + i]);
                }
                own[i] = f.own == f.parts.size() ? op(sum, own[i]) : sum;
            }
        }
    }
    static void clear(std::byte* cells, Index count) {
        std::fill_n(reinterpret_cast<T*>(cells), count, neutral<operation, T>());
    }
    static constexpr CopyLoops loops{combine, gather, scatter<T>, fold, clear};
};

template <class T>
const CopyLoops& of_type(const std::string& element, const std::string& operation) {
    if (operation == "add") return Loops<T, Operation::sum>::loops;
    if (operation == "mul") return Loops<T, Operation::prod>::loops;
    if constexpr (std::is_arithmetic_v<T>) {
        if (operation == "min") return Loops<T, Operation::min>::loops;
        if (operation == "max") return Loops<T, Operation::max>::loops;
    } else if (operation == "min" || operation == "max") {
        throw InputError("the " + operation + " of complex numbers (" + element +
                         ") is not defined: add and mul are allowed");
    }
    throw InputError("operation \"" + operation + "\": add, mul, min and max are allowed");
}

}  // namespace

const CopyLoops& copy_loops(const std::string& element, const std::string& operation) {
    if (element == "f4") return of_type<float>(element, operation);
    if (element == "f8") return of_type<double>(element, operation);
    if (element == "i4") return of_type<std::int32_t>(element, operation);
    if (element == "i8") return of_type<std::int64_t>(element, operation);
    if (element == "c8") return of_type<std::complex<float>>(element, operation);
    if (element == "c16") return of_type<std::complex<double>>(element, operation);
    throw InputError("element type \"" + element + "\": f4, f8, i4, i8, c8 and c16 are allowed");
}

}  // namespace tradewind::pattern
