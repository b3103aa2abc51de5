#include "field_server.hpp"

#include <algorithm>
#include <numeric>
#include <thread>

#include "../communicator.hpp"
#include "base/error.hpp"
#include "mpi/agreement.hpp"

namespace tradewind::c {

namespace {

constexpr std::size_t row = most_slots + 2;  // of news: slots, finished, lost
constexpr std::int64_t magic = 0x74776673;   // "twfs": ranks that open a field server
constexpr std::int64_t model_role = 0, server_role = 1;

std::string text_of(const char* given, const char* what) {
    require(given, what);
    return given;
}

std::string opening() {
    return "opening the field server";
}

// Who is what in a communicator, as all ranks say.
struct Roles {
    std::vector<int> servers;
    int ranks = 0, rank = 0;
};

Roles roles_of(MPI_Comm comm) {
    Roles roles;
    MPI_Comm_rank(comm, &roles.rank);
    MPI_Comm_size(comm, &roles.ranks);
    const std::array<std::int64_t, 3> mine{magic, server_protocol, model_role};
    std::vector<std::int64_t> all(static_cast<std::size_t>(3 * roles.ranks));
    mpi::check(MPI_Allgather(mine.data(), 3, MPI_INT64_T, all.data(), 3, MPI_INT64_T, comm), opening);
    for (int rank = 0; rank < roles.ranks; ++rank) {
        const std::int64_t* said = &all[static_cast<std::size_t>(3 * rank)];
        if (said[0] != magic) throw InputError("rank " + std::to_string(rank) + " opens no field server");
        if (said[1] != server_protocol)
            throw InputError("rank " + std::to_string(rank) + " speaks version " + std::to_string(said[1]) +
                             " of the field server's language, this library version " +
                             std::to_string(server_protocol) + ": install the same Tradewind for model and servers");
        if (said[2] == server_role) roles.servers.push_back(rank);
    }
    if (roles.servers.empty())
        throw InputError(
            "no rank of this communicator is a server: start one beside the model, as with "
            "mpiexec -n 12 ./model : -n 1 tradewind serve plan.toml");
    return roles;
}

Json plan_of(MPI_Comm comm, const Roles& roles) {
    Json said = Json::parse(mpi::text_of(comm, roles.servers[0], ""));
    if (const Json* error = said.find("error")) throw InputError(error->string());
    return said;
}

MPI_Comm split(MPI_Comm comm, bool takes_part, int key) {
    MPI_Comm part = MPI_COMM_NULL;
    mpi::check(MPI_Comm_split(comm, takes_part ? 0 : MPI_UNDEFINED, key, &part), opening);
    return part;
}

}  // namespace

FieldServer::FieldServer(MPI_Comm comm) {
    require_communicator(comm);
    const Roles roles = roles_of(comm);
    const Json said = plan_of(comm, roles);
    plan_ = OutputPlan(said);
    method_ = {said.at("transport").string(), said.at("packing").string()};
    model_ = split(comm, true, roles.rank);
    agreement_ = std::make_unique<Agreement>(model_);
    const int servers = static_cast<int>(roles.servers.size());
    for (int number = 0; number < servers; ++number)
        channels_.push_back(
            std::make_unique<Channel>(number, split(comm, true, roles.rank), plan_, method_, *agreement_));
    dealing_ =
        Dealing(plan_.deal, servers, [this](const std::string& path, Index step) { return bytes_of(path, step); });
}

// --- fields ---

std::string FieldServer::with_known(const std::string& what, const std::string& name,
                                    const std::vector<std::string>& known) const {
    std::string text = "unknown " + what + " '" + name + "'; ";
    if (known.empty()) return text + "there is none";
    for (std::size_t i = 0; i < known.size(); ++i) text += (i ? ", " : "") + known[i];
    return text + (known.size() == 1 ? " is allowed" : " are allowed");
}

const DefinedField& FieldServer::field_at(const std::string& name) const {
    const auto found = fields_.find(name);
    if (found != fields_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [each, field] : fields_) known.push_back(each);
    throw InputError(with_known("field", name, known));
}

// Finds out which fields lie alike, also of lists, which are told apart by those of all ranks. Collective.
void FieldServer::mark_alike(FieldForm& form) const {
    std::string key = form.said().text();
    if (!form.layout) {
        std::string own = std::to_string(agreement_->rank());
        for (const Index id : form.own) own += ' ' + std::to_string(id);
        std::uint64_t mine = std::hash<std::string>{}(own), sum = 0;
        mpi::check(MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, agreement_->comm()),
                   [] { return std::string("comparing the points of the ranks"); });
        key += std::to_string(sum);
    }
    form.alike = std::to_string(std::hash<std::string>{}(key));
}

