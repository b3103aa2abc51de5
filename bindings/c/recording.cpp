// Recordings of what plans do, as program files.
#include "mpi/recording.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/write_error.hpp"
#include "communicator.hpp"
#include "objects.hpp"

using namespace tradewind;
using namespace tradewind::c;

namespace {

// Writes a whole file or none. Returns the problem, "" without one.
std::string written(const std::string& path, const std::string& text) {
    const std::string beside = path + ".part";
    std::FILE* const file = std::fopen(beside.c_str(), "wb");
    if (!file) return path + ": " + std::strerror(errno);
    bool whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    std::string problem = whole ? "" : std::strerror(errno);
    if (std::fclose(file) != 0 && whole) {
        whole = false;
        problem = std::strerror(errno);
    }
    if (whole && std::rename(beside.c_str(), path.c_str()) == 0) return "";
    if (whole) problem = std::strerror(errno);
    std::remove(beside.c_str());
    return path + ": " + problem;
}

}  // namespace

tw_status tw_record_begin(MPI_Comm comm) {
    return guarded([&] {
        require_communicator(comm);
        mpi::record_begin(comm);
    });
}

tw_status tw_record_begin_f(MPI_Fint comm) {
    return guarded([&] {
        require_mpi();
        const MPI_Comm own = MPI_Comm_f2c(comm);
        require_communicator(own);
        mpi::record_begin(own);
    });
}

tw_status tw_record_end(const char* path) {
    return guarded([&] {
        require_mpi();
        const std::string problem = path && *path ? "" : "path is empty: the name of a file is allowed";
        if (const std::string failure =
                mpi::record_to(problem, [&](const std::string& text) { return written(path, text); });
            !failure.empty())
            throw WriteError("a recorded program could not be written: " + failure);
    });
}
