// MPI's own reduction behind the interface of a plan.
#include <limits>

#include "mpi/error.hpp"
#include "mpi/memory.hpp"
#include "mpi/packing/copier.hpp"
#include "mpi/prepare.hpp"
#include "mpi/waiting.hpp"
#include "pattern/pattern.hpp"

namespace tradewind::mpi {

namespace {

MPI_Datatype type_of(Element element) {
    switch (element) {
        case Element::f4: return MPI_FLOAT;
        case Element::f8: return MPI_DOUBLE;
        case Element::i4: return MPI_INT32_T;
        case Element::i8: return MPI_INT64_T;
        case Element::c8: return MPI_C_FLOAT_COMPLEX;
        case Element::c16: return MPI_C_DOUBLE_COMPLEX;
    }
    return MPI_DATATYPE_NULL;
}

MPI_Op operation_of(Operation operation) {
    switch (operation) {
        case Operation::sum: return MPI_SUM;
        case Operation::min: return MPI_MIN;
        case Operation::max: return MPI_MAX;
        case Operation::prod: return MPI_PROD;
    }
    return MPI_OP_NULL;
}

class NativeAllReduce : public Plan {
  public:
    NativeAllReduce(MPI_Comm comm, const pattern::Pattern& pattern, const PlanRequest& request)
        : Plan(comm, pattern, "native", request),
          type_(type_of(request.element)),
          operation_(operation_of(request.operation)),
          watchdog_s_(request.watchdog_s),
          copier_(request.source[0].copier) {
        const Index element = bytes_of(request.element);
        const Index elements = pattern.source_box(communicator_.rank()).volume();
        count_ = static_cast<int>(elements * static_cast<Index>(request.source.size()));
        buffer_ = prepare(communicator(), "", [&] { return Memory(count_ * element); }, limit_of(watchdog_s_));
        std::byte* data = buffer_.data();
        for (const Field& field : request.source) {
            const View memory{field.data, field.stride, field.copier.get()},
                dense{data, dense_strides(field.shape, element)};
            pack_.push_back(make_copy(memory, dense, field.shape, element, Stores::cached));
            unpack_.push_back(make_copy(dense, memory, field.shape, element, Stores::cached));
            data += elements * element;
        }
        compile(pack_);
        compile(unpack_);
    }
    ~NativeAllReduce() override {
        if (!settled()) std::make_unique<Memory>(std::move(buffer_)).release();  // MPI still works on it
    }
    bool pokes() const override { return true; }
    void copy_only() override {
        copy(pack_);
        copy(unpack_);
    }

  protected:
    void begin() override {
        recorder_.during(Activity::pack, 0, -1, 0, [this] { copy(pack_); });
        check(MPI_Iallreduce(MPI_IN_PLACE, buffer_.data(), count_, type_, operation_, communicator(), &request_),
              [this] { return who(0) + ": MPI_Iallreduce"; });
    }
    void finish() override {
        recorder_.during(Activity::wait, 0, -1, 0, [this] {
            wait_all(
                1, &request_, MPI_STATUSES_IGNORE, watchdog_s_, [this] { return who(0); },
                [](int) { return std::string("MPI_Iallreduce"); });
        });
        recorder_.during(Activity::unpack, 0, -1, 0, [this] { copy(unpack_); });
    }
    bool go_on() override {
        int over = 0;
        check(MPI_Test(&request_, &over, MPI_STATUS_IGNORE), [this] { return who(0) + ": MPI_Iallreduce"; });
        return over != 0;
    }
    void whole() override {
        if (watchdog_s_ > 0) return Plan::whole();  // a blocking call could not be given up
        recorder_.during(Activity::pack, 0, -1, 0, [this] { copy(pack_); });
        recorder_.during(Activity::wait, 0, -1, 0, [this] {
            check(MPI_Allreduce(MPI_IN_PLACE, buffer_.data(), count_, type_, operation_, communicator()),
                  [this] { return who(0) + ": MPI_Allreduce"; });
        });
        recorder_.during(Activity::unpack, 0, -1, 0, [this] { copy(unpack_); });
    }

  private:
    void copy(const std::vector<StridedCopy>& copies) const {
        for (const StridedCopy& c : copies) c.execute(c);
        if (copier_) copier_->finish();
    }

    MPI_Datatype type_;
    MPI_Op operation_;
    const double watchdog_s_;
    const std::shared_ptr<Copier> copier_;  // of the arrays; none: they lie in the host's memory
    int count_ = 0;
    Memory buffer_;
    std::vector<StridedCopy> pack_, unpack_;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<Plan> make_native_plan(const pattern::Pattern& pattern, MPI_Comm comm, const PlanRequest& request,
                                       Mismatch mismatch) {
    const auto check = [&] {
        const Rank rank = check_request(pattern, comm, request);
        if (pattern.collective() != pattern::Collective::reduction)
            throw InputError(
                "algorithm \"native\" is the MPI library's own collective: there is one for transpositions "
                "within rows or columns of ranks (MPI_Alltoallv) and for reductions (MPI_Allreduce), none "
                "for this " +
                pattern.describe());
        combine_function(request.element, request.operation);  // which may refuse
        const Index count = pattern.source_box(rank).volume() * static_cast<Index>(request.source.size());
        if (count > std::numeric_limits<int>::max())
            throw InputError("algorithm \"native\": " + std::to_string(count) +
                             " elements to reduce are more than the collectives of MPI count (2147483647)");
    };
    if (!prepared(comm, identity(pattern, "native", request), mismatch, limit_of(request.watchdog_s), check))
        return nullptr;
    return std::make_unique<NativeAllReduce>(comm, pattern, request);
}

}  // namespace tradewind::mpi
