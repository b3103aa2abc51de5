#pragma once

#include <mpi.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace tradewind::mpi {

// A plan was used in a way that it cannot be, or MPI failed while it ran. Says which rank, and what it did.
class PlanError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

inline std::string mpi_error_text(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return "MPI error " + std::to_string(code);
    return {text, static_cast<std::size_t>(length)};
}

// The text of a wait that took too long.
inline std::string timed_out(const std::string& where, double limit_s, const std::string& waited_for) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", limit_s);
    return where + ": after " + seconds + " s still waiting for " + waited_for;
}

// `doing` returns what was attempted; it is only called when that failed.
template <typename Doing>
void check(int code, Doing doing) {
    if (code != MPI_SUCCESS) throw PlanError(doing() + ": " + mpi_error_text(code));
}

}  // namespace tradewind::mpi
