#include "mpi/window.hpp"

#include <algorithm>

#include "mpi/error.hpp"

namespace tradewind {

namespace {

struct Entry {
    MPI_Win win;
    std::shared_ptr<bool> dropped;
};
using Entries = std::vector<Entry>;  // of one communicator, in the order in which all its ranks made them

int forget(MPI_Comm, int, void* value, void*) {
    delete static_cast<Entries*>(value);
    return MPI_SUCCESS;
}

void must(int code, const char* doing) {
    check(code, [doing] { return std::string(doing); });
}

// The windows made on the caller's communicator, which outlives the plans' own.
Entries& entries_of(MPI_Comm original) {
    static const int keyval = [] {
        int made = MPI_KEYVAL_INVALID;
        must(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made, nullptr), "keeping the windows of plans");
        return made;
    }();
    void* value = nullptr;
    int found = 0;
    MPI_Comm_get_attr(original, keyval, &value, &found);
    if (found) return *static_cast<Entries*>(value);
    auto* fresh = new Entries;
    must(MPI_Comm_set_attr(original, keyval, fresh), "keeping the windows of plans");
    return *fresh;
}

// Collective: frees what all ranks have dropped.
void free_dropped(MPI_Comm comm, Entries& entries) {
    std::vector<int> dropped;
    for (const Entry& entry : entries) dropped.push_back(*entry.dropped);
    must(MPI_Allreduce(MPI_IN_PLACE, dropped.data(), static_cast<int>(dropped.size()), MPI_INT, MPI_MIN, comm),
         "agreeing on the windows to free");
    Entries kept;
    for (std::size_t i = 0; i < entries.size(); ++i)
        if (dropped[i])
            MPI_Win_free(&entries[i].win);
        else
            kept.push_back(entries[i]);
    entries = std::move(kept);
}

}  // namespace

Window::Window(const Communicator& communicator) {
    free_dropped(communicator.handle(), entries_of(communicator.original()));
}

std::unique_ptr<Window> Window::allocated(const Communicator& communicator, Index bytes) {
    std::unique_ptr<Window> window(new Window(communicator));
    must(MPI_Win_allocate(static_cast<MPI_Aint>(std::max<Index>(bytes, 8)), 1, MPI_INFO_NULL, communicator.handle(),
                          &window->data_, &window->win_),
         "allocating a window");
    std::fill_n(window->data_, std::max<Index>(bytes, 8), std::byte{0});
    window->enter(communicator);
    return window;
}

std::unique_ptr<Window> Window::dynamic(const Communicator& communicator) {
    std::unique_ptr<Window> window(new Window(communicator));
    must(MPI_Win_create_dynamic(MPI_INFO_NULL, communicator.handle(), &window->win_), "making a dynamic window");
    window->enter(communicator);
    return window;
}

void Window::enter(const Communicator& communicator) {
    MPI_Win_set_errhandler(win_, MPI_ERRORS_RETURN);
    entries_of(communicator.original()).push_back({win_, dropped_});
}

// The caller's arrays may be gone before the window is.
Window::~Window() {
    *dropped_ = true;
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized) return;
    for (const Extent& extent : attached_) MPI_Win_detach(win_, extent.begin);
}

void Window::attach(const std::vector<Block>& blocks) {
    std::vector<Extent> extents;
    for (const Block& block : blocks) extents.push_back(extent_of(block));
    std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
    for (const Extent& next : extents)
        if (!attached_.empty() && next.begin <= attached_.back().end)
            attached_.back().end = std::max(attached_.back().end, next.end);
        else
            attached_.push_back(next);
    for (const Extent& extent : attached_)
        must(MPI_Win_attach(win_, extent.begin, extent.end - extent.begin), "attaching memory to a window");
}

std::vector<Block> Window::as_peers_see(std::vector<Block> blocks) const {
    if (data_)
        for (Block& block : blocks) block.data = reinterpret_cast<std::byte*>(block.data - data_);
    return blocks;
}

}  // namespace tradewind
