#include "mpi/device/driver.hpp"

#include <memory>
#include <mutex>

#include "mpi/device/library.hpp"
#include "mpi/error.hpp"

namespace tradewind::mpi {

namespace {

struct Names {
    const char *cuda, *hip;
    const char* of(DriverKind kind) const { return kind == DriverKind::cuda ? cuda : hip; }
};

const Libraries& driver_libraries(DriverKind kind) {
    static const Libraries cuda{"libcuda.so.1", "libcuda.so"},
        hip{"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"};
    return kind == DriverKind::cuda ? cuda : hip;
}
const Libraries& compiler_libraries(DriverKind kind) {
    static const Libraries cuda{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"},
        hip{"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so", "libamdhip64.so.5", "libamdhip64.so"};
    return kind == DriverKind::cuda ? cuda : hip;
}

struct OfKind {
    std::once_flag once;
    std::unique_ptr<const Driver> driver;
    std::string problem;
};

}  // namespace

DriverKind parse_driver(const std::string& name) {
    if (name == "cuda") return DriverKind::cuda;
    if (name == "rocm") return DriverKind::hip;
    throw InputError("device \"" + name + "\": cuda and rocm are allowed");
}

Driver::Driver(DriverKind kind, void* library) : kind_(kind) {
    const auto take = [&](auto& function, Names names) { find(library, names.of(kind), function); };
    take(init, {"cuInit", "hipInit"});
    take(error_text, {"cuGetErrorString", "hipDrvGetErrorString"});
    take(device_count, {"cuDeviceGetCount", "hipGetDeviceCount"});
    take(device_name, {"cuDeviceGetName", "hipDeviceGetName"});
    take(retain_context, {"cuDevicePrimaryCtxRetain", "hipDevicePrimaryCtxRetain"});
    take(push_context, {"cuCtxPushCurrent_v2", "hipCtxPushCurrent"});
    take(pop_context, {"cuCtxPopCurrent_v2", "hipCtxPopCurrent"});
    take(allocate, {"cuMemAlloc_v2", "hipMalloc"});
    take(release, {"cuMemFree_v2", "hipFree"});
    take(allocate_pinned, {"cuMemHostAlloc", "hipHostMalloc"});
    take(release_pinned, {"cuMemFreeHost", "hipHostFree"});
    take(pin, {"cuMemHostRegister_v2", "hipHostRegister"});
    take(unpin, {"cuMemHostUnregister", "hipHostUnregister"});
    take(to_device, {"cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync"});
    take(to_host, {"cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync"});
    take(within, {"cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync"});
    take(fill, {"cuMemsetD8Async", "hipMemsetD8Async"});
    take(create_stream, {"cuStreamCreate", "hipStreamCreateWithFlags"});
    take(destroy_stream, {"cuStreamDestroy_v2", "hipStreamDestroy"});
    take(wait_for_stream, {"cuStreamSynchronize", "hipStreamSynchronize"});
    take(create_event, {"cuEventCreate", "hipEventCreateWithFlags"});
    take(destroy_event, {"cuEventDestroy_v2", "hipEventDestroy"});
    take(record, {"cuEventRecord", "hipEventRecord"});
    take(stream_waits, {"cuStreamWaitEvent", "hipStreamWaitEvent"});
    take(query, {"cuEventQuery", "hipEventQuery"});
    take(load_module, {"cuModuleLoadData", "hipModuleLoadData"});
    take(find_function, {"cuModuleGetFunction", "hipModuleGetFunction"});
    take(launch, {"cuLaunchKernel", "hipModuleLaunchKernel"});
    take(pointer_attribute, {"cuPointerGetAttribute", "hipPointerGetAttribute"});
    take(address_range, {"cuMemGetAddressRange_v2", "hipMemGetAddressRange"});
    take(share, {"cuIpcGetMemHandle", "hipIpcGetMemHandle"});
    take(open, {"cuIpcOpenMemHandle_v2", "hipIpcOpenMemHandle"});
    take(close, {"cuIpcCloseMemHandle", "hipIpcCloseMemHandle"});
    check(init(0), "initialising the driver");
    if (kind == DriverKind::hip) {
        int (*version)(int* number) = nullptr;
        int number = 0;  // 10,000,000 times the release of ROCm, and more
        find(library, "hipRuntimeGetVersion", version);
        check(version(&number), "finding its version");
        if (number < 60'000'000) memory_of_device = 1;  // later ones have the numbers of CUDA
    }
    int devices = 0;
    check(device_count(&devices), "counting devices");
    if (devices == 0) throw InputError(std::string("the driver of ") + name() + " finds no device");
}

const Driver& Driver::of(DriverKind kind) {
    static auto& kinds = *new std::array<OfKind, 2>;  // plans may outlast other static objects
    OfKind& found = kinds[static_cast<std::size_t>(kind)];
    std::call_once(found.once, [&] {
        const Libraries& libraries = driver_libraries(kind);
        // Never closed: a driver does not survive that.
        void* const library = load(libraries, RTLD_NOW | RTLD_LOCAL);
        try {
            if (!library) throw InputError("none of its libraries can be loaded: " + listed(libraries));
            found.driver.reset(new Driver(kind, library));
        } catch (const std::exception& error) {
            found.problem = error.what();
        }
    });
    if (!found.driver)
        throw InputError(std::string("the driver of ") + (kind == DriverKind::cuda ? "CUDA" : "ROCm") +
                         " cannot be used: " + found.problem);
    return *found.driver;
}

const Driver* Driver::loaded(DriverKind kind) {
    if (!load(driver_libraries(kind), RTLD_NOW | RTLD_NOLOAD)) return nullptr;
    try {
        return &of(kind);
    } catch (const InputError&) {  // as where its library is installed without a device
        return nullptr;
    }
}

void Driver::check(int code, const char* what) const {
    if (code == 0) return;
    const char* text = nullptr;
    if (error_text(code, &text) != 0 || !text) text = "unknown error";
    throw PlanError(std::string(name()) + ": " + what + ": " + text + " (" + std::to_string(code) + ")");
}

Stream Driver::default_stream() const {
    // CU_STREAM_LEGACY; HIP's null stream
    return reinterpret_cast<Stream>(kind_ == DriverKind::cuda ? std::uintptr_t{1} : std::uintptr_t{0});
}

PointerPlace place_of(const void* pointer) {
    constexpr int memory_type = 2, device_ordinal = 9;  // alike in CUDA and HIP
    for (const DriverKind kind : {DriverKind::cuda, DriverKind::hip}) {
        const Driver* const driver = Driver::loaded(kind);
        if (!driver) continue;
        const auto address = reinterpret_cast<std::uintptr_t>(pointer);
        unsigned type = 0;
        int device = 0;
        // The driver returns an error for memory that it does not know: the host's.
        if (driver->pointer_attribute(&type, memory_type, address) != 0 || type != driver->memory_of_device) continue;
        driver->check(driver->pointer_attribute(&device, device_ordinal, address), "finding the device of a pointer");
        return {driver, device};
    }
    return {};
}

std::string compile_kernels(DriverKind kind, const char* text) {
    using Program = void*;
    int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
    int (*compile)(Program, int, const char* const*) = nullptr;
    int (*size)(Program, std::size_t*) = nullptr;
    int (*code)(Program, char*) = nullptr;
    int (*log_size)(Program, std::size_t*) = nullptr;
    int (*log)(Program, char*) = nullptr;
    int (*destroy)(Program*) = nullptr;
    const bool cuda = kind == DriverKind::cuda;
    const Libraries& libraries = compiler_libraries(kind);
    void* const library = load(libraries, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        throw InputError(std::string("the copies of arrays on a device need ") + (cuda ? "NVRTC" : "hipRTC") +
                         ", and none of its libraries can be loaded (" + listed(libraries) +
                         "): it comes with the toolkit of " + (cuda ? "CUDA" : "ROCm") +
                         ", and with CuPy, PyTorch and JAX; LD_LIBRARY_PATH may name its folder");
    const auto take = [&](auto& function, Names names) { find(library, names.of(kind), function); };
    take(create, {"nvrtcCreateProgram", "hiprtcCreateProgram"});
    take(compile, {"nvrtcCompileProgram", "hiprtcCompileProgram"});
    take(size, {"nvrtcGetPTXSize", "hiprtcGetCodeSize"});
    take(code, {"nvrtcGetPTX", "hiprtcGetCode"});
    take(log_size, {"nvrtcGetProgramLogSize", "hiprtcGetProgramLogSize"});
    take(log, {"nvrtcGetProgramLog", "hiprtcGetProgramLog"});
    take(destroy, {"nvrtcDestroyProgram", "hiprtcDestroyProgram"});
    const auto check = [&](int result, const std::string& what) {
        if (result != 0) throw PlanError("compiling the kernels of a device: " + what);
    };
    Program program = nullptr;
    check(create(&program, text, "tradewind.cu", 0, nullptr, nullptr), "no program can be made");
    // The bits of a sum must not depend on where it is computed.
    const char* const options[] = {cuda ? "--fmad=false" : "-ffp-contract=off", "-std=c++17"};
    std::size_t bytes = 0;
    if (compile(program, 2, options) != 0) {
        check(log_size(program, &bytes), "failed, without a text");
        std::string problem(bytes, '\0');
        check(log(program, problem.data()), "failed, without a text");
        destroy(&program);
        throw PlanError("compiling the kernels of a device: " + problem);
    }
    check(size(program, &bytes), "no code");
    std::string result(bytes, '\0');
    check(code(program, result.data()), "no code");
    destroy(&program);
    return result;
}

}  // namespace tradewind::mpi
