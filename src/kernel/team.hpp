// Threads that a kernel's calls share.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tradewind::kernel {

// The caller's thread and threads - 1 others, which look for a next call for a moment, then sleep. They are not bound:
// they run on the cores that the process may use.
class Team {
  public:
    // Throws InputError for fewer than 1 or more than 1024 threads, or more than the system gives.
    explicit Team(int threads);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int threads() const { return static_cast<int>(others_.size()) + 1; }

    // work(0), ..., work(threads - 1), each on a thread of its own, the first one on the caller's. Returns when all
    // have ended. They must not throw. Callers on several threads wait for each other.
    void run(const std::function<void(int)>& work);

  private:
    void follow(int number);
    void dismiss();

    std::vector<std::thread> others_;
    std::mutex one_caller_;
    const std::function<void(int)>* work_ = nullptr;  // none: the threads are to end
    alignas(64) std::atomic<std::uint32_t> runs_{0};
    alignas(64) std::atomic<int> busy_{0};
};

}  // namespace tradewind::kernel
