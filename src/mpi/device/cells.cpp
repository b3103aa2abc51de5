#include "mpi/cells.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "mpi/packing/copier.hpp"
#include "mpi/reduce.hpp"

namespace tradewind::mpi {

namespace {

// Calls visit(places, cell) for each group of copies.
template <typename Visit>
void each_group(const pattern::Copies& copies, Visit visit) {
    std::vector<Index> places;
    for (const pattern::Copies::Sweep& s : copies.sweeps())
        for (Index j = 0; j < s.count[1]; ++j)
            for (Index i = 0; i < s.count[0]; ++i) {
                places.clear();
                for (std::size_t k = 0; k < s.size; ++k)
                    places.push_back(copies.places()[s.first + k] + i * s.step[0] + j * s.step[1]);
                visit(places, s.cell + i * s.cell_step[0] + j * s.cell_step[1]);
            }
    for (const pattern::Copies::List& list : copies.lists())
        for (std::size_t i = 0; i < list.count; ++i) {
            places.clear();
            for (std::size_t k = 0; k < list.size; ++k)
                places.push_back(copies.places()[list.first + k * list.count + i]);
            visit(places, copies.cells()[list.first_cell + i]);
        }
}

void append(const std::vector<Index>& places, Index step, Groups::Side& side) {
    if (side.begins.empty()) side.begins.push_back(0);
    for (const Index place : places) side.places.push_back(place * step);
    side.begins.push_back(static_cast<Index>(side.places.size()));
}

// The arrays of cells, and of the cells that come, have one distance from level to level, and follow each other in one
// memory: one kernel reads both.
class DeviceCells : public CellWork {
  public:
    DeviceCells(const schedule::Schedule& schedule, const pattern::GatherScatter& whole, Rank rank,
                const PlanRequest& request)
        : fields_(request.source),
          copier_(request.source[0].copier),
          type_(request.element),
          operation_(request.operation),
          element_(bytes_of(request.element)),
          levels_(whole.levels()),
          numbered_(schedule.numbered()) {
        const std::shared_ptr<const pattern::GatherScatter> seen(std::shared_ptr<void>(), &whole);
        const pattern::SharedCells shared(seen, numbered_);
        cells_ = shared.source_box(rank).width(layout::X);
        received_ = shared.target_box(rank).width(layout::X);
        row_ = std::max<Index>(std::max(cells_, received_), 1) * element_;
        memory_ = PlanMemory(2 * field_bytes() * static_cast<Index>(fields_.size()), copier_);
        const pattern::OwnCopies copies = whole.copies(rank);
        for (Index cell = 0; numbered_ && cell < whole.cells(rank); ++cell)
            numbers_.push_back(whole.number(rank, cell));
        for (const Field& field : fields_) gather_.push_back(with_cells(copies.shared, field, true));
        for (const Field& field : fields_) scatter_.push_back(with_cells(copies.shared, field, false));
        for (const Field& field : fields_) combine_.push_back(within(copies.inner, field));
        bool combines = false;
        for (int stage = 0; stage < schedule.stages(); ++stage) combines = combines || schedule.combines(stage);
        fold_ = folded(combines ? std::vector<pattern::Fold>() : whole.folds(rank));
        if (numbered_) clear_ = cleared(pattern::copy_loops(name_of(type_), whole.operation()));
    }

    void gather() const override {
        for (std::size_t f = 0; f < fields_.size(); ++f) {
            if (numbered_) run(clear_, neutral_.data(), cells(f));
            run(gather_[f], fields_[f].data, cells(f));
        }
    }
    void combine() const override {
        for (std::size_t f = 0; f < fields_.size(); ++f) run(combine_[f], fields_[f].data, fields_[f].data);
    }
    void scatter() const override {
        for (std::size_t f = 0; f < fields_.size(); ++f) {
            run(fold_, cells(f), cells(f));
            run(scatter_[f], cells(f), fields_[f].data);
        }
    }
    std::vector<Field> exchanged() const override { return arrays(cells_, 0); }
    std::vector<Field> arriving() const override { return arrays(received_, apart()); }

