// The MPI library's own collectives behind the interface of a plan.
#include <limits>
#include <optional>

#include "mpi/copy.hpp"
#include "mpi/error.hpp"
#include "mpi/prepare.hpp"
#include "mpi/program.hpp"
#include "pattern/allreduce.hpp"
#include "pattern/transpose.hpp"

namespace tradewind {

namespace {

std::array<Index, 3> shape_of(const Box& box) {
    return {box.width(X), box.width(Y), box.width(Z)};
}

View view(const Field& field, const Box& storage, const Box& box) {
    std::byte* data = field.data;
    for (int a = 0; a < 3; ++a) data += (box.begin[a] - storage.begin[a]) * field.stride[a];
    return {data, field.stride};
}

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

int as_int(Index count, const char* what) {
    if (count > std::numeric_limits<int>::max())
        throw InputError("algorithm \"native\": " + std::to_string(count) + " elements " + what +
                         " are more than the collectives of MPI count (2147483647)");
    return static_cast<int>(count);
}

// What both native plans have: one buffer on either side of the collective, and the copies into and out of them.
class NativePlan : public Plan {
  public:
    ~NativePlan() override {
        if (settled()) return;
        std::make_unique<Memory>(std::move(outgoing_)).release();  // MPI still works on it
        std::make_unique<Memory>(std::move(incoming_)).release();
    }
    void copy_only() override {
        copy(pack_);
        copy(unpack_);
    }

  protected:
    NativePlan(MPI_Comm comm, std::string description) : Plan(comm, std::move(description)) {}
    void finish() override {
        check(MPI_Wait(&request_, MPI_STATUS_IGNORE), [this] { return who(0) + ": waiting"; });
        copy(unpack_);
    }
    static void copy(const std::vector<StridedCopy>& copies) {
        for (const StridedCopy& c : copies) c.execute(c);
    }

    Memory outgoing_, incoming_;
    std::vector<StridedCopy> pack_, unpack_;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

class NativeTranspose : public NativePlan {
  public:
    // One entry a member of the group: elements, and the first one's place in the buffer.
    struct Layout {
        std::vector<int> send_counts, send_begins, receive_counts, receive_begins;
    };

    NativeTranspose(MPI_Comm comm, const Transpose& pattern, const PlanRequest& request, Layout layout)
        : NativePlan(comm, pattern.describe() + ", native"),
          layout_(std::move(layout)),
          type_(type_of(request.element)) {
        const Rank rank = communicator_.rank();
        const Transpose::Place place = pattern.sending(rank);
        check(MPI_Comm_split(communicator(), pattern.receiver_at(rank, 0), static_cast<int>(place.position), &group_),
              [this] { return who(0) + ": making the group's communicator"; });
        MPI_Comm_set_errhandler(group_, MPI_ERRORS_RETURN);
        compile(pattern, request, rank);
    }
    ~NativeTranspose() override {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (!finalized) MPI_Comm_free(&group_);
    }

    static Layout layout(const Transpose& pattern, Rank rank, const PlanRequest& request) {
        Layout l;
        const Index fields = static_cast<Index>(request.source.size());
        Index out = 0, in = 0;
        for (Index q = 0; q < pattern.sending(rank).receivers; ++q) {
            const Index sent = pattern.block_volume(rank, pattern.receiver_at(rank, q)) * fields;
            const Index received = pattern.block_volume(pattern.sender_at(rank, q), rank) * fields;
            l.send_counts.push_back(as_int(sent, "in one block"));
            l.send_begins.push_back(as_int(out, "to send"));
            l.receive_counts.push_back(as_int(received, "in one block"));
            l.receive_begins.push_back(as_int(in, "to receive"));
            out += sent;
            in += received;
        }
        return l;
    }

  protected:
    void begin() override {
        copy(pack_);
        check(MPI_Ialltoallv(outgoing_.data(), layout_.send_counts.data(), layout_.send_begins.data(), type_,
                             incoming_.data(), layout_.receive_counts.data(), layout_.receive_begins.data(), type_,
                             group_, &request_),
              [this] { return who(0) + ": MPI_Ialltoallv"; });
    }
    void whole() override {
        copy(pack_);
        check(MPI_Alltoallv(outgoing_.data(), layout_.send_counts.data(), layout_.send_begins.data(), type_,
                            incoming_.data(), layout_.receive_counts.data(), layout_.receive_begins.data(), type_,
                            group_),
              [this] { return who(0) + ": MPI_Alltoallv"; });
        copy(unpack_);
    }

