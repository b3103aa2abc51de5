#include "mpi/threads.hpp"

#include <mpi.h>

#include <atomic>

#include "mpi/error.hpp"

namespace tradewind::mpi {

namespace {

std::atomic<bool> busy{false};
thread_local int held = 0;  // permits of this thread: plans call plans, and agree on what they do

}  // namespace

ThreadPermit::ThreadPermit() {
    int level = MPI_THREAD_SINGLE, main = 0;
    MPI_Query_thread(&level);
    if (level == MPI_THREAD_MULTIPLE) return;
    MPI_Is_thread_main(&main);
    if (level != MPI_THREAD_SERIALIZED && !main)
        throw PlanError(
            "a plan was made or called by another thread than the one that started MPI, which allows that only with "
            "the thread level serialized or multiple");
    serialized_ = level == MPI_THREAD_SERIALIZED;
    if (serialized_ && held == 0 && busy.exchange(true)) {
        throw PlanError(
            "two threads make or call plans at once, which MPI, started with the thread level serialized, does not "
            "allow: start it with multiple");
    }
    held += serialized_;
}

ThreadPermit::~ThreadPermit() {
    if (serialized_ && --held == 0) busy = false;
}

}  // namespace tradewind::mpi
