#include "fieldserver/model_side.hpp"

#include <algorithm>
#include <chrono>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/write_error.hpp"
#include "mpi/agreement.hpp"
#include "mpi/error.hpp"

namespace tradewind::fieldserver {

namespace {

// Times of `patience` that a lost server has to end: one that comes back may have to give up what it was within.
constexpr double parting = 3;

}  // namespace

ModelSide::ModelSide(std::vector<std::unique_ptr<Channel>> channels, MakeLocal make_local, const OutputPlan& plan,
                     const DefinedFields& fields, Agreement& agreement)
    : plan_(plan),
      fields_(fields),
      agreement_(agreement),
      make_local_(std::move(make_local)),
      all_(std::move(channels)),
      dealing_(plan.deal, static_cast<int>(all_.size()),
               [this](const std::string& path, Index step) { return bytes_of(path, step); }),
      status_(agreement, all_) {
    for (const auto& channel : all_) channels_.push_back(channel.get());
}

// --- fields ---

Index ModelSide::bytes_of(const std::string& path, Index step) const {
    Index sum = 0;
    for (const auto& [name, field] : fields_) {
        const Index of_level = field.form.points * mpi::bytes_of(field.form.element);
        for (const OutputFile& file : plan_.files(name, step))
            if (file.path == path) sum += file.by_level ? of_level : of_level * static_cast<Index>(field.levels.size());
    }
    return sum;
}

// Returns what is handed over of a field: all of it, or level by level where each has a file of its own.
std::vector<ModelSide::Piece> ModelSide::pieces(const Given& given) {
    const DefinedField& field = given.field;
    std::vector<OutputFile> together, alone;
    for (const OutputFile& file : plan_.files(given.name, given.step))
        (file.by_level && given.places.size() > 1 ? alone : together).push_back(file);
    std::vector<Piece> found;
    add_pieces(found, given, field.form, given.places, together, given.values);
    const std::size_t over_levels = field.form.layout ? std::size_t{layout::Z} : std::size_t{layout::Y};
    if (!alone.empty())
        for (const Index place : given.places)
            add_pieces(found, given, field.single, {place}, alone, given.values.level(over_levels, place));
    return found;
}

void ModelSide::add_pieces(std::vector<Piece>& found, const Given& given, const FieldForm& form,
                           const std::vector<Index>& places, const std::vector<OutputFile>& files,
                           const ModelPart& values) {
    const double level = given.field.levels[static_cast<std::size_t>(places.front())];
    std::map<int, Entry> by_share;
    for (const OutputFile& file : files) {
        const int share = dealing_.server_of(file, given.name, given.step, level);
        Entry& entry = by_share.try_emplace(share, Entry{given.name, given.step, places, {}, {}, share}).first->second;
        entry.sinks.push_back(file.sink);
        entry.paths.push_back(path_of(file.form, given.name, given.step, &level));
    }
    for (auto& [share, entry] : by_share) found.push_back({form, std::move(entry), values});
}

void ModelSide::write(const Given& given) {
    for (const Piece& piece : pieces(given)) give(piece);
}

std::vector<ModelSide::Sent> ModelSide::start(const Given& given) {
    std::vector<Sent> sent;
    for (const Piece& piece : pieces(given))
        put(piece.entry, [&](Channel& channel, bool grows) {
            const auto block = channel.start(piece.form, piece.entry, piece.values, grows);
            if (block) sent.push_back({&channel, *block});
            return block.has_value();
        });
    return sent;
}

// Copies a field into a block of its share's channel.
void ModelSide::give(const Piece& piece) {
    put(piece.entry,
        [&](Channel& channel, bool grows) { return channel.add(piece.form, piece.entry, piece.values, grows); });
}

// Hands a field over, which `put` does where there is room, also in new memory or not: then, or as the plan has it.
void ModelSide::put(const Entry& entry, const Put& put) {
    const auto share = static_cast<std::size_t>(entry.share);
    if (put(channel_of(share), false)) return;
    exchange_status(true);  // a look for free memory costs less than new memory
    if (put(channel_of(share), true)) return;
    if (plan_.drops && channel_of(share).lost.empty()) {
        exchange_status(true);
        if (put(channel_of(share), true)) return;
        ++dropped_;
        for (const std::string& path : entry.paths) channel_of(share).drop(entry.part(), path);
        return;
    }
    while (!put(channel_of(share), true)) {
        if (!channel_of(share).awaited) channel_of(share).flush_now();
        rest();
        exchange_status(true);
    }
    channel_of(share).awaited = false;
}

void ModelSide::wait(const std::vector<Sent>& sent) {
    agreement_.check();
    const auto is_lost = [](const Channel* channel) { return !channel->lost.empty(); };
    while (std::any_of(channels_.begin(), channels_.end(), is_lost) || !have_gone(sent)) {
        for (const Sent& each : sent) each.channel->awaited = true;  // a server that gives no sign of life is lost
        exchange_status(true);
        rest();
    }
    for (const Sent& each : sent) each.channel->awaited = false;
    for (const Sent& each : sent)
        if (has_shares(*each.channel)) each.channel->give_back(each.block);
}

// Whether all ranks' parts are with their servers, or another one has taken over from copies.
bool ModelSide::have_gone(const std::vector<Sent>& sent) const {
    int mine = 1, all = 0;
    for (const Sent& each : sent)
        if (has_shares(*each.channel) && !each.channel->has_gone(each.block)) mine = 0;
    mpi::check(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, agreement_.comm()),
               [] { return std::string("waiting for a field that was started"); });
    return all != 0;
}

