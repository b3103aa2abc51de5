// The way of fields between the layout of a model and whole fields on the rank that writes them.
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "fieldserver/json.hpp"
#include "layout/product.hpp"
#include "mpi/plan.hpp"
#include "mpi/shared_memory.hpp"

namespace tradewind::fieldserver {

// How fields lie on the ranks of the model.
struct FieldForm {
    mpi::Element element = mpi::Element::f8;
    Index levels = 1, points = 0;                   // of a whole field
    std::shared_ptr<const layout::Product> layout;  // of the model's ranks; none: points by number
    std::vector<Index> own;                         // the numbers of this rank's
    int axis = 0;                                   // of arrays of these, the direction over points; 1: behind levels
    std::string described;                          // the layout, as servers make it
    std::string alike;                              // the same of fields that go in one block

    Index bytes() const { return levels * points * mpi::bytes_of(element); }
    // Points of this rank's array along x, y, z, without gaps and x fastest; of listed points and levels.
    std::array<Index, 3> shape(int rank) const;
    Json to_json() const;
    // The same of one level. Throws InputError where levels are divided among ranks.
    FieldForm one_level(const std::string& name) const;
};

// A layout as plain values, from which servers make it. Throws InputError where that cannot be.
std::string described(const layout::Product& layout);

// The form of fields in a layout of the `ranks` of a model. Throws InputError for one of other ranks.
FieldForm form_of(const layout::Product& layout, int ranks);

// Memory for a part of a field; shared memory where ranks of a node read each other's.
class PartMemory {
  public:
    PartMemory(Index bytes, bool shared);
    std::byte* data() const { return shared_ ? shared_->data() : own_.get(); }
    // Null unless it is shared.
    const mpi::SharedMemory* shared() const { return shared_.get(); }

  private:
    std::shared_ptr<mpi::SharedMemory> shared_;
    std::shared_ptr<std::byte[]> own_;
};

// An array as this rank's part of a field of a form: bytes from a point to the next one along each direction of the
// form.
struct ModelPart {
    std::byte* data;
    std::array<Index, 3> shape, strides;
    Index unit;
    std::shared_ptr<const void> memory{};  // shared memory in which the array lies, if any

    // One of its levels, which lie along `axis`.
    ModelPart level(std::size_t axis, Index place) const;
};

// A whole field, [level][point].
struct WholeField {
    PartMemory memory;
    mpi::Element element;
    Index levels, points;
};

// How a server wants fields to travel.
struct ServerMethod {
    std::string transport, packing;
    bool shared() const { return transport == "shared"; }
};

// The ranks of `comm`, and the one of them that has fields whole: a server, or a rank of the model.
struct Receiver {
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0;
    double patience_s = 0;  // time after which plans throw PlanError where it takes no part; 0: no limit
};

// `back`: from the receiver to the others. Collective.
class ServerHandover {
  public:
    ServerHandover(const Receiver& receiver, const FieldForm& form, const ServerMethod& method, bool back);

    PartMemory memory() const;
    // This rank's part of a field in such memory.
    ModelPart part(const PartMemory& memory) const;
    // Memory for a whole field, on the receiver; of nothing elsewhere.
    PartMemory whole_memory() const;
    WholeField whole_field(const PartMemory& memory) const { return {memory, element_, levels_, points_}; }
    // Binds `parts` of this rank, and on the receiver whole fields. Collective. Throws PlanError where the ranks make
    // different plans.
    std::unique_ptr<mpi::Plan> plan(const std::vector<ModelPart>& parts, const std::vector<PartMemory>& whole) const;
    Index bytes() const { return bytes_; }  // of a whole field

  private:
    ModelPart dense(const PartMemory& memory, const std::array<Index, 3>& shape) const;
    mpi::Field field_of(const ModelPart& part) const;

    Receiver receiver_;
    ServerMethod method_;
    bool back_, receives_, listed_;
    bool levels_inside_;  // arrays of this rank are [point][level]
    mpi::Element element_;
    Index levels_, points_;
    std::array<Index, 3> shape_, whole_shape_;  // as forms have them; of nothing where this rank has no whole fields
    Index bytes_;
    std::shared_ptr<const pattern::Pattern> pattern_;
    std::string algorithm_;
};

}  // namespace tradewind::fieldserver
