#include "kernel/team.hpp"

#include <string>
#include <system_error>

#include "base/error.hpp"
#include "base/pause.hpp"
#include "kernel/width.hpp"

namespace tradewind::kernel {
namespace {

// Looks for up to 0.1 ms, as long as the processor's pause takes, before it sleeps: to wake a thread takes tens of
// microseconds, and on a virtual machine as long as a small loop; the next loop of a time step often begins sooner.
// (Where threads share a core this much is lost.)
template <class Value>
void wait_while(const std::atomic<Value>& value, Value is) {
    for (int looks = 0; value.load(std::memory_order_acquire) == is; ++looks) {
        if (looks < 2048)
            pause();
        else
            value.wait(is, std::memory_order_acquire);
    }
}

}  // namespace

Team::Team(int threads) {
    width_here();  // throws here, and not on threads
    if (threads < 1 || threads > 1024) throw InputError("threads " + std::to_string(threads) + ": 1..1024 are allowed");
    try {
        for (int number = 1; number < threads; ++number) others_.emplace_back(&Team::follow, this, number);
    } catch (const std::system_error& error) {
        dismiss();
        throw InputError("threads " + std::to_string(threads) + ": the system gives no more than " +
                         std::to_string(others_.size() + 1) + " (" + error.what() + ")");
    }
}

Team::~Team() {
    dismiss();
}

void Team::dismiss() {
    work_ = nullptr;
    runs_.fetch_add(1, std::memory_order_release);
    runs_.notify_all();
    for (std::thread& other : others_) other.join();
}

void Team::follow(int number) {
    for (std::uint32_t run = 0;; ++run) {
        wait_while(runs_, run);
        if (!work_) return;
        (*work_)(number);
        if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
    }
}

void Team::run(const std::function<void(int)>& work) {
    if (others_.empty()) return work(0);
    const std::lock_guard one(one_caller_);
    work_ = &work;
    busy_.store(static_cast<int>(others_.size()), std::memory_order_relaxed);
    runs_.fetch_add(1, std::memory_order_release);
    runs_.notify_all();
    work(0);
    for (int busy; (busy = busy_.load(std::memory_order_acquire)) > 0;) wait_while(busy_, busy);
}

}  // namespace tradewind::kernel