void FieldServer::add_field(const std::string& name, DefinedField field, Json::Object said) {
    if (fields_.count(name)) throw InputError("field " + name + " is defined twice");
    std::string levels;
    for (const double level : field.levels) levels += " " + std::to_string(level);
    agreement_->note("define " + name + levels + " " + field.form.said().text());
    agreement_->check();
    mark_alike(field.form);
    if (field.form.levels > 1 && plan_.by_level(name)) {
        field.single = field.form.one_level(name);
        mark_alike(field.single);
    }
    for (auto& channel : channels_) channel->say({{"op", "define"}, {"field", said}, {"shape", field.form.said()}});
    std::string problem;
    for (auto& channel : channels_)
        if (const Json told = channel->answer(answer_tag); const Json* error = told.find("error"))
            if (problem.empty()) problem = error->string();
    if (!problem.empty()) throw InputError(problem);
    fields_.emplace(name, std::move(field));
}

// --- output ---

Index FieldServer::bytes_of(const std::string& path, Index step) const {
    Index sum = 0;
    for (const auto& [name, field] : fields_) {
        const Index of_level = field.form.points * mpi::bytes_of(field.form.element);
        for (const OutputFile& file : plan_.files(name, step))
            if (file.path == path) sum += file.by_level ? of_level : of_level * static_cast<Index>(field.levels.size());
    }
    return sum;
}

std::vector<Index> FieldServer::checked_places(const std::string& name, const DefinedField& field, Index step,
                                               Index level) {
    if (step < 0) throw InputError("step " + std::to_string(step) + ": 0 or more is allowed");
    if (step <= last_step_)
        throw InputError("field " + name + ": step " + std::to_string(step) + " has ended: step " +
                         std::to_string(last_step_ + 1) + " or later is allowed");
    const Index lying = field.form.levels, levels = static_cast<Index>(field.levels.size());
    if (level < 0 && lying != levels)
        throw InputError("field " + name + " has " + std::to_string(levels) +
                         " levels, and its layout 1: name the level that is written");
    if (level >= 0 && (lying != 1 || level >= levels))
        throw InputError("field " + name + ": level " + std::to_string(level) + " of " + std::to_string(levels) +
                         (lying != 1 ? ", and its layout has all of them: none is to be named" : ""));
    std::vector<Index> places(level < 0 ? field.levels.size() : 1, level);
    if (level < 0) std::iota(places.begin(), places.end(), Index{0});
    auto& seen = written_[step];
    for (const Index place : places)
        if (!seen.emplace(name, place).second)
            throw InputError("field " + name + ", step " + std::to_string(step) + ", level " + std::to_string(place) +
                             ": it is written twice");
    return places;
}

// Compares fields and plan, and the disk with what the run will need.
void FieldServer::check_once() {
    if (checked_) return;
    checked_ = true;
    agreement_->note("first write");
    agreement_->check();
    channels_[0]->say({{"op", "check"}});
    const Json told = channels_[0]->answer(answer_tag);
    if (const Json* error = told.find("error")) throw InputError(error->string());
}

void FieldServer::write(const char* given, const tw_field* values, Index step, Index level) {
    telling([&] {
        const std::string name = text_of(given, "name");
        const DefinedField& field = field_at(name);
        const ModelPart part = part_of(name, field.form, field.axis, agreement_->rank(), values);
        const std::vector<Index> places = checked_places(name, field, step, level);
        check_once();
        agreement_->note("write " + name + " " + std::to_string(step) + " " + std::to_string(level));
        std::vector<OutputFile> together, alone;  // levels in one file, or each in its own
        for (const OutputFile& file : plan_.files(name, step))
            (file.by_level && places.size() > 1 ? alone : together).push_back(file);
        write_files(name, field, field.form, step, places, together, part);
        if (alone.empty()) return;
        for (const Index place : places)
            write_files(name, field, field.single, step, {place}, alone,
                        part.level(field.form.layout ? std::size_t{layout::Z} : std::size_t{layout::Y}, place));
    });
}

