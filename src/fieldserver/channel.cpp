#include "fieldserver/channel.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.hpp"
#include "mpi/agreement.hpp"
#include "mpi/error.hpp"

namespace tradewind::fieldserver {

Channel::Channel(int number, ServerLink link, const OutputPlan& plan, ServerMethod method, Agreement& agreement)
    : ServerMessages(link.root, std::move(link.control), plan.patience, agreement),
      number_(number),
      receiver_(link.receiver),
      waits_(false),
      plan_(plan),
      method_(std::move(method)),
      agreement_(agreement) {}

Channel::Channel(int number, std::unique_ptr<LocalWriter> writer, int root, bool waits, const OutputPlan& plan,
                 ServerMethod method, Agreement& agreement)
    : ServerMessages(std::move(writer), root, agreement),
      number_(number),
      receiver_{agreement.comm(), root, 0},
      waits_(waits),
      plan_(plan),
      method_(std::move(method)),
      agreement_(agreement) {}

Channel::~Channel() {
    for (const Slot& slot : slots_) keep_unsettled(slot);
}

void Channel::keep_unsettled(const Slot& slot) {
    const auto is_settled = [](const auto& plan) { return plan.second->settled(); };
    if (std::all_of(slot.plans.begin(), slot.plans.end(), is_settled)) return;
    new std::vector(slot.memory);
    new std::vector(slot.parts);
    new std::vector(slot.whole);
}

// --- blocks ---

bool Channel::add(const FieldForm& form, const Entry& entry, const ModelPart& values, bool grows) {
    if (!lost.empty()) return false;
    auto found = pending_.find(form.alike);
    if (found != pending_.end()) {
        const Slot& slot = slots_[found->second];
        if (slot.entries.size() == slot.parts.size() && !has_room(form.bytes())) {
            if (!send(found->second)) return false;
            found = pending_.end();
        }
    }
    const int free = found == pending_.end() ? free_slot(form, entry.field, grows) : static_cast<int>(found->second);
    if (free < 0) return false;
    const auto place = static_cast<std::size_t>(free);
    Slot& slot = slots_[place];
    if (slot.entries.size() == slot.parts.size()) {
        const ServerHandover& handover = *handovers_.at(form.alike);
        slot.whole.push_back(new_whole(place, form));
        slot.memory.push_back(handover.memory());
        slot.parts.push_back(handover.part(slot.memory.back()));
    }
    pending_.emplace(form.alike, place);  // not before it has its memory
    copy_out(values, slot.parts[slot.entries.size()]);
    slot.entries.push_back(entry);
    if (static_cast<Index>(slot.entries.size()) * form.levels >= plan_.block) send(place);
    return true;
}

std::optional<Channel::Sent> Channel::start(const FieldForm& form, const Entry& entry, const ModelPart& values,
                                            bool grows) {
    if (!lost.empty()) return {};
    agreement_.check();
    const int place = free_slot(form, entry.field, grows, &values);
    if (place < 0) return {};
    Slot& slot = slots_[static_cast<std::size_t>(place)];
    if (slot.parts.empty()) {
        slot.whole.push_back(new_whole(static_cast<std::size_t>(place), form));
        slot.parts.push_back(values);
        slot.of_model = true;
    }
    slot.entries.push_back(entry);
    send(static_cast<std::size_t>(place));
    return Sent{static_cast<std::size_t>(place), slot.number};
}

bool Channel::has_gone(const Sent& sent) {
    Slot& slot = slots_[sent.slot];
    if (slot.number != sent.number) return true;
    if (!slot.under_way || !slot.under_way->pokes()) return await(slot);
    try {
        return slot.under_way->poke();
    } catch (const mpi::PlanError& error) {
        gone = error.what();
        return false;
    }
}

void Channel::give_back(const Sent& sent) {
    Slot& slot = slots_[sent.slot];
    if (slot.number == sent.number) take(slot);
}

void Channel::flush() {
    while (!pending_.empty() && lost.empty()) send(pending_.begin()->second);
}

void Channel::end_step(const StepPart& part) {
    flush();
    parts_.end(part);
    send_order({{"op", "end"}, {"share", part.first}, {"step", part.second}});
    if (!waits_) return;
    parts_.finish(1);
    ++known.finished;
}

void Channel::discard() {
    for (const auto& [alike, place] : pending_) slots_[place].entries.clear();
    pending_.clear();
}

void Channel::drop(const StepPart& part, const std::string& path) {
    parts_.drop(part, path);
    send_order({{"op", "drop"}, {"share", part.first}, {"step", part.second}, {"path", path}});
}

void Channel::mark_incomplete(const StepPart& part) {
    parts_.reuse(part);
    send_order({{"op", "mark_incomplete"}, {"share", part.first}, {"step", part.second}});
}

void Channel::flush_now() {
    awaited = true;
    flush();
    send_order({{"op", "flush_now"}});
}

void Channel::arrive() {
    for (Slot& slot : slots_) await(slot);
}

bool Channel::await(Slot& slot) {
    try {
        if (mpi::Plan* plan = std::exchange(slot.under_way, nullptr)) plan->wait();
    } catch (const mpi::PlanError& error) {
        gone = error.what();
    }
    return gone.empty();
}

// A block is on its way when this returns, and its arrays stay as they are until it is released. False where the writer
// is a server that is lost: then the slot keeps what was to go.
bool Channel::send(std::size_t place) {
    agreement_.check();
    Slot& slot = slots_[place];
    if (const auto filled = pending_.find(slot.alike); filled != pending_.end() && filled->second == place)
        pending_.erase(filled);
    ++slot.number;
    Json::Array entries;
    for (const Entry& e : slot.entries)
        entries.push_back(Json::Array{e.field, e.step, Json::list(e.places), Json::list(e.sinks), e.share});
    const std::size_t count = entries.size();
    const Json::Object order{
        {"op", "block"}, {"slot", Index(place)}, {"number", slot.number}, {"entries", std::move(entries)}};
    if (is_rank()) send_order(order);
    mpi::Plan* plan = plan_of(slot, count);
    if (!plan) return false;
    if (is_rank())
        start_plan(slot, *plan);
    else
        hand_to_writer(slot, *plan, order);
    return true;
}

void Channel::start_plan(Slot& slot, mpi::Plan& plan) {
    try {
        plan.start();
        slot.under_way = &plan;
    } catch (const mpi::PlanError& error) {  // of a transport that waits as it starts
        gone = error.what();
    }
}

void Channel::hand_to_writer(const Slot& slot, mpi::Plan& plan, const Json::Object& order) {
    plan.run();
    if (!is_here()) return;
    const ServerHandover& handover = *handovers_.at(slot.alike);
    std::vector<WholeField> fields;
    for (std::size_t i = 0; i < slot.entries.size(); ++i) fields.push_back(handover.whole_field(slot.whole[i]));
    send_order(order, fields);
    if (!own_reply().empty()) throw mpi::PlanError(own_reply());
}

// The plan of `count` fields, which is made together with the writer; null where that is a server that takes no part.
mpi::Plan* Channel::plan_of(Slot& slot, std::size_t count) {
    for (const auto& [fields, plan] : slot.plans)
        if (fields == count) return plan.get();
    if (is_rank() && !reply(ready_tag, true)) return nullptr;
    std::string problem;
    try {
        const std::vector parts(slot.parts.begin(), slot.parts.begin() + static_cast<std::ptrdiff_t>(count));
        slot.plans.emplace_back(count, handovers_.at(slot.alike)->plan(parts, slot.whole));
    } catch (const mpi::PlanError& error) {
        if (!is_rank()) throw;
        problem = error.what();
    }
    if (is_rank()) lost = agreement_.first_error(problem);
    return lost.empty() ? slot.plans.back().second.get() : nullptr;
}

PartMemory Channel::new_whole(std::size_t, const FieldForm& form) {
    return handovers_.at(form.alike)->whole_memory();
}

// --- slots ---

bool Channel::Slot::is_from(const ModelPart& values) const {
    return of_model && parts[0].data == values.data && parts[0].strides == values.strides &&
           parts[0].memory == values.memory;
}

Index Channel::bytes() const {
    Index sum = 0;
    for (const Slot& slot : slots_)
        if (!slot.parts.empty()) sum += static_cast<Index>(slot.parts.size()) * handovers_.at(slot.alike)->bytes();
    return sum;
}

bool Channel::is_free(std::size_t place) const {
    for (const auto& [alike, filled] : pending_)
        if (filled == place) return false;
    return waits_ || slots_[place].number == 0 || known.released[place] >= slots_[place].number;
}

std::size_t Channel::next_place() const {
    for (std::size_t place = 0; place < slots_.size(); ++place)
        if (slots_[place].parts.empty()) return place;
    return slots_.size();
}

// The slots of a form, as bits; with `from` those of this array, on all ranks.
std::uint64_t Channel::alike_slots(const FieldForm& form, const ModelPart* from) const {
    std::uint64_t mine = 0, all = 0;
    for (std::size_t place = 0; place < slots_.size(); ++place) {
        const Slot& slot = slots_[place];
        if (slot.alike == form.alike && !slot.parts.empty() && (from ? slot.is_from(*from) : !slot.of_model))
            mine |= std::uint64_t{1} << place;
    }
    if (!from) return mine;
    mpi::check(MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_BAND, agreement_.comm()),
               [] { return std::string("comparing the arrays of the ranks"); });
    return all;
}

