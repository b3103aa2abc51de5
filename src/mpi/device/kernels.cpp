#include "mpi/device/kernels.hpp"

#include <limits>
#include <memory>

#include "mpi/error.hpp"
#include "mpi/reduce.hpp"

namespace tradewind::mpi {

namespace {

constexpr const char* text =
#include "mpi/device/kernels.inc"
    ;

Module loaded(const Driver& driver) {
    const std::string code = compile_kernels(driver.kind(), text);
    Module module = nullptr;
    driver.check(driver.load_module(&module, code.data()), "loading the kernels");
    return module;
}

Function found(const Driver& driver, Module module, const std::string& name) {
    Function function = nullptr;
    driver.check(driver.find_function(&function, module, name.c_str()), name.c_str());
    return function;
}

std::string named(const char* what, Element element, Operation operation) {
    return std::string("tw_") + what + "_" + name_of(element) + "_" + name_of(operation);
}

}  // namespace

Kernels::Kernels(const Driver& driver, Module module)
    : driver_(driver), module_(module), copy_(found(driver, module, "tw_copy")) {}

Kernels& Kernels::of(const Driver& driver, int device) {
    // Kept to the end of the process: the driver may be gone before.
    static auto& all = *new std::map<std::pair<DriverKind, int>, std::unique_ptr<Kernels>>;
    static std::mutex mutex;
    const std::lock_guard<std::mutex> lock(mutex);
    std::unique_ptr<Kernels>& kernels = all[{driver.kind(), device}];
    if (!kernels) kernels.reset(new Kernels(driver, loaded(driver)));
    return *kernels;
}

Function Kernels::function(const std::string& name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = functions_.find(name);
    if (known != functions_.end()) return known->second;
    return functions_[name] = found(driver_, module_, name);
}

void Kernels::launch(Stream stream, Function function, Index blocks, Index levels, void** parameters) const {
    if (blocks == 0) return;
    if (blocks > std::numeric_limits<std::int32_t>::max() || levels > std::numeric_limits<std::uint16_t>::max())
        throw PlanError("a row of copies of " + std::to_string(blocks) + " blocks, or of " + std::to_string(levels) +
                        " levels, is more than a device takes at once (2147483647, 65535)");
    driver_.check(driver_.launch(function, static_cast<unsigned>(blocks), static_cast<unsigned>(levels), 1, threads, 1,
                                 1, 0, stream, parameters, nullptr),
                  "launching a kernel");
}

void Kernels::copy(Stream stream, const DeviceCopy* copies, int count, Index first_block, Index blocks) const {
    int words = words_per_block;
    void* parameters[] = {&copies, &count, &first_block, &words};
    launch(stream, copy_, blocks, 1, parameters);
}

void Kernels::combine(Stream stream, Element element, Operation operation, std::byte* into, const std::byte* left,
                      const std::byte* right, Index count) {
    void* parameters[] = {&into, &left, &right, &count};
    launch(stream, function(named("combine", element, operation)), (count + threads - 1) / threads, 1, parameters);
}

void Kernels::combine(Stream stream, Element element, Operation operation, const DeviceGroups& groups, Index levels) {
    DeviceGroups given = groups;
    void* parameters[] = {&given};
    launch(stream, function(named("groups", element, operation)), (groups.count + threads - 1) / threads, levels,
           parameters);
}

}  // namespace tradewind::mpi