void ModelSide::end_step(Index step) {
    agreement_.check();
    for (std::size_t share = 0; share < shares(); ++share) channel_of(share).end_step({static_cast<int>(share), step});
    dealing_.end_step(step);
    exchange_status(false);
}

void ModelSide::finish() {
    for (Channel* channel : in_use()) channel->flush();
    const auto owes = [](const Channel* channel) { return channel->parts().owed() > 0 || !channel->lost.empty(); };
    while (std::any_of(channels_.begin(), channels_.end(), owes)) {
        exchange_status(true);
        rest();
    }
}

void ModelSide::raise_errors() {
    if (const auto errors = status_.take_errors(); !errors.empty()) throw WriteError(joined(errors, "\n"));
}

// --- servers that are lost ---

std::vector<Channel*> ModelSide::in_use() const {
    std::vector<Channel*> found;
    for (Channel* channel : channels_)
        if (std::find(found.begin(), found.end(), channel) == found.end()) found.push_back(channel);
    return found;
}

bool ModelSide::has_shares(const Channel& channel) const {
    return std::find(channels_.begin(), channels_.end(), &channel) != channels_.end();
}

// Learns what is new, and takes over from servers that are lost.
void ModelSide::exchange_status(bool wait) {
    agreement_.check();
    status_.exchange(in_use(), wait);
    for (Channel* channel : in_use())
        if (!channel->lost.empty() || channel->known.lost) take_over(*channel);
}

Channel* ModelSide::least_loaded(const Channel& old) const {
    Channel* found = nullptr;
    const auto load = [&](Channel* channel) { return std::count(channels_.begin(), channels_.end(), channel); };
    for (Channel* channel : in_use()) {
        if (channel == &old || !channel->is_remote() || !channel->lost.empty() || channel->known.lost) continue;
        if (!found || std::pair(load(channel), channel->number()) < std::pair(load(found), found->number()))
            found = channel;
    }
    return found;
}

void ModelSide::take_over(Channel& old) {
    status_.complete();
    std::vector<int> shares;
    for (std::size_t share = 0; share < channels_.size(); ++share)
        if (channels_[share] == &old) shares.push_back(static_cast<int>(share));
    if (shares.empty()) return;  // it has been done meanwhile
    const std::string why = old.lost.empty() ? agreement_.first_error(old.gone) : old.lost;
    Channel* taker = least_loaded(old);
    if (!taker) taker = local_instead_of(old);
    if (!taker) {
        agreement_.abandon("server " + std::to_string(old.number()) + " is lost: " + why +
                           "; no other one is left: steps that have a manifest are whole, and a run with existing = "
                           "'continue' goes on from there");
        agreement_.require_whole();
    }
    for (const int share : shares) channels_[static_cast<std::size_t>(share)] = taker;
    lost_.push_back({&old, why, taker->is_remote(), taker->is_remote() ? taker->number() : taker->receiver().rank});
    old.lost = why;
    old.leave();
    write_again(old);
    if (has_shares(*taker)) on_take_over(shares, *taker);  // else another one has them already
}

// A writer on a rank of the model, which has all fields; null where there is none.
Channel* ModelSide::local_instead_of(const Channel& old) {
    std::unique_ptr<Channel> made = make_local_(old.number());
    if (!made) return nullptr;
    all_.push_back(std::move(made));
    return all_.back().get();
}

