#include "mpi/device/transfer.hpp"

#include "mpi/packing/copier.hpp"

namespace tradewind::mpi {

namespace {

// The field, and a dense mirror of it on the device.
class Mirrored {
  public:
    Mirrored(const Field& field, Element element)
        : field_(field),
          element_(bytes_of(element)),
          bytes_(field.shape[0] * field.shape[1] * field.shape[2] * element_),
          memory_(bytes_, field.copier) {}

    Index bytes() const { return bytes_; }
    std::byte* data() const { return memory_.data(); }
    void gather() const { copy(array(), dense()); }
    void scatter() const { copy(dense(), array()); }

  private:
    View array() const { return {field_.data, field_.stride, field_.copier.get()}; }
    View dense() const { return {memory_.data(), dense_strides(field_.shape, element_), field_.copier.get()}; }
    void copy(const View& from, const View& to) const {
        std::vector<StridedCopy> copies{make_copy(from, to, field_.shape, element_, Stores::cached)};
        compile(copies);
        field_.copier->copy(copies.data(), copies.size());
    }

    const Field& field_;
    const Index element_, bytes_;
    PlanMemory memory_;
};

}  // namespace

void copy_to_host(const Field& field, Element element, std::byte* dense) {
    const Mirrored mirror(field, element);
    if (mirror.bytes() == 0) return;
    field.copier->enter();
    mirror.gather();
    field.copier->to_host(dense, mirror.data(), mirror.bytes());
    field.copier->leave();
    field.copier->finish();
}

void copy_from_host(const std::byte* dense, const Field& field, Element element) {
    const Mirrored mirror(field, element);
    if (mirror.bytes() == 0) return;
    field.copier->finish();  // the mirror is cleared by now
    field.copier->enter();
    field.copier->from_host(mirror.data(), dense, mirror.bytes());
    mirror.scatter();
    field.copier->leave();
    field.copier->finish();
}

}  // namespace tradewind::mpi
