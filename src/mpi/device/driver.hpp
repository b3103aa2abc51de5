// The driver of the devices of this node, CUDA's or HIP's, loaded at run time: nothing of either is needed to build.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/units.hpp"

namespace tradewind::mpi {

enum class DriverKind : std::uint8_t { cuda, hip };

using Stream = void*;
using Event = void*;
using Context = void*;
using Module = void*;
using Function = void*;

// The result of a query of an event that is still to come, alike in CUDA and HIP.
constexpr int not_ready = 600;

// Memory of a device, for other processes of the node.
struct MemoryHandle {
    std::array<char, 64> bytes{};
};

// "cuda" or "rocm"; throws InputError.
DriverKind parse_driver(const std::string& name);

// The functions of a driver by what they do; CUDA's and HIP's have the same parameters. Functions return 0, or the
// number of an error, for `check`.
class Driver {
  public:
    // Throws InputError where the driver's library cannot be loaded, lacks a function, or finds no device.
    static const Driver& of(DriverKind kind);
    // The driver that this process has already loaded; none where it has none that finds a device, and so no memory of
    // one.
    static const Driver* loaded(DriverKind kind);

    DriverKind kind() const { return kind_; }
    const char* name() const { return kind_ == DriverKind::cuda ? "CUDA" : "ROCm"; }
    // Throws PlanError with the driver's own text; `what` was tried.
    void check(int code, const char* what) const;
    // The stream that callers use who name none.
    Stream default_stream() const;

    int (*init)(unsigned flags) = nullptr;
    int (*error_text)(int code, const char** text) = nullptr;
    int (*device_count)(int* count) = nullptr;
    int (*device_name)(char* name, int length, int device) = nullptr;
    int (*retain_context)(Context* context, int device) = nullptr;
    int (*push_context)(Context context) = nullptr;
    int (*pop_context)(Context* context) = nullptr;
    int (*allocate)(std::byte** memory, std::size_t bytes) = nullptr;
    int (*release)(std::byte* memory) = nullptr;
    int (*allocate_pinned)(void** memory, std::size_t bytes, unsigned flags) = nullptr;
    int (*release_pinned)(void* memory) = nullptr;
    int (*pin)(void* memory, std::size_t bytes, unsigned flags) = nullptr;
    int (*unpin)(void* memory) = nullptr;
    int (*to_device)(std::byte* device, const void* host, std::size_t bytes, Stream stream) = nullptr;
    int (*to_host)(void* host, const std::byte* device, std::size_t bytes, Stream stream) = nullptr;
    int (*within)(std::byte* to, const std::byte* from, std::size_t bytes, Stream stream) = nullptr;
    int (*fill)(std::byte* memory, unsigned char value, std::size_t bytes, Stream stream) = nullptr;
    int (*create_stream)(Stream* stream, unsigned flags) = nullptr;
    int (*destroy_stream)(Stream stream) = nullptr;
    int (*wait_for_stream)(Stream stream) = nullptr;
    int (*create_event)(Event* event, unsigned flags) = nullptr;
    int (*destroy_event)(Event event) = nullptr;
    int (*record)(Event event, Stream stream) = nullptr;
    int (*stream_waits)(Stream stream, Event event, unsigned flags) = nullptr;
    int (*query)(Event event) = nullptr;  // `not_ready` where it is still to come
    int (*load_module)(Module* module, const void* image) = nullptr;
    int (*find_function)(Function* function, Module module, const char* name) = nullptr;
    int (*launch)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                  unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters,
                  void** extra) = nullptr;
    int (*pointer_attribute)(void* value, int attribute, std::uintptr_t pointer) = nullptr;
    int (*address_range)(std::byte** begin, std::size_t* bytes, const std::byte* memory) = nullptr;
    int (*share)(MemoryHandle* handle, std::byte* memory) = nullptr;
    int (*open)(std::byte** memory, MemoryHandle handle, unsigned flags) = nullptr;
    int (*close)(std::byte* memory) = nullptr;
    unsigned memory_of_device = 2;  // among the types of memory that `pointer_attribute` finds

  private:
    Driver(DriverKind kind, void* library);

    const DriverKind kind_;
};

// The memory that a pointer of the caller is in: a device's number, or the host's, which is also what no driver of this
// process knows.
struct PointerPlace {
    const Driver* driver = nullptr;  // none: the host's memory
    int device = 0;
};
PointerPlace place_of(const void* pointer);

// The code of kernels from their text, by the compiler of the driver (NVRTC or hipRTC), loaded at run time. Throws
// InputError where there is no such library, and PlanError with its text where it refuses the kernels.
std::string compile_kernels(DriverKind kind, const char* text);

}  // namespace tradewind::mpi
