#include "mpi/gather_scatter.hpp"

#include <cstring>
#include <optional>

#include "base/error.hpp"
#include "mpi/cells.hpp"
#include "mpi/memory.hpp"
#include "mpi/prepare.hpp"
#include "mpi/shared_memory.hpp"

namespace tradewind::mpi {

namespace {

// A schedule of a gather-scatter, bound to the arrays of cells that it describes.
class OfCells : public schedule::Schedule {
  public:
    OfCells(const schedule::Schedule& schedule, std::shared_ptr<const pattern::GatherScatter> whole)
        : Schedule(std::make_shared<pattern::SharedCells>(std::move(whole), schedule.numbered()), schedule.algorithm()),
          schedule_(schedule) {}

    int stages() const override { return schedule_.stages(); }
    int sends(Rank rank, int stage) const override { return schedule_.sends(rank, stage); }
    int receives(Rank rank, int stage) const override { return schedule_.receives(rank, stage); }
    schedule::Message send(Rank rank, int stage, int j) const override { return schedule_.send(rank, stage, j); }
    schedule::Message receive(Rank rank, int stage, int j) const override { return schedule_.receive(rank, stage, j); }
    void send_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        schedule_.send_pieces(rank, stage, j, pieces);
    }
    void receive_pieces(Rank rank, int stage, int j, std::vector<schedule::Piece>& pieces) const override {
        schedule_.receive_pieces(rank, stage, j, pieces);
    }
    void copies(Rank rank, int stage, std::vector<schedule::Copy>& copies) const override {
        schedule_.copies(rank, stage, copies);
    }
    bool has_runs() const override { return schedule_.has_runs(); }
    schedule::RunList send_runs(Rank rank, int stage, int j) const override {
        return schedule_.send_runs(rank, stage, j);
    }
    schedule::RunList receive_runs(Rank rank, int stage, int j) const override {
        return schedule_.receive_runs(rank, stage, j);
    }
    schedule::RunCopy kept_runs(Rank rank, int stage) const override { return schedule_.kept_runs(rank, stage); }
    bool combines(int stage) const override { return schedule_.combines(stage); }
    bool numbered() const override { return schedule_.numbered(); }
    Index scratch(Rank rank) const override { return schedule_.scratch(rank); }

  private:
    const schedule::Schedule& schedule_;
};

// Arrays of one field after another, each [z][y][x] without gaps; where the ranks of a node are to read them, in memory
// that these can map.
class CellArrays {
  public:
    CellArrays(const layout::Box& box, std::size_t fields, Index element, bool shared)
        : shape_{box.width(layout::X), box.width(layout::Y), box.width(layout::Z)},
          element_(element),
          bytes_(shape_[0] * shape_[1] * shape_[2] * element) {
        const Index all = bytes_ * static_cast<Index>(fields);
        if (shared && all > 0)
            shared_.emplace(all);
        else
            private_ = Memory(all);
    }
    std::byte* level(std::size_t field, Index level) const {
        return (shared_ ? shared_->data() : private_.data()) + static_cast<Index>(field) * bytes_ +
               level * shape_[0] * element_;
    }
    std::vector<Field> fields(std::size_t count) const {
        std::vector<Field> all;
        for (std::size_t f = 0; f < count; ++f)
            all.push_back({level(f, 0), shape_, {element_, element_ * shape_[0], element_ * shape_[0] * shape_[1]}});
        return all;
    }

  private:
    std::array<Index, 3> shape_;
    Index element_, bytes_;
    Memory private_;
    std::optional<SharedMemory> shared_;
};

Operation operation_of(const pattern::GatherScatter& whole) {
    const std::string& name = whole.operation();
    return parse_operation(name == "add" ? "sum" : name == "mul" ? "prod" : name);
}

// That of arrays in the host's memory.
struct HostCells : CellWork {
    HostCells(const schedule::Schedule& schedule, const pattern::GatherScatter& whole, Rank rank,
              const PlanRequest& request)
        : loops(pattern::copy_loops(name_of(request.element), whole.operation())),
          fields(request.source),
          element(bytes_of(request.element)),
          depth(whole.depth()),
          count(whole.cells(rank)),
          numbered(schedule.numbered()),
          copies(whole.copies(rank)),
          cells(pattern::SharedCells(std::shared_ptr<const pattern::GatherScatter>(std::shared_ptr<void>(), &whole),
                                     numbered)
                    .source_box(rank),
                fields.size(), element, request.carried_by().family == schedule::Family::shared),
          received(pattern::SharedCells(std::shared_ptr<const pattern::GatherScatter>(std::shared_ptr<void>(), &whole),
                                        numbered)
                       .target_box(rank),
                   fields.size(), element, false) {
        bool combines = false;
        for (int stage = 0; stage < schedule.stages(); ++stage) combines = combines || schedule.combines(stage);
        if (!combines) folds = whole.folds(rank);
        if (!numbered) return;
        shared = whole.shared();
        for (Index cell = 0; cell < count; ++cell) numbers.push_back(whole.number(rank, cell));
        own = Memory(count * element);
    }