void FieldServer::write_files(const std::string& name, const DefinedField& field, const FieldForm& form, Index step,
                              const std::vector<Index>& places, const std::vector<OutputFile>& files,
                              const ModelPart& values) {
    const double level = field.levels[static_cast<std::size_t>(places.front())];
    std::map<int, std::pair<std::vector<std::string>, std::vector<std::string>>> of_servers;  // sinks, paths
    for (const OutputFile& file : files) {
        auto& [sinks, paths] = of_servers[dealing_.server_of(file, name, step, level)];
        sinks.push_back(file.sink);
        paths.push_back(path_of(file.form, name, step, &level));
    }
    for (const auto& [server, what] : of_servers)
        give(form, Entry{name, step, places, what.first, server}, what.second, values);
}

void FieldServer::give(const FieldForm& form, const Entry& entry, const std::vector<std::string>& paths,
                       const ModelPart& values) {
    Channel& channel = *channels_[static_cast<std::size_t>(entry.share)];
    if (channel.add(form, entry, values, false)) return;
    exchange_news(true);  // to hear of memory that is free costs less than new memory
    if (channel.add(form, entry, values, true)) return;
    if (plan_.drops) {
        for (const std::string& path : paths)
            channel.say({{"op", "drop"}, {"share", entry.share}, {"step", entry.step}, {"path", path}});
        return;
    }
    channel.hurry();
    while (!channel.add(form, entry, values, true)) {
        std::this_thread::sleep_for(pause);
        exchange_news(true);
    }
    channel.hurried = false;
}

void FieldServer::end_step(Index step) {
    telling([&] {
        if (step <= last_step_)
            throw InputError("step " + std::to_string(step) + " has ended: steps end once, in ascending order");
        agreement_->note("end step " + std::to_string(step));
        last_step_ = step;
        written_.erase(step);
        if (std::none_of(fields_.begin(), fields_.end(), [&](const auto& field) { return wants(field.first, step); }))
            return;
        agreement_->check();
        for (auto& channel : channels_) channel->end_step(step);
        exchange_news(false);
    });
    raise_errors();
}

// --- news ---

// All ranks learn what the first one has heard of the servers; without `wait` as of the last time.
void FieldServer::exchange_news(bool wait) {
    agreement_->check();
    const auto telling_news = [] { return std::string("telling of the servers"); };
    const auto complete = [&] {
        if (coming_ == MPI_REQUEST_NULL) return;
        mpi::check(MPI_Wait(&coming_, MPI_STATUS_IGNORE), telling_news);
        apply_news();
    };
    complete();
    news_.assign(channels_.size() * row + 1, 0);
    if (agreement_->rank() == 0) {
        for (std::size_t i = 0; i < channels_.size(); ++i) {
            Channel& channel = *channels_[i];
            channel.listen();
            heard_errors_ += static_cast<Index>(channel.errors.size());
            errors_.insert(errors_.end(), channel.errors.begin(), channel.errors.end());
            channel.errors.clear();
            std::copy(channel.heard.released.begin(), channel.heard.released.end(), &news_[i * row]);
            news_[i * row + most_slots] = channel.heard.finished;
            news_[i * row + most_slots + 1] = channel.heard.lost;
        }
        news_.back() = heard_errors_;
    }
    mpi::check(MPI_Ibcast(news_.data(), static_cast<int>(news_.size()), MPI_INT64_T, 0, agreement_->comm(), &coming_),
               telling_news);
    if (wait) complete();
    refuse_lost();
}

void FieldServer::apply_news() {
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        ServerNews& known = channels_[i]->known;
        std::copy_n(&news_[i * row], most_slots, known.released.begin());
        known.finished = news_[i * row + most_slots];
        known.lost = news_[i * row + most_slots + 1];
    }
    told_errors_ = news_.back();
}

void FieldServer::refuse_lost() {
    for (const auto& channel : channels_) {
        if (!channel->known.lost) continue;
        agreement_->give_up("server " + std::to_string(channel->number()) +
                            " is lost: " + mpi::text_of(agreement_->comm(), 0, channel->gone) +
                            "; steps that have a manifest are whole, and a run with existing = 'continue' goes on "
                            "from there");
        agreement_->require_whole();
    }
}

// Throws WriteError, on all ranks, for what servers could not write.
void FieldServer::raise_errors() {
    if (told_errors_ <= raised_errors_) return;
    std::string text;
    std::set<std::string> said;
    for (Index i = raised_errors_; i < told_errors_ && !errors_.empty(); ++i) {
        if (said.insert(errors_.front()).second) text += (text.empty() ? "" : "\n") + errors_.front();
        errors_.pop_front();
    }
    raised_errors_ = told_errors_;
    throw WriteError(mpi::text_of(agreement_->comm(), 0, text));
}

