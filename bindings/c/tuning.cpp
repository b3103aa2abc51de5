#include "tuning.hpp"

#include <sys/stat.h>
#include <sys/utsname.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>

#include "base/error.hpp"

namespace tradewind::c {

namespace {

// Without the blanks around it, and one for several within.
std::string in_one_line(const std::string& text) {
    std::istringstream words(text.substr(0, text.find_first_of("\r\n")));
    std::string line, word;
    while (words >> word) line += (line.empty() ? "" : " ") + word;
    return line;
}

// As the system gives it.
std::string cpu_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(':');
        if (!line.starts_with("model name") || colon == std::string::npos) continue;
        const std::size_t first = line.find_first_not_of(" \t", colon + 1);
        return first == std::string::npos ? "" : line.substr(first, line.find_last_not_of(" \t") - first + 1);
    }
    utsname names{};  // no such file on this system: the next best name
    return uname(&names) == 0 ? names.machine : "";
}

std::string library_name() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    return in_one_line(text.data());  // Open MPI counts the null at the end, too
}

// A model makes many plans, and the file stays the same: the one that was read last is kept.
struct Kept {
    std::mutex mutex;
    std::string path;
    std::array<std::int64_t, 4> version{};  // time of its last change, its number in the file system, bytes
    std::vector<algorithm::TuningEntry> entries;
};

std::vector<algorithm::TuningEntry> entries_of(const std::string& path) {
    static auto& kept = *new Kept;
    struct stat found{};
    std::ifstream file(path, std::ios::binary);
    if (!file || stat(path.c_str(), &found) != 0 || S_ISDIR(found.st_mode))
        throw InputError("cannot read " + path + ": " + std::strerror(S_ISDIR(found.st_mode) ? EISDIR : errno));
    const std::array<std::int64_t, 4> version{found.st_mtim.tv_sec, found.st_mtim.tv_nsec,
                                              static_cast<std::int64_t>(found.st_ino), found.st_size};
    const std::lock_guard<std::mutex> lock(kept.mutex);
    if (kept.path == path && kept.version == version) return kept.entries;
    std::ostringstream text;
    text << file.rdbuf();
    kept.entries = algorithm::read_tuning(text.str(), path);
    kept.path = path;
    kept.version = version;
    return kept.entries;
}

}  // namespace

algorithm::Host host_of(MPI_Comm comm) {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int here = 0, maximum = 0;
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    MPI_Allreduce(&here, &maximum, 1, MPI_INT, MPI_MAX, comm);
    return {cpu_name(), library_name(), maximum};
}

std::optional<algorithm::TunedMethod> method_of_file(const std::string& variable, const pattern::Pattern& pattern,
                                                     const std::string& element, Index fields,
                                                     const std::string& memory, const algorithm::Host& host) {
    try {
        const algorithm::TuningSource source = algorithm::parse_tuning_source(variable);
        return algorithm::tuned_method(source, entries_of(source.path), pattern, element, fields, memory, host);
    } catch (const InputError& error) {
        throw InputError("TRADEWIND_TUNING='" + variable + "': " + error.what());
    }
}

}  // namespace tradewind::c
