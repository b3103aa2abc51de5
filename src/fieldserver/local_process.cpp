#include "fieldserver/local_process.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "fieldserver/silence.hpp"

namespace tradewind::fieldserver {

namespace {

constexpr int channel = 3;           // the file of the socket in the process
constexpr double killed_s = 10;      // between a signal that ends it and its end
constexpr double announced_s = 0.5;  // between the end of its socket and its own

// Begins of the names of variables by which a launcher and an MPI library make a process a rank of a job, and of those
// that load further libraries.
constexpr std::array foreign{"PMI", "OMPI_",  "PRTE_", "ORTE_", "OPAL_",      "HYD",
                             "MPI", "I_MPI_", "MV2_",  "PALS_", "LD_PRELOAD="};

using Words = std::vector<std::string>;

std::vector<char*> pointers(Words& words) {
    std::vector<char*> found;
    for (std::string& word : words) found.push_back(word.data());
    found.push_back(nullptr);
    return found;
}

bool is_executable(const std::string& path) {
    return access(path.c_str(), X_OK) == 0;
}

// The program of the Python environment in which this library is: bin/tradewind beside
// lib/pythonX.Y/site-packages/tradewind/lib. "" where it is elsewhere.
std::string installed_program() {
    Dl_info found{};
    if (dladdr(reinterpret_cast<const void*>(&installed_program), &found) == 0 || !found.dli_fname) return "";
    const std::string library = found.dli_fname;
    const std::size_t slash = library.rfind('/');
    if (slash == std::string::npos) return "";
    return library.substr(0, slash) + "/../../../../../bin/tradewind";
}

std::string program_in_path() {
    const char* path = std::getenv("PATH");
    std::string_view folders = path ? path : "";
    while (!folders.empty()) {
        const std::size_t end = std::min(folders.find(':'), folders.size());
        const std::string program = std::string(folders.substr(0, end)) + "/tradewind";
        if (end > 0 && is_executable(program)) return program;
        folders.remove_prefix(std::min(end + 1, folders.size()));
    }
    return "";
}

Words command() {
    const Words serve{"serve", "--channel", std::to_string(channel)};
    Words found;
    if (const char* python = std::getenv("TRADEWIND_PYTHON"); python && *python)
        found = {python, "-P", "-m", "tradewind"};
    else if (const std::string installed = installed_program(); is_executable(installed))
        found = {installed};
    else if (const std::string program = program_in_path(); !program.empty())
        found = {program};
    else
        throw InputError(
            "no program tradewind for a local server: name in TRADEWIND_PYTHON the Python that Tradewind is installed "
            "in, or add the folder of tradewind to PATH");
    found.insert(found.end(), serve.begin(), serve.end());
    return found;
}

Words environment() {
    Words kept;
    for (char** each = environ; *each; ++each) {
        const std::string_view variable = *each;
        const auto begins = [&](const char* name) { return variable.rfind(name, 0) == 0; };
        if (std::none_of(foreign.begin(), foreign.end(), begins)) kept.emplace_back(variable);
    }
    return kept;
}

// The files of this process but the standard ones.
std::vector<int> open_files() {
    std::vector<int> found;
    DIR* folder = opendir("/proc/self/fd");
    if (!folder) throw InputError("a local server needs the folder /proc/self/fd, which this system does not have");
    while (const dirent* entry = readdir(folder)) {
        const int file = std::atoi(entry->d_name);
        if (file > STDERR_FILENO && file != dirfd(folder)) found.push_back(file);
    }
    closedir(folder);
    return found;
}

// Model and server each keep a file open for each whole field between them, and often no more than 1024 are allowed
// unless a process asks for more.
void allow_more_files() {
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);  // where that is refused, the error of a file that cannot be opened is met then
}

// Starts a command whose file `channel` is `socket`, without `others`; returns its process, or -1 and the reason in
// errno.
pid_t spawn(Words words, Words variables, int socket, const std::vector<int>& others) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, socket, channel);
    for (const int file : others)
        if (file != channel) posix_spawn_file_actions_addclose(&files, file);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    pid_t process = -1;
    const int problem = posix_spawnp(&process, words[0].c_str(), &files, &attributes, pointers(words).data(),
                                     pointers(variables).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    errno = problem;
    return problem == 0 ? process : -1;
}

double clock_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void wait_a_little() {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

LocalProcess::LocalProcess(double patience_s) : patience_s_(patience_s) {
    const Words words = command(), variables = environment();
    const std::vector<int> others = open_files();
    allow_more_files();
    std::array<int, 2> ends{-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw InputError(std::string("a socket to a local server: ") + std::strerror(errno));
    process_ = spawn(words, variables, ends[1], others);
    const std::string problem = process_ < 0 ? std::strerror(errno) : "";
    close(ends[1]);
    socket_ = ends[0];
    if (process_ >= 0) return;
    close(socket_);
    throw InputError("a local server: cannot start " + words[0] + ": " + problem);
}

LocalProcess::~LocalProcess() {
    finish({});
    close(socket_);
}

void LocalProcess::finish(std::string_view orders) {
    Silence silence(patience_s_, clock_s());
    std::array<char, 1 << 12> bytes;
    for (bool is_open = true; !has_ended(); wait_a_little()) {
        while (recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) silence.end(clock_s());
        while (!orders.empty()) {
            const ssize_t gone = send(socket_, orders.data(), orders.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
            if (gone < 0 && errno == EAGAIN) break;
            if (gone < 0 && errno != EINTR) orders = {};  // it has closed its socket
            if (gone > 0) orders.remove_prefix(static_cast<std::size_t>(gone));
        }
        if (is_open && orders.empty()) {
            shutdown(socket_, SHUT_WR);
            is_open = false;
        }
        if (silence.is_too_long(true, clock_s())) return kill();
    }
}

void LocalProcess::kill() {
    if (!ended_) ::kill(process_, SIGKILL);
    wait(killed_s);
}

bool LocalProcess::has_ended() {
    while (!ended_) {
        const pid_t found = waitpid(process_, &status_, WNOHANG);
        if (found < 0 && errno == EINTR) continue;
        if (found < 0) status_ = -1;  // the model has its ends taken by the system
        if (found == 0) return false;
        ended_ = true;
    }
    return true;
}

// Returns whether it has ended within a time.
bool LocalProcess::wait(double seconds) {
    const double end = clock_s() + seconds;
    while (!has_ended()) {
        if (clock_s() > end) return false;
        wait_a_little();
    }
    return true;
}

std::string LocalProcess::end() {
    if (!wait(announced_s) || status_ == -1) return "its process has closed its socket";
    if (WIFSIGNALED(status_))
        return "its process was ended by signal " + std::to_string(WTERMSIG(status_)) + " (" +
               strsignal(WTERMSIG(status_)) + ")";
    return "its process has ended with status " + std::to_string(WEXITSTATUS(status_));
}

}  // namespace tradewind::fieldserver