    template <class Use>
    void each(Use use) const {
        for (std::size_t f = 0; f < fields.size(); ++f)
            for (Index level = 0; level < depth; ++level) {
                const Index y = fields[f].shape[layout::Y] == 0 ? 0 : level % fields[f].shape[layout::Y],
                            z = fields[f].shape[layout::Y] == 0 ? 0 : level / fields[f].shape[layout::Y];
                use(pattern::Line{fields[f].data + y * fields[f].stride[layout::Y] + z * fields[f].stride[layout::Z],
                                  fields[f].stride[layout::X]},
                    cells.level(f, level), received.level(f, level));
            }
    }
    void gather() const override {
        each([&](pattern::Line line, std::byte* into, std::byte*) {
            if (!numbered) return loops.gather(copies.shared, line, into);
            loops.gather(copies.shared, line, own.data());
            loops.clear(into, shared);
            for (std::size_t k = 0; k < numbers.size(); ++k)
                std::memcpy(into + numbers[k] * element, own.data() + static_cast<Index>(k) * element,
                            static_cast<std::size_t>(element));
        });
    }
    void combine() const override {
        each([&](pattern::Line line, std::byte*, std::byte*) { loops.combine(copies.inner, line); });
    }
    void scatter() const override {
        each([&](pattern::Line line, std::byte* from, const std::byte* came) {
            if (!numbered) {
                loops.fold(folds, from, came);
                return loops.scatter(copies.shared, line, from);
            }
            for (std::size_t k = 0; k < numbers.size(); ++k)
                std::memcpy(own.data() + static_cast<Index>(k) * element, from + numbers[k] * element,
                            static_cast<std::size_t>(element));
            loops.scatter(copies.shared, line, own.data());
        });
    }

    std::vector<Field> exchanged() const override { return cells.fields(fields.size()); }
    std::vector<Field> arriving() const override { return received.fields(fields.size()); }

    const pattern::CopyLoops& loops;
    std::vector<Field> fields;
    Index element, depth, count, shared = 0;
    bool numbered;
    pattern::OwnCopies copies;
    std::vector<pattern::Fold> folds;
    std::vector<Index> numbers;
    CellArrays cells, received;
    Memory own;
};

class GatherScatterPlan : public Plan {
  public:
    GatherScatterPlan(MPI_Comm comm, const pattern::GatherScatter& whole, const std::string& algorithm,
                      const PlanRequest& request, std::unique_ptr<CellWork> work, std::unique_ptr<Plan> exchange)
        : Plan(comm, whole, algorithm, request), work_(std::move(work)), exchange_(std::move(exchange)) {
        messages_ = exchange_->messages();
        staged_ = exchange_->staging();
        bytes_sent_ = exchange_->bytes_sent();
    }
    // Memory on which MPI or peers still work is never freed: nothing else is safe.
    ~GatherScatterPlan() override {
        if (!exchange_->settled())
            work_.release();
        else if (copier_)
            copier_->wait_at_the_end();
    }

    bool pokes() const override { return exchange_->pokes(); }
    std::vector<Sent> sent() const override { return exchange_->sent(); }
    Recorder& recorder() override { return exchange_->recorder(); }
    void copy_only() override {
        gather();
        exchange_->copy_only();
        combine();
        scatter();
        if (copier_) copier_->finish();
    }

  protected:
    void begin() override {
        if (copier_) copier_->enter();
        gather();
        exchange_->start();
        combine();
    }
    void finish() override {
        exchange_->wait();
        scatter();
        if (copier_) copier_->leave();
    }
    bool go_on() override { return exchange_->poke(); }

  private:
    void gather() {
        recorder().during(Activity::pack, 0, -1, 0, [&] { work_->gather(); });
    }
    void combine() {
        recorder().during(Activity::copy, 0, -1, 0, [&] { work_->combine(); });
    }
    void scatter() {
        recorder().during(Activity::unpack, 0, -1, 0, [&] { work_->scatter(); });
    }

    std::unique_ptr<CellWork> work_;
    std::unique_ptr<Plan> exchange_;
};

}  // namespace

std::unique_ptr<Plan> make_gather_scatter_plan(const schedule::Schedule& schedule,
                                               const std::shared_ptr<const pattern::GatherScatter>& whole,
                                               MPI_Comm comm, const PlanRequest& request, Mismatch mismatch) {
    PlanRequest of_cells = request;
    of_cells.operation = operation_of(*whole);
    const auto check = [&] {
        check_request(*whole, comm, of_cells);
        if (request.operation != Operation::sum && request.operation != of_cells.operation)
            throw InputError(std::string("operation ") + name_of(request.operation) +
                             ": that of a gather-scatter is fixed when it is made, and this one's is " +
                             whole->operation());
        if (const std::string refusal = schedule::transport_refusal(schedule, request.transport, request.packing);
            !refusal.empty())
            throw InputError(refusal);
        pattern::copy_loops(name_of(request.element), whole->operation());  // which may refuse
    };
    if (!prepared(comm, identity(*whole, schedule.algorithm(), of_cells), mismatch, limit_of(request.watchdog_s),
                  check))
        return nullptr;
    Rank rank = 0;
    MPI_Comm_rank(comm, &rank);
    std::unique_ptr<CellWork> work = prepare(comm, "", [&]() -> std::unique_ptr<CellWork> {
        if (request.source[0].copier) return make_device_cells(schedule, *whole, rank, of_cells);
        return std::make_unique<HostCells>(schedule, *whole, rank, request);
    });
    of_cells.source = work->exchanged();
    of_cells.target = work->arriving();
    auto exchange = make_plan(OfCells(schedule, whole), comm, of_cells);
    return std::make_unique<GatherScatterPlan>(comm, *whole, schedule.algorithm(), request, std::move(work),
                                               std::move(exchange));
}

}  // namespace tradewind::mpi
