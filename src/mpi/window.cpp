#include "mpi/window.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "mpi/error.hpp"

namespace tradewind::mpi {

namespace {

// The windows of one communicator, in the order in which all its ranks made them.
using Windows = std::vector<std::shared_ptr<Window::State>>;

// All of this process, for the end of MPI.
Windows& all_windows() {
    static auto* all = new Windows;  // plans may outlive static objects
    return *all;
}

std::mutex& all_mutex() {
    static auto* mutex = new std::mutex;
    return *mutex;
}

int forget(MPI_Comm, int, void* value, void*) {
    delete static_cast<Windows*>(value);
    return MPI_SUCCESS;
}

void must(int code, const char* doing) {
    check(code, [doing] { return std::string(doing); });
}

void free_window(Window::State& state) {
    if (state.locked) MPI_Win_unlock_all(state.win);
    state.locked = false;
    MPI_Win_free(&state.win);
}

// Collective over the ranks of a window: whether none of them is between two fences.
bool free_of_fences(const Window::State& state) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Win_get_group(state.win, &group);
    const int code = MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm);
    MPI_Group_free(&group);
    if (code != MPI_SUCCESS || comm == MPI_COMM_NULL) return false;
    int freed = !state.fenced;
    MPI_Allreduce(MPI_IN_PLACE, &freed, 1, MPI_INT, MPI_MIN, comm);
    MPI_Comm_free(&comm);
    return freed != 0;
}

// Threads that make plans on communicators of their own get their windows in another order on each rank. Freeing waits
// for the other ranks of a window, so that all of them must go through their windows in one order.
int free_all(MPI_Comm, int, void*, void*) {
    const std::lock_guard lock(all_mutex());
    std::ranges::sort(all_windows(), {}, [](const auto& state) { return state->place; });
    for (const auto& state : all_windows())
        if (state->win != MPI_WIN_NULL && free_of_fences(*state)) free_window(*state);
    all_windows().clear();
    return MPI_SUCCESS;
}

// MPI deletes the attributes of MPI_COMM_SELF before it does anything else to finalize.
void free_all_at_the_end() {
    static const bool arranged = [] {
        int keyval = MPI_KEYVAL_INVALID;
        must(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_all, &keyval, nullptr), "keeping the windows of plans");
        must(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr), "keeping the windows of plans");
        return true;
    }();
    static_cast<void>(arranged);
}

// The windows made on the caller's communicator, which outlives the plans' own.
Windows& windows_of(MPI_Comm original) {
    static const int keyval = [] {
        int made = MPI_KEYVAL_INVALID;
        must(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made, nullptr), "keeping the windows of plans");
        return made;
    }();
    void* value = nullptr;
    int found = 0;
    MPI_Comm_get_attr(original, keyval, &value, &found);
    if (found) return *static_cast<Windows*>(value);
    auto* fresh = new Windows;
    must(MPI_Comm_set_attr(original, keyval, fresh), "keeping the windows of plans");
    return *fresh;
}

// Collective: the first rank's own count, and who it is, which no other window has.
std::array<std::int64_t, 2> agreed_place(MPI_Comm comm) {
    static std::atomic<std::int64_t> made{0};
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::array<std::int64_t, 2> place{rank, made++};
    must(MPI_Bcast(place.data(), 2, MPI_INT64_T, 0, comm), "agreeing on the order of windows");
    return place;
}

// Collective: frees what all ranks have dropped.
void free_dropped(MPI_Comm comm, Windows& windows) {
    std::vector<int> dropped;
    for (const auto& state : windows) dropped.push_back(state->dropped);
    must(MPI_Allreduce(MPI_IN_PLACE, dropped.data(), static_cast<int>(dropped.size()), MPI_INT, MPI_MIN, comm),
         "agreeing on the windows to free");
    for (std::size_t i = 0; i < windows.size(); ++i)
        if (dropped[i]) free_window(*windows[i]);
    const auto freed = [](const auto& state) { return state->win == MPI_WIN_NULL; };
    std::erase_if(windows, freed);
    const std::lock_guard lock(all_mutex());
    std::erase_if(all_windows(), freed);
}

}  // namespace

Window::Window(const Communicator& communicator, Index bytes) {
    free_all_at_the_end();
    Windows& windows = windows_of(communicator.original());
    free_dropped(communicator.handle(), windows);
    state_->place = agreed_place(communicator.handle());
    bytes = std::max<Index>(bytes, 8);
    must(MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, communicator.handle(), &data_, &state_->win),
         "allocating a window");
    MPI_Win_set_errhandler(state_->win, MPI_ERRORS_RETURN);
    windows.push_back(state_);
    {
        const std::lock_guard lock(all_mutex());
        all_windows().push_back(state_);
    }
    std::fill_n(data_, bytes, std::byte{0});
    must(MPI_Barrier(communicator.handle()), "zeroing a window");  // no rank writes into it earlier
}

Window::~Window() {
    state_->dropped = true;
}

void Window::lock_all() {
    must(MPI_Win_lock_all(MPI_MODE_NOCHECK, state_->win), "locking a window");
    state_->locked = true;
    must(MPI_Win_sync(state_->win), "MPI_Win_sync");  // what was written before
}

}  // namespace tradewind::mpi