  private:
    void compile(const Transpose& pattern, const PlanRequest& request, Rank rank) {
        const Index element = bytes_of(request.element), fields = static_cast<Index>(request.source.size());
        const Box source = pattern.source_box(rank), target = pattern.target_box(rank);
        outgoing_ = Memory(source.volume() * fields * element);
        incoming_ = Memory(target.volume() * fields * element);
        for (std::size_t q = 0; q < layout_.send_counts.size(); ++q) {
            const auto position = static_cast<Index>(q);
            const Box sent = pattern.block(rank, pattern.receiver_at(rank, position));
            const Box received = pattern.block(pattern.sender_at(rank, position), rank);
            for (Index f = 0; f < fields; ++f) {
                const auto field = static_cast<std::size_t>(f);
                const auto out = shape_of(sent), in = shape_of(received);
                std::byte* to = outgoing_.data() + (layout_.send_begins[q] + f * sent.volume()) * element;
                std::byte* from = incoming_.data() + (layout_.receive_begins[q] + f * received.volume()) * element;
                pack_.push_back(make_copy(view(request.source[field], source, sent), {to, dense_strides(out, element)},
                                          out, element));
                unpack_.push_back(make_copy({from, dense_strides(in, element)},
                                            view(request.target[field], target, received), in, element));
            }
        }
    }

    Layout layout_;
    MPI_Datatype type_;
    MPI_Comm group_ = MPI_COMM_NULL;
};

class NativeAllReduce : public NativePlan {
  public:
    NativeAllReduce(MPI_Comm comm, const AllReduce& pattern, const PlanRequest& request)
        : NativePlan(comm, pattern.describe() + ", native"),
          type_(type_of(request.element)),
          operation_(operation_of(request.operation)) {
        const Index element = bytes_of(request.element);
        const Box box = pattern.source_box(communicator_.rank());
        const auto shape = shape_of(box);
        count_ = static_cast<int>(box.volume() * static_cast<Index>(request.source.size()));
        incoming_ = Memory(count_ * element);
        std::byte* data = incoming_.data();
        for (const Field& field : request.source) {
            const View memory = view(field, box, box), dense{data, dense_strides(shape, element)};
            pack_.push_back(make_copy(memory, dense, shape, element));
            unpack_.push_back(make_copy(dense, memory, shape, element));
            data += box.volume() * element;
        }
    }

  protected:
    void begin() override {
        copy(pack_);
        check(MPI_Iallreduce(MPI_IN_PLACE, incoming_.data(), count_, type_, operation_, communicator(), &request_),
              [this] { return who(0) + ": MPI_Iallreduce"; });
    }
    void whole() override {
        copy(pack_);
        check(MPI_Allreduce(MPI_IN_PLACE, incoming_.data(), count_, type_, operation_, communicator()),
              [this] { return who(0) + ": MPI_Allreduce"; });
        copy(unpack_);
    }

  private:
    MPI_Datatype type_;
    MPI_Op operation_;
    int count_ = 0;
};

}  // namespace

std::unique_ptr<Plan> make_native_plan(const Pattern& pattern, MPI_Comm comm, const PlanRequest& request) {
    const auto* transpose = dynamic_cast<const Transpose*>(&pattern);
    const auto* reduce = dynamic_cast<const AllReduce*>(&pattern);
    auto layout = prepare(comm, identity(pattern, "native", request), [&] {
        const Rank rank = check_request(pattern, comm, request);
        if (transpose && transpose->complete()) return NativeTranspose::layout(*transpose, rank, request);
        if (!reduce)
            throw InputError(
                "algorithm \"native\" is the MPI library's own collective: there is one for transpositions "
                "within rows or columns of ranks (MPI_Alltoallv) and for reductions (MPI_Allreduce), none "
                "for this " +
                pattern.describe());
        combine_function(request.element, request.operation);
        as_int(reduce->count() * static_cast<Index>(request.source.size()), "to reduce");
        return NativeTranspose::Layout{};
    });
    if (reduce) return std::make_unique<NativeAllReduce>(comm, *reduce, request);
    return std::make_unique<NativeTranspose>(comm, *transpose, request, std::move(layout));
}

}  // namespace tradewind
