#pragma once

#include <mpi.h>

#include <vector>

#include "mpi/field.hpp"
#include "mpi/packing/block.hpp"

namespace tradewind::mpi {

// The bytes of the numbers that an element is made of: datatypes are made of these.
Index unit_of(Element element);

// Blocks as an MPI datatype, at absolute addresses: to be used with MPI_BOTTOM, or as a displacement of 0 in a dynamic
// window. Of numbers as long as those of the elements, for MPICH gathers runs of bytes one byte at a time: 7 times as
// slowly, measured on runs of 1 KiB.
class Datatype {
  public:
    Datatype() = default;
    Datatype(const std::vector<Block>& blocks, Element element);
    Datatype(Datatype&& other) noexcept : type_(other.type_) { other.type_ = MPI_DATATYPE_NULL; }
    Datatype& operator=(Datatype&& other) noexcept;
    ~Datatype();
    MPI_Datatype handle() const { return type_; }

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace tradewind::mpi
