// Loops that are compiled for several kinds of processor; which one runs is found when the library is loaded.
#pragma once

#include <cstdlib>  // defines __GLIBC__, whose loader can do that

// The sanitizers' runtimes are not ready yet when it is found.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TRADEWIND_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TRADEWIND_CLONES
#endif
