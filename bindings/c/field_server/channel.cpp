#include "channel.hpp"

#include <algorithm>
#include <cstdio>
#include <thread>

#include "base/error.hpp"
#include "mpi/agreement.hpp"
#include "mpi/error.hpp"

namespace tradewind::c {

namespace {

std::string seconds_text(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%g s", seconds);
    return text;
}

}  // namespace

Channel::Channel(int number, MPI_Comm pair, const OutputPlan& plan, ServerMethod method, Agreement& agreement)
    : number_(number), pair_(pair), plan_(plan), method_(std::move(method)), agreement_(agreement) {
    int ranks = 0;
    MPI_Comm_size(pair, &ranks);
    if (agreement.rank() == 0) talk = std::make_unique<Talk>(pair, ranks - 1);
}

Channel::~Channel() {
    for (Slot& slot : slots_)
        for (auto& [count, plan] : slot.plans)
            if (!plan->settled()) {  // the server may still take from there: kept for good
                new std::vector(slot.parts);
                break;
            }
}

void Channel::say(const Json::Object& order) {
    if (talk) talk->say(order);
}

// On the first rank.
Json Channel::heard_or_lost(ServerTag tag) {
    heard_at_ = Clock::now();
    for (;;) {
        if (!gone.empty()) throw mpi::PlanError(gone);
        if (auto value = talk->hear(tag)) return *value;
        while (const auto news = talk->hear(news_tag)) take_in(*news);
        if (gone.empty() && silent_s() > plan_.patience) gone = "it did not answer for " + seconds_text(plan_.patience);
        std::this_thread::sleep_for(pause);
    }
}

Json Channel::answer(ServerTag tag, bool go) {
    std::string told;
    if (talk) {
        try {
            const Json value = heard_or_lost(tag);
            const bool refused = value.is_object() && value.find("error");
            if (go && !refused) say({{"op", "go"}});
            told = "+" + value.text();
        } catch (const mpi::PlanError& error) {
            told = std::string("-") + error.what();
        }
    }
    told = mpi::text_of(agreement_.comm(), 0, told);
    if (told[0] == '+') return Json::parse(told.substr(1));
    agreement_.give_up(
        "server " + std::to_string(number_) + " is lost: " + told.substr(1) +
        "; steps that have a manifest are whole, and a run with existing = 'continue' goes on from there");
    throw mpi::PlanError(agreement_.broken());
}

void Channel::take_in(const Json& news) {
    heard_at_ = Clock::now();
    for (const Json& each : news.at("released").array()) {
        const auto slot = static_cast<std::size_t>(each.array().at(0).integer());
        if (slot < most_slots) heard.released[slot] = std::max(heard.released[slot], each.array().at(1).integer());
    }
    heard.finished = std::max(heard.finished, news.at("finished").integer());
    for (const Json& error : news.at("errors").array()) errors.push_back(error.string());
    if (const Json* why = news.find("lost")) gone = why->string();
}

// A server that says what is not understood counts as lost: the other ranks hear of that as of any news.
void Channel::hear_news() {
    try {
        while (const auto news = talk->hear(news_tag)) take_in(*news);
    } catch (const mpi::PlanError& error) {
        gone = error.what();
    }
}

void Channel::listen() {
    hear_news();
    const bool owes = heard.finished < ended || hurried;
    if (owes && !owing_) owing_since_ = Clock::now();
    owing_ = owes;
    const double waited_s = std::chrono::duration<double>(Clock::now() - std::max(owing_since_, heard_at_)).count();
    if (owes && gone.empty() && waited_s > plan_.patience)
        gone = "it gave no sign of life for " + seconds_text(plan_.patience);
    heard.lost = !gone.empty();
}

bool Channel::part() {
    heard_at_ = Clock::now();
    while (!talk->hear(answer_tag)) {
        hear_news();
        if (silent_s() > plan_.patience) return false;
        std::this_thread::sleep_for(pause);
    }
    hear_news();
    talk->finish();
    return true;
}

bool Channel::add(const FieldForm& form, const Entry& entry, const ModelPart& values, bool grows) {
    auto found = pending_.find(form.alike);
    if (found != pending_.end()) {
        const Slot& slot = slots_[found->second];
        if (slot.entries.size() == slot.parts.size() && !has_room(form.bytes())) {
            send(found->second);
            found = pending_.end();
        }
    }
    if (found == pending_.end()) {
        const int place = free_slot(form, entry.field, grows);
        if (place < 0) return false;
        found = pending_.emplace(form.alike, static_cast<std::size_t>(place)).first;
    }
    const std::size_t place = found->second;
    Slot& slot = slots_[place];
    if (slot.entries.size() == slot.parts.size()) slot.parts.push_back(handovers_.at(form.alike)->memory());
    copy_out(values, slot.parts[slot.entries.size()].data());
    slot.entries.push_back(entry);
    if (static_cast<Index>(slot.entries.size()) * form.levels >= plan_.block) send(place);
    return true;
}

void Channel::flush() {
    while (!pending_.empty()) send(pending_.begin()->second);
}

void Channel::end_step(Index step) {
    flush();
    ++ended;
    say({{"op", "end"}, {"share", number_}, {"step", step}});
}

void Channel::hurry() {
    hurried = true;
    flush();
    say({{"op", "hurry"}});
}

void Channel::arrive() {
    for (Slot& slot : slots_)
        if (slot.under_way) {
            slot.under_way->wait();
            slot.under_way = nullptr;
        }
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
    return slots_[place].number == 0 || known.released[place] >= slots_[place].number;
}

std::size_t Channel::next_place() const {
    for (std::size_t place = 0; place < slots_.size(); ++place)
        if (slots_[place].parts.empty()) return place;
    return slots_.size();
}

int Channel::free_slot(const FieldForm& form, const std::string& field, bool grows) {
    const Slot* alike = nullptr;
    for (std::size_t place = 0; place < slots_.size(); ++place) {
        Slot& slot = slots_[place];
        if (slot.alike != form.alike || slot.parts.empty()) continue;
        if (!alike) alike = &slot;
        if (is_free(place)) {
            take(slot);
            return static_cast<int>(place);
        }
    }
    if (alike && !grows) return -1;
    const Index needed = alike ? static_cast<Index>(alike->parts.size()) * form.bytes() : form.bytes();
    if (next_place() < most_slots && has_room(needed)) return new_slot(form);
    return alike ? -1 : instead_of(form, field);
}

// Makes a slot, or uses an empty one, whose blocks go on being counted.
int Channel::new_slot(const FieldForm& form) {
    agreement_.check();
    const std::size_t place = next_place();
    say({{"op", "slot"}, {"place", Index(place)}, {"alike", form.alike}, {"shape", form.said()}});
    if (!handovers_.count(form.alike)) {
        answer(ready_tag, true);
        handovers_.emplace(form.alike, std::make_unique<ServerHandover>(pair_, form, method_, false));
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
        slot.parts.clear();
        slot.plans.clear();
        say({{"op", "empty"}, {"place", Index(place)}});
        if (has_room(form.bytes())) return new_slot(form);
    }
    return -1;
}

void Channel::take(Slot& slot) {
    if (slot.under_way) slot.under_way->wait();
    slot.under_way = nullptr;
    slot.entries.clear();
}

// A block is on its way when this returns, and its arrays stay as they are until it is released.
void Channel::send(std::size_t place) {
    agreement_.check();
    Slot& slot = slots_[place];
    pending_.erase(slot.alike);
    ++slot.number;
    Json::Array entries;
    for (const Entry& e : slot.entries)
        entries.push_back(Json::Array{e.field, e.step, Json::list(e.places), Json::list(e.sinks), e.share});
    const std::size_t count = entries.size();
    say({{"op", "block"}, {"slot", Index(place)}, {"number", slot.number}, {"entries", std::move(entries)}});
    const auto found =
        std::find_if(slot.plans.begin(), slot.plans.end(), [&](const auto& plan) { return plan.first == count; });
    if (found == slot.plans.end()) {
        answer(ready_tag, true);
        slot.plans.emplace_back(count, handovers_.at(slot.alike)->plan(slot.parts, count));
        slot.under_way = slot.plans.back().second.get();
    } else {
        slot.under_way = found->second.get();
    }
    slot.under_way->start();
}

}  // namespace tradewind::c
