#include "mpi/packing/datatype.hpp"

#include <limits>
#include <utility>

#include "base/error.hpp"
#include "mpi/error.hpp"

namespace tradewind::mpi {

namespace {

void must(int code) {
    check(code, [] { return std::string("making an MPI datatype"); });
}

MPI_Datatype nested(MPI_Datatype inner, Index count, Index stride) {
    if (count > std::numeric_limits<int>::max())
        throw InputError("packing \"datatype\": " + std::to_string(count) + " runs in a row are more than MPI counts");
    MPI_Datatype outer;
    must(MPI_Type_create_hvector(static_cast<int>(count), 1, static_cast<MPI_Aint>(stride), inner, &outer));
    MPI_Type_free(&inner);
    return outer;
}

// Contiguous numbers; more than fit into an int as chunks and a rest.
MPI_Datatype run_type(Index bytes, Index unit) {
    constexpr Index chunk = Index{1} << 30;
    const MPI_Datatype number = unit == 4 ? MPI_INT32_T : MPI_INT64_T;
    const Index count = bytes / unit;
    MPI_Datatype type, part, rest;
    if (count <= chunk) {
        must(MPI_Type_contiguous(static_cast<int>(count), number, &type));
        return type;
    }
    must(MPI_Type_contiguous(static_cast<int>(chunk), number, &part));
    must(MPI_Type_contiguous(static_cast<int>(count % chunk), number, &rest));
    const int lengths[2] = {static_cast<int>(count / chunk), 1};
    const MPI_Aint begins[2] = {0, static_cast<MPI_Aint>(count / chunk * chunk * unit)};
    const MPI_Datatype types[2] = {part, rest};
    must(MPI_Type_create_struct(2, lengths, begins, types, &type));
    MPI_Type_free(&part);
    MPI_Type_free(&rest);
    return type;
}

MPI_Datatype block_type(const Block& block, Index unit) {
    const Block b = joined(block);
    MPI_Datatype type = run_type(b.run, unit);
    for (int a = 0; a < 3; ++a)
        if (b.shape[a] > 1) type = nested(type, b.shape[a], b.stride[a]);
    return type;
}

}  // namespace

Index unit_of(Element element) {
    const bool is_short = element == Element::f4 || element == Element::i4 || element == Element::c8;
    return is_short ? 4 : 8;
}

Datatype::Datatype(const std::vector<Block>& blocks, Element element) {
    std::vector<int> lengths(blocks.size(), 1);
    std::vector<MPI_Aint> begins;
    std::vector<MPI_Datatype> types;
    for (const Block& block : blocks) {
        begins.push_back(reinterpret_cast<MPI_Aint>(block.data));
        types.push_back(block_type(block, unit_of(element)));
    }
    must(MPI_Type_create_struct(static_cast<int>(blocks.size()), lengths.data(), begins.data(), types.data(), &type_));
    for (MPI_Datatype& type : types) MPI_Type_free(&type);
    must(MPI_Type_commit(&type_));
}

Datatype& Datatype::operator=(Datatype&& other) noexcept {
    std::swap(type_, other.type_);
    return *this;
}

Datatype::~Datatype() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (type_ != MPI_DATATYPE_NULL && !finalized) MPI_Type_free(&type_);
}

}  // namespace tradewind::mpi
