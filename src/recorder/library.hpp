#pragma once

#include <cstddef>
#include <cstdint>

#define TRADEWIND_EXPORTED __attribute__((visibility("default")))

/// The MPI library of the process, without its header: arguments are machine words, functions are found by name.
namespace tradewind::recorder {

/// An argument of an MPI function: a number, a pointer or a handle. The upper half of an int is undefined.
using Word = std::uintptr_t;

/// How a status keeps its bytes: 31 and 32 bits at its begin with a bit for cancelled requests, 64 bits at 16, or as
/// the library likes.
enum class StatusBytes { SPLIT, WHOLE, ASK };

/// Where and how an MPI library keeps what its header defines.
struct Abi {
    const char* name;
    std::size_t handle_size;
    std::size_t status_size;
    int status_source, status_tag;  // offsets
    StatusBytes status_bytes;
    int any_source, any_tag, proc_null, root;
    Word status_ignore, in_place;
    Word byte;  // MPI_BYTE where it is a number
    Word world, self, null_communicator, null_request, null_type;
    int combiner_named, cart, graph, dist_graph;
    int lock_exclusive, thread_funneled, thread_serialized, thread_multiple;
    static constexpr int invalid_count = 2;  // error class, of all libraries
    int unsupported = 1;                     // error class; of no library any that is not success
};

/// Returns the constants of the library. Valid once find() has returned an address.
const Abi& abi();

/// Returns the address of a function of the MPI library that is loaded, or null.
void* find(const char* name);

/// Calls a function PMPI_X of the library that is known to exist, with arguments that are words.
template <class... Arguments>
int call(const char* name, Arguments... arguments) {
    using Function = int(Arguments...);
    return reinterpret_cast<Function*>(find(name))(arguments...);
}

/// A function of the library, found when it is first called. `fallback`: its form without large counts.
template <class Type>
struct Real {
    const char* name;
    const char* fallback;
    Type* function = nullptr;
    bool is_fallback = false;

    /// Returns whether the library has it.
    bool resolve() {
        if (function == nullptr) {
            void* found = find(name);
            if (found == nullptr && fallback != nullptr) {
                found = find(fallback);
                is_fallback = true;
            }
            function = reinterpret_cast<Type*>(found);
        }
        return function != nullptr;
    }
};

/// Returns a handle that was passed by value.
inline Word handle(Word word) {
    return abi().handle_size == 4 ? static_cast<std::uint32_t>(word) : word;
}

/// Returns the handle at an address, at position `index` of an array.
inline Word handle_at(Word address, std::size_t index = 0) {
    if (abi().handle_size == 4) return reinterpret_cast<const std::uint32_t*>(address)[index];
    return reinterpret_cast<const Word*>(address)[index];
}

/// Returns whether a number of 64 bits fits into an int.
inline bool is_int(Word word) {
    const auto value = static_cast<std::int64_t>(word);
    return value == static_cast<int>(value);
}

inline int int_of(Word word) {
    return static_cast<int>(word);
}
inline int int_at(Word address, std::size_t index = 0) {
    return reinterpret_cast<const int*>(address)[index];
}

}  // namespace tradewind::recorder
