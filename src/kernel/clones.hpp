// Loops that are compiled for several kinds of processor; which one runs is found when the library is loaded. A loop
// has a clone where that takes a tenth less time than code for any x86-64 processor.
#pragma once

#include <cstdlib>  // defines __GLIBC__, whose loader can do that

// A build for one processor needs no clones. The sanitizers' runtimes are not ready yet when the clone is found.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(TRADEWIND_NATIVE) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define TRADEWIND_HAS_CLONES
#define TRADEWIND_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
// Also for AVX-512: loops that compute more than they load.
#define TRADEWIND_WIDE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TRADEWIND_CLONES
#define TRADEWIND_WIDE_CLONES
#endif
