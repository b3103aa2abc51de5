// Local servers that are to end: those that are at work have time, and get all of their orders; silent ones have not.
#include "fieldserver/local_process.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "testing/drawing.hpp"

namespace testing::fieldserver_local_process {

using tradewind::fieldserver::LocalProcess;

constexpr double patience_s = 1;

// A folder with a program that stands for a server, by the lines of a shell script.
class Program {
  public:
    explicit Program(const std::string& lines) {
        std::string name = (std::filesystem::temp_directory_path() / "local-process-XXXXXX").string();
        folder_ = mkdtemp(name.data());
        const std::filesystem::path script = folder_ / "server.sh";
        std::ofstream(script) << "#!/bin/sh\ncd " << folder_.string() << "\n" << lines << "\n";
        std::filesystem::permissions(script, std::filesystem::perms::owner_all);
        setenv("TRADEWIND_PYTHON", script.c_str(), 1);
    }
    ~Program() {
        unsetenv("TRADEWIND_PYTHON");
        std::filesystem::remove_all(folder_);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // The text that it has written; none where it was ended before.
    std::string written() const {
        std::ostringstream text;
        text << std::ifstream(folder_ / "written").rdbuf();
        return text.str();
    }

  private:
    std::filesystem::path folder_;
};

TEST("a local server that works and sends signs of life is not ended") {
    const Program program("for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.2; printf . >&3; done; printf done >written");
    {
        const LocalProcess process(patience_s);
    }
    CHECK_EQUAL(program.written(), "done");
}

TEST("a local server that is silent is ended") {
    const Program program("sleep 60; printf done >written");
    const auto begin = std::chrono::steady_clock::now();
    {
        const LocalProcess process(patience_s);
    }
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
    CHECK_EQUAL(program.written(), "");
}

TEST("a local server gets all orders that its socket had no room for, and then the end") {
    const std::string orders(1 << 20, 'o');
    const Program program("wc -c <&3 >written");
    {
        LocalProcess process(10 * patience_s);
        process.finish(orders);
    }
    CHECK_EQUAL(std::stol(program.written()), 1 << 20);
}

}  // namespace testing::fieldserver_local_process