void FieldServer::wait_for_steps() {
    for (auto& channel : channels_) channel->flush();
    const auto owes = [](const auto& channel) { return channel->known.finished < channel->ended; };
    while (std::any_of(channels_.begin(), channels_.end(), owes)) {
        exchange_news(true);
        std::this_thread::sleep_for(pause);
    }
}

void FieldServer::finish() {
    telling([&] {
        agreement_->note("finish");
        agreement_->check();
        wait_for_steps();
    });
    raise_errors();
}

// --- input ---

void FieldServer::prefetch(Index count, const char* const* given) {
    telling([&] {
        if (count < 1) throw InputError("prefetch of " + std::to_string(count) + " files: one or more are allowed");
        require(given, "paths");
        std::vector<std::string> paths;
        for (Index i = 0; i < count; ++i) paths.push_back(text_of(given[i], "a path"));
        std::string call = "prefetch";
        for (const std::string& path : paths) call += " " + path;
        agreement_->note(call);
        agreement_->check();
        std::vector<Json::Array> of_servers(channels_.size());
        for (const std::string& path : paths) {
            const std::size_t server = static_cast<std::size_t>(asked_++) % channels_.size();
            readers_[path] = static_cast<int>(server);
            of_servers[server].emplace_back(path);
        }
        for (std::size_t i = 0; i < channels_.size(); ++i) {
            if (of_servers[i].empty()) continue;
            channels_[i]->say({{"op", "prefetch"}, {"paths", of_servers[i]}});
            channels_[i]->answer(available_tag);
        }
    });
}

void FieldServer::read(const char* given, const tw_field* values, const char* file) {
    telling([&] {
        const std::string name = text_of(given, "name"), path = text_of(file, "path");
        const DefinedField& field = field_at(name);
        const auto reader = readers_.find(path);
        if (reader == readers_.end()) {
            std::vector<std::string> known;
            for (const auto& [each, server] : readers_) known.push_back(each);
            throw InputError("read of " + path + ": " + with_known("input file", path, known));
        }
        const ModelPart part = part_of(name, field.form, field.axis, agreement_->rank(), values);
        agreement_->note("read " + name + " of " + path);
        agreement_->check();
        Channel& channel = *channels_[static_cast<std::size_t>(reader->second)];
        const std::string& alike = field.form.alike;
        channel.say({{"op", "send"}, {"path", path}, {"name", name}, {"alike", alike}, {"shape", field.form.said()}});
        const Json told = channel.answer(input_tag, true);
        if (const Json* error = told.find("error")) throw InputError(error->string());
        const Delivered key{channel.number(), alike};
        auto found = deliveries_.find(key);
        if (found == deliveries_.end()) {
            const ServerHandover handover(channel.pair(), field.form, method_, true);
            const PartMemory memory = handover.memory();
            found = deliveries_.emplace(key, Delivery{memory, handover.plan({memory}, 1)}).first;
        }
        found->second.plan->run();
        copy_in(found->second.part.data(), part);
    });
}

// --- the end ---

void FieldServer::close() {
    if (closed_) throw mpi::PlanError("the field server is closed");
    if (agreement_->broken().empty()) {
        try {
            telling([&] {
                agreement_->note("close");
                agreement_->check();
                wait_for_steps();
                for (auto& channel : channels_) channel->arrive();
            });
        } catch (const mpi::PlanError&) {  // the agreement says it below, when the servers know
        }
    }
    closed_ = true;
    for (auto& channel : channels_) {
        channel->discard();
        channel->say({{"op", "close"}});
    }
    std::string problem;
    if (agreement_->rank() == 0)
        for (auto& channel : channels_)
            if (!channel->part()) problem = "server " + std::to_string(channel->number()) + " does not end";
    problem = mpi::text_of(agreement_->comm(), 0, problem);
    if (!problem.empty()) agreement_->give_up(problem);
    if (agreement_->broken().empty()) exchange_news(true);
    if (coming_ != MPI_REQUEST_NULL) MPI_Wait(&coming_, MPI_STATUS_IGNORE);
    agreement_->require_whole();
    raise_errors();
}

}  // namespace tradewind::c
