// The MPI messages that one end of a schedule's message becomes.
#pragma once

#include <vector>

#include "mpi/carrier.hpp"
#include "mpi/error.hpp"
#include "mpi/packing/datatype.hpp"

namespace tradewind::mpi {

struct Transfer {
    int peer = 0, tag = 0;
    std::byte* data = nullptr;  // MPI_BOTTOM with a datatype of absolute addresses
    int count = 0;
    MPI_Datatype type = MPI_BYTE;
    Index bytes = 0;
    Index unit = 1;  // bytes of the numbers that the type is made of
};

// An end that is buffered or lies in one run, in parts of the largest message that MPI is given.
std::vector<Transfer> in_parts(const End& end, Bytes largest);

// By stage and end: the transfers, and the datatypes that they use.
class Transfers {
  public:
    // Collective with packing direct: the runs have to be contiguous at both ends. Throws InputError where they are too
    // many.
    Transfers(const Work& work);
    const std::vector<Transfer>& of_send(int stage, std::size_t i) const { return sends_[at(stage)][i]; }
    const std::vector<Transfer>& of_receive(int stage, std::size_t i) const { return receives_[at(stage)][i]; }
    Index sent() const;  // how many this rank sends in all stages

  private:
    using OfEnds = std::vector<std::vector<Transfer>>;
    static std::size_t at(int stage) { return static_cast<std::size_t>(stage); }
    std::vector<Transfer> whole(const End& end, const PlanRequest& request);
    static std::vector<Transfer> in_runs(const End& end, const std::vector<Block>& there);

    std::vector<OfEnds> sends_, receives_;
    std::vector<Datatype> types_;
};

// "receiving from rank 3 (tag 0, 80 bytes)"
std::string to_text(bool sending, const Transfer& transfer);

// Throws PlanError, which begins with `where()`, where fewer bytes came than should: MPI calls only more an
// error.
template <typename Where>
void check_length(const MPI_Status& status, const Transfer& transfer, Where where) {
    MPI_Count numbers = 0;
    MPI_Get_elements_x(&status, transfer.type, &numbers);
    const Index bytes = static_cast<Index>(numbers) * transfer.unit;
    if (bytes != transfer.bytes)
        throw PlanError(where() + ": " + to_text(false, transfer) + ": only " + std::to_string(bytes) + " bytes came");
}

}  // namespace tradewind::mpi
