#include "mpi/packing/copier.hpp"

#include "mpi/packing/add.hpp"
#include "mpi/packing/listed.hpp"

namespace tradewind::mpi {

namespace {

// Loops over the runs that are compiled for their length, or go past the cache, or along lists, or add.
class HostCopier : public Copier {
  public:
    std::string memory() const override { return "host"; }
    void compile(StridedCopy& copy) override {
        if (copy.adds)
            choose_adding(copy);
        else if (copy.places > 1)
            choose_listed(copy);
        else
            choose_strided(copy);
    }
};

}  // namespace

Copier& host_copier() {
    static HostCopier copier;
    return copier;
}

void compile(std::vector<StridedCopy>& copies, std::size_t first) {
    for (std::size_t i = first; i < copies.size(); ++i) {
        Copier* const copier = copies[i].copier;
        (copier ? *copier : host_copier()).compile(copies[i]);
    }
}

}  // namespace tradewind::mpi