// Writes what a server had, and has not finished.
void ModelSide::write_again(Channel& old) {
    const std::vector<Channel::Kept> kept = old.kept();
    for (const StepPart& part : old.unfinished()) {
        const auto share = static_cast<std::size_t>(part.first);
        if (old.parts().is_incomplete(part)) {
            status_.note_error("step " + std::to_string(part.second) + " is not whole: server " +
                               std::to_string(old.number()) + " was lost with fields of it");
            channel_of(share).mark_incomplete(part);
        } else {
            for (const std::string& path : old.parts().dropped(part)) channel_of(share).drop(part, path);
            for (const auto& [entry, values] : kept)
                if (entry.part() == part) give({fields_.at(entry.field).form_of(entry.places.size()), entry, values});
        }
        if (old.parts().has_ended(part)) channel_of(share).end_step(part);
    }
}

// --- the end ---

bool ModelSide::end() {
    const bool whole = agreement_.end();
    if (agreement_.is_deserted()) {
        leave(agreement_.broken());
        return false;
    }
    if (!whole)
        for (Channel* channel : in_use()) channel->discard();
    try {
        end_together();
    } catch (const std::exception& error) {
        leave(error.what());
        throw;
    }
    return true;
}

void ModelSide::end_together() {
    if (!agreement_.is_abandoned()) {
        try {
            finish();
            for (Channel* channel : in_use()) channel->arrive();
        } catch (const mpi::PlanError&) {  // the last server was lost: `raise_end` throws it
            if (!agreement_.is_abandoned()) throw;
        }
    }
    close_writers();
    if (!agreement_.is_abandoned()) status_.exchange(in_use(), true);  // of errors: no writer is there to take over
    status_.complete();
}

void ModelSide::close_writers() {
    const std::vector<Channel*> writers = in_use();
    for (const auto& channel : all_) channel->send_order({{"op", "close"}});
    for (Channel* channel : writers) {
        if (!channel->control) continue;
        if (auto figures = channel->await_end())
            server_figures_.push_back(std::move(*figures));
        else if (const std::string why = channel->control->problem(); !why.empty())
            ended_early_ = "server " + std::to_string(channel->number()) + " is lost: " + why;
        else
            unresponsive_.push_back(channel->number());
    }
}

// Servers that do not end, on their roots. Those that were lost get some time.
std::vector<int> ModelSide::missing_ends() {
    using Clock = std::chrono::steady_clock;
    std::vector<Channel*> missing;
    for (const Lost& each : lost_)
        if (each.channel->control) missing.push_back(each.channel);
    const auto end = Clock::now() + std::chrono::duration<double>(parting * plan_.patience);
    const auto is_there = [](const Channel* channel) {
        return !channel->control->problem().empty() || channel->control->receive(end_tag).has_value();
    };
    for (;;) {
        missing.erase(std::remove_if(missing.begin(), missing.end(), is_there), missing.end());
        if (missing.empty() || Clock::now() > end) break;
        rest();
    }
    std::vector<int> numbers = unresponsive_;
    for (const Channel* channel : missing) numbers.push_back(channel->number());
    return numbers;
}

void ModelSide::raise_end() {
    agreement_.throw_broken();
    if (agreement_.is_deserted()) return;
    std::string problem = ended_early_;
    if (const std::vector<int> numbers = missing_ends(); problem.empty() && !numbers.empty())
        problem = "server " + std::to_string(numbers[0]) +
                  " does not answer: others have written its fields, and all steps that were ended are in the "
                  "manifest, but a job does not end without it";
    problem = agreement_.first_error(problem);
    const std::string errors = joined(status_.take_errors(), "\n");
    if (!problem.empty()) throw mpi::PlanError(problem + (errors.empty() ? "" : "\n" + errors));
    if (!errors.empty()) throw WriteError(errors);
}

void ModelSide::leave(const std::string& text) {
    int over = 0;
    MPI_Finalized(&over);
    if (!over) {
        agreement_.leave(text);
        for (Channel* channel : in_use()) channel->arrive();
    }
    for (const auto& channel : all_)
        if (!over || !channel->is_remote()) {
            Json::Object order{{"op", "close"}, {"awaited", false}};
            if (channel->is_remote() && !channel->is_rank())
                order.emplace_back("watched", true);  // LocalProcess waits for it
            channel->send_order(order);
        }
}

void ModelSide::part() {
    agreement_.part();
    for (Channel* channel : in_use())
        if (channel->control) channel->control->finish();
}

}  // namespace tradewind::fieldserver