int Channel::free_slot(const FieldForm& form, const std::string& field, bool grows, const ModelPart* from) {
    static_assert(most_slots == 64);
    const std::uint64_t alike = alike_slots(form, from);
    Index needed = form.bytes();
    for (std::size_t place = 0; place < slots_.size(); ++place) {
        if (!(alike >> place & 1)) continue;
        if (is_free(place)) {
            take(slots_[place]);
            return static_cast<int>(place);
        }
        if (needed == form.bytes()) needed *= static_cast<Index>(slots_[place].parts.size());
    }
    if (alike && !grows) return -1;
    if (next_place() < most_slots && has_room(needed)) return new_slot(form);
    return alike ? -1 : instead_of(form, field);
}

// Makes a slot, or uses an empty one, whose blocks go on being counted. -1: the server is lost.
int Channel::new_slot(const FieldForm& form) {
    agreement_.check();
    const std::size_t place = next_place();
    if (is_remote())
        send_order({{"op", "slot"}, {"place", Index(place)}, {"alike", form.alike}, {"shape", form.to_json()}});
    if (!handovers_.count(form.alike)) {
        if (is_rank() && !reply(ready_tag, true)) return -1;
        handovers_.emplace(form.alike, std::make_unique<ServerHandover>(receiver_, form, method_, false));
    }
    if (place == slots_.size()) slots_.emplace_back();
    slots_[place].alike = form.alike;
    return static_cast<int>(place);
}

