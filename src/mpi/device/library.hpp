// Libraries of the makers of devices, loaded at run time: nothing of them is needed to build.
#pragma once

#include <dlfcn.h>

#include <string>
#include <vector>

#include "base/error.hpp"

namespace tradewind::mpi {

// By the names of their files, the newest first.
using Libraries = std::vector<const char*>;

inline std::string listed(const Libraries& libraries) {
    std::string names;
    for (const char* name : libraries) names += (names.empty() ? "" : ", ") + std::string(name);
    return names;
}

// The first that can be loaded; null where none can.
inline void* load(const Libraries& libraries, int flags) {
    for (const char* name : libraries)
        if (void* const library = dlopen(name, flags)) return library;
    return nullptr;
}

// Throws InputError where a library has no such function.
template <typename Pointer>
void find(void* library, const char* name, Pointer& function) {
    void* const found = dlsym(library, name);
    if (!found) throw InputError(std::string("the library of the device has no function ") + name);
    function = reinterpret_cast<Pointer>(found);
}

}  // namespace tradewind::mpi
