#pragma once

#include <atomic>
#include <string>

#include "recorder/library.hpp"

namespace tradewind::recorder {

/// A program or library that is loaded.
struct LoadedObject {
    Word base = 0;         // address 0 of its file
    std::string path;      // absolute
    std::string build_id;  // hexadecimal; "": it has none

    /// Whether it is a part of an MPI library, such as the wrappers of Fortran.
    bool is_mpi() const;
};

/// Returns the name of a file without its folder.
const char* file_name(const char* path);

/// Returns whether a part of an MPI library has such a name.
bool is_mpi_name(const char* name);

/// Changes whenever the program closes a library: from then on another one may be loaded at the same addresses.
extern std::atomic<unsigned> closings;

/// Finds the object that an address lies in; false where it lies in none, as code that was made while the program runs.
bool find_object(Word address, LoadedObject& object);

}  // namespace tradewind::recorder
