#pragma once

#include <mpi.h>

#include <vector>

#include "mpi/packing/block.hpp"

namespace tradewind {

// Blocks as an MPI datatype, at absolute addresses: to be used with MPI_BOTTOM, or as a displacement of 0 in a dynamic
// window.
class Datatype {
  public:
    Datatype() = default;
    explicit Datatype(const std::vector<Block>& blocks);
    Datatype(Datatype&& other) noexcept : type_(other.type_) { other.type_ = MPI_DATATYPE_NULL; }
    Datatype& operator=(Datatype&& other) noexcept;
    ~Datatype();
    MPI_Datatype handle() const { return type_; }

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace tradewind
