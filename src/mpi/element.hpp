#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "base/units.hpp"

namespace tradewind::mpi {

// The type of one element, by its NumPy name.
enum class Element : std::uint8_t { f4, f8, i4, i8, c8, c16 };

inline constexpr std::array<const char*, 6> element_names{"f4", "f8", "i4", "i8", "c8", "c16"};
inline constexpr std::array<Index, 6> element_bytes{4, 8, 4, 8, 8, 16};

inline Index bytes_of(Element e) {
    return element_bytes[static_cast<std::size_t>(e)];
}
inline const char* name_of(Element e) {
    return element_names[static_cast<std::size_t>(e)];
}

inline Element parse_element(const std::string& name) {
    for (std::size_t i = 0; i < element_names.size(); ++i)
        if (name == element_names[i]) return static_cast<Element>(i);
    throw InputError("element type \"" + name + "\": f4, f8, i4, i8, c8 and c16 are allowed");
}

}  // namespace tradewind::mpi
