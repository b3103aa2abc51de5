#include "mpi/device/trial.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "base/error.hpp"

namespace tradewind::mpi {

namespace {

constexpr const char *variable = "TRADEWIND_DEVICE_MPI", *program = "tradewind-device-trial";
constexpr unsigned patience_s = 60;  // a trial that waits longer is taken for one that failed

// Beside the library or module that this code is in.
std::string program_path() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&device_mpi), &info) == 0 || !info.dli_fname) return "";
    const std::string own = info.dli_fname;
    return own.substr(0, own.rfind('/') + 1) + program;
}

bool begins(const char* text, const char* prefix) {
    return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

// Parameters of Open MPI are the user's, but for those by which its launcher makes a process a rank.
bool of_launcher(const char* entry) {
    for (const char* const kept : {"OMPI_ALLOW_", "OMPI_MCA_"})
        if (begins(entry, kept)) return begins(entry, "OMPI_MCA_ess") || begins(entry, "OMPI_MCA_orte_");
    for (const char* const prefix :
         {"PMI_", "PMIX_", "PMI2_", "OMPI_", "PRTE_", "HYDRA_", "HYDI_", "MPI_LOCAL", "MPIEXEC"})
        if (begins(entry, prefix)) return true;
    return false;
}

// The environment of this process without that of its launcher: the child is a program of one rank.
std::vector<char*> environment_of_child() {
    std::vector<char*> kept;
    for (char** entry = environ; *entry; ++entry)
        if (!of_launcher(*entry)) kept.push_back(*entry);
    kept.push_back(nullptr);
    return kept;
}

DeviceMpi of_variable(const char* value) {
    if (std::strcmp(value, "direct") == 0) return {true, std::string(variable) + " is set"};
    if (std::strcmp(value, "staged") == 0) return {false, std::string(variable) + " is set"};
    throw InputError(std::string(variable) + "=" + value + ": direct and staged are allowed");
}

DeviceMpi tried(DriverKind kind, int device) {
    const std::string path = program_path(), number = std::to_string(device);
    if (path.empty() || access(path.c_str(), X_OK) != 0) return {false, "the program of the trial is missing: " + path};
    std::array<const char*, 4> arguments{path.c_str(), kind == DriverKind::cuda ? "cuda" : "rocm", number.c_str(),
                                         nullptr};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})  // its end is not this program's to report
        posix_spawn_file_actions_addopen(&files, file, "/dev/null", O_RDWR, 0);
    pid_t child = 0;
    std::vector<char*> environment = environment_of_child();
    const int failed =
        posix_spawn(&child, path.c_str(), &files, nullptr, const_cast<char**>(arguments.data()), environment.data());
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) return {false, std::string("the trial could not be started: ") + std::strerror(failed)};
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return {false, "the end of the trial was not seen"};
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {true, "found by trying"};
    if (WIFSIGNALED(status))
        return {false, "MPI does not take pointers of the device: the trial ended by signal " +
                           std::to_string(WTERMSIG(status))};
    return {false, "MPI does not take pointers of the device: the trial ended with code " +
                       std::to_string(WEXITSTATUS(status))};
}

}  // namespace

const DeviceMpi& device_mpi(DriverKind kind, int device) {
    static std::mutex mutex;
    static std::map<std::pair<DriverKind, int>, DeviceMpi> known;
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = known.find({kind, device});
    if (found != known.end()) return found->second;
    const char* const value = std::getenv(variable);
    return known[{kind, device}] = value && *value ? of_variable(value) : tried(kind, device);
}

int try_device_mpi(DriverKind kind, int device) {
    alarm(patience_s);
    const Driver& driver = Driver::of(kind);
    Context context = nullptr;
    driver.check(driver.retain_context(&context, device), "using a device");
    driver.check(driver.push_context(context), "using a device");
    MPI_Init(nullptr, nullptr);
    int wrong = 0;
    for (const int bytes : {64, 1 << 20}) {  // sent at once, and when they are received
        const auto size = static_cast<std::size_t>(bytes);
        std::vector<unsigned char> sent(size), came(size);
        for (std::size_t i = 0; i < size; ++i) sent[i] = static_cast<unsigned char>(i % 251 + 1);
        std::byte *from = nullptr, *to = nullptr;
        const Stream stream = driver.default_stream();
        for (std::byte** const memory : {&from, &to}) driver.check(driver.allocate(memory, size), "allocating memory");
        driver.check(driver.to_device(from, sent.data(), size, stream), "copying from the host");
        driver.check(driver.fill(to, 0, size, stream), "clearing memory");
        driver.check(driver.wait_for_stream(stream), "waiting for copies");
        std::array<MPI_Request, 2> requests{};
        MPI_Irecv(to, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(from, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
        driver.check(driver.to_host(came.data(), to, size, stream), "copying to the host");
        driver.check(driver.wait_for_stream(stream), "waiting for copies");
        wrong += came != sent;
    }
    MPI_Finalize();
    return wrong;
}

}  // namespace tradewind::mpi
