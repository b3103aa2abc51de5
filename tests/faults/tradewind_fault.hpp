// Which planted fault is active in this process: the number in TRADEWIND_FAULT. See README.md.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

struct TradewindFaults {
    int active = 0;
    unsigned char* reached = nullptr;  // [number], in the file TRADEWIND_FAULTS_REACHED, where there is one
    TradewindFaults() {
        if (const char* number = std::getenv("TRADEWIND_FAULT")) active = std::atoi(number);
        const char* name = std::getenv("TRADEWIND_FAULTS_REACHED");
        const int file = name ? open(name, O_RDWR) : -1;
        if (file < 0) return;
        void* const memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
        if (memory != MAP_FAILED) reached = static_cast<unsigned char*>(memory);
    }
};

extern "C" {
[[gnu::visibility("default"), gnu::used]] inline TradewindFaults tradewind_faults;
}

[[gnu::always_inline]] inline bool tradewind_fault(int number) {
    if (tradewind_faults.reached != nullptr) [[unlikely]]
        tradewind_faults.reached[number] = 1;
    return tradewind_faults.active == number;
}