  private:
    Index field_bytes() const { return row_ * levels_[0] * levels_[1]; }
    Index apart() const { return field_bytes() * static_cast<Index>(fields_.size()); }  // of cells and what comes
    std::byte* cells(std::size_t field) const { return memory_.data() + static_cast<Index>(field) * field_bytes(); }
    std::vector<Field> arrays(Index length, Index begin) const {
        std::vector<Field> all;
        for (std::size_t f = 0; f < fields_.size(); ++f)
            all.push_back(
                {cells(f) + begin, {length, levels_[0], levels_[1]}, {element_, row_, row_ * levels_[0]}, copier_});
        return all;
    }
    void run(std::size_t groups, const std::byte* from, std::byte* to) const {
        copier_->combine(type_, operation_, groups, from, to);
    }

    Index place_of(Index cell) const { return numbered_ ? numbers_[static_cast<std::size_t>(cell)] : cell; }
    Groups groups() const {
        Groups made;
        made.levels = levels_;
        made.from.begins = made.to.begins = {0};
        made.from.level = made.to.level = {row_, row_ * levels_[0]};
        return made;
    }
    static std::array<Index, 2> levels_of(const Field& field) {
        return {field.stride[layout::Y], field.stride[layout::Z]};
    }
    std::size_t with_cells(const pattern::Copies& copies, const Field& field, bool gathers) const {
        Groups made = groups();
        Groups::Side &values = gathers ? made.from : made.to, &cell_side = gathers ? made.to : made.from;
        values.level = levels_of(field);
        each_group(copies, [&](const std::vector<Index>& places, Index cell) {
            append(places, field.stride[layout::X], values);
            append({place_of(cell)}, element_, cell_side);
        });
        return copier_->compile(made);
    }
    std::size_t within(const pattern::Copies& copies, const Field& field) const {
        Groups made = groups();
        made.from.level = made.to.level = levels_of(field);
        each_group(copies, [&](const std::vector<Index>& places, Index) {
            append(places, field.stride[layout::X], made.from);
            append(places, field.stride[layout::X], made.to);
        });
        return copier_->compile(made);
    }
    std::size_t folded(const std::vector<pattern::Fold>& folds) const {
        Groups made = groups();
        for (const pattern::Fold& fold : folds)
            for (Index i = 0; i < fold.length; ++i) {
                const Index own = (fold.cell + i) * element_;
                std::vector<Index> parts;
                for (const Index part : fold.parts) parts.push_back((part + i) * element_ + apart());
                parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(fold.own), own);
                append(parts, 1, made.from);
                append({own}, 1, made.to);
            }
        return copier_->compile(made);
    }
    std::size_t cleared(const pattern::CopyLoops& loops) {
        std::array<std::byte, 16> value{};
        loops.clear(value.data(), 1);
        neutral_ = PlanMemory(static_cast<Index>(value.size()), copier_);
        copier_->finish();
        copier_->from_host(neutral_.data(), value.data(), element_);
        copier_->finish();
        Groups made = groups();
        made.from.level = {0, 0};
        for (Index cell = 0; cell < cells_; ++cell) {
            append({0}, 1, made.from);
            append({cell}, element_, made.to);
        }
        return copier_->compile(made);
    }

    const std::vector<Field> fields_;
    const std::shared_ptr<Copier> copier_;
    const Element type_;
    const Operation operation_;
    const Index element_;
    const std::array<Index, 2> levels_;
    const bool numbered_;
    Index cells_ = 0, received_ = 0;  // elements of a level
    Index row_ = 0;                   // bytes from level to level
    PlanMemory memory_, neutral_;
    std::vector<Index> numbers_;
    std::vector<std::size_t> gather_, scatter_, combine_;  // groups, by field
    std::size_t fold_ = 0, clear_ = 0;
};

}  // namespace

std::unique_ptr<CellWork> make_device_cells(const schedule::Schedule& schedule, const pattern::GatherScatter& whole,
                                            Rank rank, const PlanRequest& request) {
    return std::make_unique<DeviceCells>(schedule, whole, rank, request);
}

}  // namespace tradewind::mpi
