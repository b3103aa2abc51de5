// The kernels of one device: what they are given, and how they are launched.
#pragma once

#include <map>
#include <mutex>

#include "base/combine.hpp"
#include "mpi/device/driver.hpp"
#include "mpi/element.hpp"

namespace tradewind::mpi {

// A copy as the kernels read it; see packing/copy.hpp. `word` bytes are moved at a time, or an element is added.
struct DeviceCopy {
    const std::byte* from;
    std::byte* to;
    const Index *from_steps, *to_steps;  // in the device's memory
    Index words, count[3], from_stride[3], to_stride[3], from_step, to_step, places, first_block;
    std::int32_t word, element;  // element: -1 where nothing is added
    Index all_words() const { return words * places * count[0] * count[1] * count[2]; }
};

// Groups as the kernels read them; see packing/copier.hpp.
struct DeviceGroups {
    const std::byte* from;
    std::byte* to;
    const Index *from_begins, *from_places, *to_begins, *to_places;
    Index count, inner_levels, from_level[2], to_level[2];
};

class Kernels {
  public:
    static constexpr int threads = 256, words_per_block = 1024;

    // Those of a device, compiled once for all plans. Its context must be the current one.
    static Kernels& of(const Driver& driver, int device);

    // The copies have consecutive blocks; `blocks` is how many all need.
    void copy(Stream stream, const DeviceCopy* copies, int count, Index first_block, Index blocks) const;
    void combine(Stream stream, Element element, Operation operation, std::byte* into, const std::byte* left,
                 const std::byte* right, Index count);
    void combine(Stream stream, Element element, Operation operation, const DeviceGroups& groups, Index levels);

  private:
    Kernels(const Driver& driver, Module module);
    Function function(const std::string& name);
    void launch(Stream stream, Function function, Index blocks, Index levels, void** parameters) const;

    const Driver& driver_;
    const Module module_;
    const Function copy_;
    std::mutex mutex_;
    std::map<std::string, Function> functions_;
};

}  // namespace tradewind::mpi
