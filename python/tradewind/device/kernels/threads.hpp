// The common part of all kernels. One text for three compilers: that of CUDA and that of HIP at run time (see
// ../gpu.py), and the host's when the package is built, for the simulated device. It uses no header and nothing but
// this file.
//
// Threads of a kernel share out its points, and none waits for another: so the host runs them one after another, and
// any number of them gives the same bits. Operations and their order are those of the loops in src/kernel, never fused.
#pragma once

namespace tradewind_device {

using Index = long long;

}  // namespace tradewind_device

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(__CUDACC_RTC__) || defined(__HIPCC_RTC__)

#define TRADEWIND_DEVICE static __device__ __forceinline__
#define TRADEWIND_MEMBER __device__ __forceinline__
#define TRADEWIND_KERNEL extern "C" __global__ void

namespace tradewind_device {

TRADEWIND_DEVICE Index this_thread() {
    return static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
}
TRADEWIND_DEVICE Index all_threads() {
    return static_cast<Index>(gridDim.x) * blockDim.x;
}

TRADEWIND_DEVICE void lower(long long* least, long long value) {
    atomicMin(least, value);
}
TRADEWIND_DEVICE void raise(long long* greatest, long long value) {
    atomicMax(greatest, value);
}

}  // namespace tradewind_device

#else

#include <cmath>

#define TRADEWIND_DEVICE static inline
#define TRADEWIND_MEMBER inline
#define TRADEWIND_KERNEL extern "C" __attribute__((visibility("default"))) void

namespace tradewind_device {

using std::fabs;
using std::floor;
using std::sqrt;

// The thread that the host runs now, of how many.
struct SimulatedThread {
    Index number = 0, count = 1;
};
inline SimulatedThread simulated_thread;

TRADEWIND_DEVICE Index this_thread() {
    return simulated_thread.number;
}
TRADEWIND_DEVICE Index all_threads() {
    return simulated_thread.count;
}

TRADEWIND_DEVICE void lower(long long* least, long long value) {
    *least = value < *least ? value : *least;
}
TRADEWIND_DEVICE void raise(long long* greatest, long long value) {
    *greatest = value > *greatest ? value : *greatest;
}

}  // namespace tradewind_device

#endif

namespace tradewind_device {

// A number as rows of `length`, and a rest. Devices divide 32 bits several times as fast as 64.
struct Split {
    Index row, rest;
    TRADEWIND_DEVICE Split of(Index number, Index length) {
        if (number < 0x7fffffffLL) {
            const unsigned whole = static_cast<unsigned>(number) / static_cast<unsigned>(length);
            return {static_cast<Index>(whole), number - static_cast<Index>(whole) * length};
        }
        return {number / length, number % length};
    }
};

}  // namespace tradewind_device

// A kernel for both precisions, name_f4 and name_f8; `parameters(Real)` are those of its template.
#define TRADEWIND_BOTH(name, parameters, arguments) \
    TRADEWIND_KERNEL name##_f4 parameters(float) {  \
        tradewind_device::name<float> arguments;    \
    }                                               \
    TRADEWIND_KERNEL name##_f8 parameters(double) { \
        tradewind_device::name<double> arguments;   \
    }