// Fields of other forms give back what is free.
int Channel::instead_of(const FieldForm& form, const std::string& field) {
    if (form.bytes() > plan_.slot_bytes)
        throw InputError("field " + field + ": " + std::to_string(form.bytes()) + " bytes, and the queue of the plan " +
                         "has room for " + std::to_string(plan_.slot_bytes) + ": name a larger one");
    for (std::size_t place = 0; place < slots_.size(); ++place) {
        Slot& slot = slots_[place];
        if (slot.parts.empty() || !is_free(place)) continue;
        take(slot);
        keep_unsettled(slot);
        slot.plans.clear();
        slot.parts.clear();
        slot.memory.clear();
        slot.whole.clear();
        slot.of_model = false;
        if (is_remote()) send_order({{"op", "empty"}, {"place", Index(place)}});
        if (has_room(form.bytes())) return new_slot(form);
    }
    return -1;
}

// The array of a slot is free: what lay there cannot be written again.
void Channel::take(Slot& slot) {
    await(slot);
    for (const Entry& entry : slot.entries) parts_.reuse(entry.part());
    slot.entries.clear();
}

// --- what another one has to write ---

void Channel::learn(const ServerStatus& status) {
    parts_.finish(status.finished - known.finished);
    known.finished = std::max(known.finished, status.finished);
    known.released = status.released;
    known.lost = status.lost;
}

std::vector<Channel::Kept> Channel::kept() const {
    std::vector<Kept> found;
    for (const Slot& slot : slots_)
        for (std::size_t i = 0; i < slot.entries.size(); ++i)
            if (!parts_.is_done(slot.entries[i].part())) found.push_back({slot.entries[i], slot.parts[i]});
    return found;
}

std::vector<StepPart> Channel::unfinished() const {
    std::vector<StepPart> held;
    for (const Kept& each : kept()) held.push_back(each.entry.part());
    return parts_.unfinished(held);
}

}  // namespace tradewind::fieldserver
