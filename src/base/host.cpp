#include "base/host.hpp"

#include <sys/utsname.h>

#include <fstream>

#include "base/text.hpp"

namespace tradewind {

std::vector<std::string> differences(const Host& host, const Host& other) {
    std::vector<std::string> found;
    if (host.cpu != other.cpu) found.push_back("the processor is " + host.cpu + ", not " + other.cpu);
    if (host.mpi != other.mpi) found.push_back("the MPI library is " + host.mpi + ", not " + other.mpi);
    if (host.ranks_per_node != other.ranks_per_node)
        found.push_back(std::to_string(host.ranks_per_node) + " ranks share a node, not " +
                        std::to_string(other.ranks_per_node));
    return found;
}

std::string cpu_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(':');
        if (!line.starts_with("model name") || colon == std::string::npos) continue;
        return trimmed(line.substr(colon + 1));
    }
    utsname names{};  // no such file on this system: the next best name
    return uname(&names) == 0 ? names.machine : "";
}

}  // namespace tradewind
