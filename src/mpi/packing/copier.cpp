#include "mpi/packing/copier.hpp"

#include <utility>

#include "mpi/packing/add.hpp"
#include "mpi/packing/listed.hpp"

namespace tradewind::mpi {

PlanMemory::PlanMemory(Index bytes, std::shared_ptr<Copier> copier) : bytes_(bytes), copier_(std::move(copier)) {
    if (!copier_) {
        host_ = Memory(bytes);
    } else if (bytes > 0) {
        device_ = copier_->allocate(bytes);
        clear();
    }
}

PlanMemory::~PlanMemory() {
    if (device_) copier_->release(device_);
}

PlanMemory::PlanMemory(PlanMemory&& other) noexcept
    : host_(std::move(other.host_)),
      bytes_(std::exchange(other.bytes_, 0)),
      copier_(std::move(other.copier_)),
      device_(std::exchange(other.device_, nullptr)) {}

PlanMemory& PlanMemory::operator=(PlanMemory&& other) noexcept {
    std::swap(host_, other.host_);
    std::swap(bytes_, other.bytes_);
    std::swap(copier_, other.copier_);
    std::swap(device_, other.device_);
    return *this;
}

void PlanMemory::clear() const {
    if (device_)
        copier_->clear(device_, bytes_);
    else
        host_.clear();
}

// Loops over the runs that are compiled for their length, or go past the cache, or along lists, or add.
void compile_for_host(StridedCopy& copy) {
    if (copy.adds)
        choose_adding(copy);
    else if (copy.places > 1)
        choose_listed(copy);
    else
        choose_strided(copy);
}

void compile(std::vector<StridedCopy>& copies, std::size_t first) {
    if (first == copies.size()) return;
    if (Copier* const copier = copies[first].copier)
        copier->compile(copies.data() + first, copies.size() - first);
    else
        for (std::size_t i = first; i < copies.size(); ++i) compile_for_host(copies[i]);
}

}  // namespace tradewind::mpi
