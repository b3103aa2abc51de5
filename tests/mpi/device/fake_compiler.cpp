// The compiler of the fake driver, with the entry points of NVRTC: takes the text of Tradewind's kernels and no other,
// since that is what the driver has been built with.
#include <cstddef>
#include <cstring>

#define EXPORT extern "C" __attribute__((visibility("default")))

static const char* const text_of_kernels =
#include "kernels.inc"
    ;

EXPORT int nvrtcCreateProgram(void** program, const char* text, const char*, int, const char* const*,
                              const char* const*) {
    *program = const_cast<char*>(text);
    return 0;
}
EXPORT int nvrtcCompileProgram(void* program, int, const char* const*) {
    return std::strcmp(static_cast<const char*>(program), text_of_kernels) == 0 ? 0 : 6;
}
EXPORT int nvrtcGetPTXSize(void*, std::size_t* bytes) {
    *bytes = sizeof "fake code";
    return 0;
}
EXPORT int nvrtcGetPTX(void*, char* code) {
    std::strcpy(code, "fake code");
    return 0;
}
EXPORT int nvrtcGetProgramLogSize(void*, std::size_t* bytes) {
    *bytes = 40;
    return 0;
}
EXPORT int nvrtcGetProgramLog(void*, char* text) {
    std::strcpy(text, "these are not the kernels of the tests");
    return 0;
}
EXPORT int nvrtcDestroyProgram(void**) {
    return 0;
}
