// The kernels for the host, which the simulated device runs (../simulated.py): one thread of theirs after another.
#include "diffusion.cpp"
#include "mpdata.cpp"
#include "semi_lagrangian.cpp"

// Sets which thread, of how many, the next call of a kernel is.
TRADEWIND_KERNEL simulated_thread(long long number, long long count) {
    tradewind_device::simulated_thread = {number, count};
}
