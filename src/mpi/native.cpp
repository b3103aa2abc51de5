// MPI's own reduction behind the interface of a plan.
#include <limits>

#include "mpi/device/staging.hpp"
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
          watchdog_s_(request.watchdog_s) {
        const Index element = bytes_of(request.element);
        const Index elements = pattern.source_box(communicator_.rank()).volume();
        count_ = static_cast<int>(elements * static_cast<Index>(request.source.size()));
        buffer_ = prepare(communicator(), "", [&] { return Memory(count_ * element); }, limit_of(watchdog_s_));
        if (copier_) {
            mirror_ = PlanMemory(count_ * element, copier_);
            direct_ = copier_->mpi_takes().first;
            pinned_ = !direct_ && count_ > 0 && copier_->pin(buffer_.data(), count_ * element);
            staged_ = direct_ ? direct_text(*copier_) : staged_text(*copier_);
        }
        std::byte* data = copier_ ? mirror_.data() : buffer_.data();
        for (const Field& field : request.source) {
            const View memory{field.data, field.stride, copier_.get()},
                dense{data, dense_strides(field.shape, element), copier_.get()};
            pack_.push_back(make_copy(memory, dense, field.shape, element, Stores::cached));
            unpack_.push_back(make_copy(dense, memory, field.shape, element, Stores::cached));
            data += elements * element;
        }
        compile(pack_);
        compile(unpack_);
    }
    ~NativeAllReduce() override {
        if (!settled()) {
            std::make_unique<Memory>(std::move(buffer_)).release();  // MPI still works on it
            return;
        }
        if (copier_) copier_->wait_at_the_end();
        if (pinned_) copier_->unpin(buffer_.data());
    }
    bool pokes() const override { return true; }
    void copy_only() override {
        gather();
        scatter();
    }

  protected:
    void begin() override {
        recorder_.during(Activity::pack, 0, -1, 0, [this] { gather(); });
        check(MPI_Iallreduce(MPI_IN_PLACE, memory(), count_, type_, operation_, communicator(), &request_),
              [this] { return who(0) + ": MPI_Iallreduce"; });
    }
    void finish() override {
        recorder_.during(Activity::wait, 0, -1, 0, [this] {
            wait_all(
                1, &request_, MPI_STATUSES_IGNORE, watchdog_s_, [this] { return who(0); },
                [](int) { return std::string("MPI_Iallreduce"); });
        });
        recorder_.during(Activity::unpack, 0, -1, 0, [this] { scatter(); });
    }
    bool go_on() override {
        int over = 0;
        check(MPI_Test(&request_, &over, MPI_STATUS_IGNORE), [this] { return who(0) + ": MPI_Iallreduce"; });
        return over != 0;
    }
    void whole() override {
        if (watchdog_s_ > 0) return Plan::whole();  // a blocking call could not be given up
        recorder_.during(Activity::pack, 0, -1, 0, [this] { gather(); });
        recorder_.during(Activity::wait, 0, -1, 0, [this] {
            check(MPI_Allreduce(MPI_IN_PLACE, memory(), count_, type_, operation_, communicator()),
                  [this] { return who(0) + ": MPI_Allreduce"; });
        });
        recorder_.during(Activity::unpack, 0, -1, 0, [this] { scatter(); });
    }

  private:
    // The values that MPI combines.
    std::byte* memory() const { return direct_ ? mirror_.data() : buffer_.data(); }
    Index bytes() const { return direct_ || pack_.empty() ? 0 : count_ * bytes_of(carried().element); }
    void gather() const {
        if (!copier_) {
            for (const StridedCopy& c : pack_) c.execute(c);
            return;
        }
        copier_->enter();
        copier_->copy(pack_.data(), pack_.size());
        if (bytes() > 0) copier_->to_host(buffer_.data(), mirror_.data(), bytes());
        copier_->finish();
    }
    void scatter() const {
        if (!copier_) {
            for (const StridedCopy& c : unpack_) c.execute(c);
            return;
        }
        if (bytes() > 0) copier_->from_host(mirror_.data(), buffer_.data(), bytes());
        copier_->copy(unpack_.data(), unpack_.size());
        copier_->leave();
    }

    MPI_Datatype type_;
    MPI_Op operation_;
    const double watchdog_s_;
    int count_ = 0;
    Memory buffer_;
    PlanMemory mirror_;  // of the buffer, where the arrays are on a device
    bool direct_ = false, pinned_ = false;
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
