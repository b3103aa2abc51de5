#include "field_server.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "../communicator.hpp"
#include "base/error.hpp"
#include "mpi/agreement.hpp"

namespace tradewind::c {

namespace {

constexpr std::int64_t magic = 0x74776673;        // "twfs": ranks that open a field server
constexpr Index max_step = (Index{1} << 31) - 1;  // as of MAX_STEP in python/tradewind/fieldserver/plan_file.py
constexpr std::int64_t model_role = 0, server_role = 1;

std::string text_of(const char* given, const char* what) {
    require(given, what);
    return given;
}

void check_step(Index step) {
    if (step < 0 || step > max_step)
        throw InputError("step " + std::to_string(step) + ": 0.." + std::to_string(max_step) + " are allowed");
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

std::string with_known(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
    std::string text = "unknown " + what + " '" + name + "'";
    if (known.empty()) return text + "; there is none";
    for (std::size_t i = 0; i < known.size(); ++i) text += (i ? ", " : " (known: ") + known[i];
    return text + ")";
}

}  // namespace

FieldServer::FieldServer(MPI_Comm comm) {
    require_communicator(comm);
    const Roles roles = roles_of(comm);
    const Json said = plan_of(comm, roles);
    plan_ = OutputPlan(said);
    const ServerMethod method{said.at("transport").string(), said.at("packing").string()};
    model_ = split(comm, true, roles.rank);
    agreement_ = std::make_unique<Agreement>(model_);
    std::vector<std::unique_ptr<Channel>> channels;
    for (int number = 0; number < static_cast<int>(roles.servers.size()); ++number)
        channels.push_back(
            std::make_unique<Channel>(number, split(comm, true, roles.rank), plan_, method, *agreement_));
    side_ = std::make_unique<ModelSide>(std::move(channels), plan_, fields_, *agreement_);
    input_ = std::make_unique<InputSide>(*side_, agreement_->comm(), method);
}

// --- fields ---

const DefinedField& FieldServer::field_at(const std::string& name) const {
    const auto found = fields_.find(name);
    if (found != fields_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [each, field] : fields_) known.push_back(each);
    throw InputError(with_known("field", name, known));
}

// Throws InputError, on all ranks, where each point of a level is not one rank's. Collective.
void FieldServer::check_owners(const std::string& name, const FieldForm& form) const {
    if (form.layout) return;
    enum : std::size_t {
        named,
        outside,
        sum,
        squares
    };  // these sums tell, of the right number, which points these are
    std::array<std::uint64_t, 4> mine{form.own.size(), 0, 0, 0}, all{};
    for (const Index id : form.own) {
        const auto number = static_cast<std::uint64_t>(id);
        mine[outside] += id < 0 || id >= form.points;
        mine[sum] += number;
        mine[squares] += number * number;
    }
    mpi::check(MPI_Allreduce(mine.data(), all.data(), 4, MPI_UINT64_T, MPI_SUM, agreement_->comm()),
               [] { return std::string("comparing the points of the ranks"); });
    __extension__ using Wide = unsigned __int128;
    const Wide n = static_cast<Wide>(form.points);
    const bool whole = all[named] == n && all[sum] == static_cast<std::uint64_t>(n * (n - 1) / 2) &&
                       all[squares] == static_cast<std::uint64_t>(n * (n - 1) / 2 * (2 * n - 1) / 3);
    if (all[outside] == 0 && whole) return;
    throw InputError("field " + name + ": the ranks name " + std::to_string(all[named]) + " points, " +
                     std::to_string(all[outside]) + " of them outside 0.." + std::to_string(form.points - 1) +
                     ": each of the " + std::to_string(form.points) + " points of its grid is named by one rank, once");
}

// Finds out which fields lie alike, also of lists, which are told apart by those of all ranks. Collective.
void FieldServer::mark_alike(FieldForm& form) const {
    std::string key = form.said().text();
    if (!form.layout) {
        std::string own = std::to_string(agreement_->rank()) + ' ';
        own.append(reinterpret_cast<const char*>(form.own.data()), form.own.size() * sizeof(Index));
        std::uint64_t mine = std::hash<std::string>{}(own), sum = 0;
        mpi::check(MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, agreement_->comm()),
                   [] { return std::string("comparing the points of the ranks"); });
        key += std::to_string(sum);
    }
    form.alike = std::to_string(std::hash<std::string>{}(key));
}

// Returns the name of a geometry, and puts it in its place where servers know it already: that of a mesh is long.
std::string FieldServer::geometry_name(Json::Object& said) const {
    const auto geometry =
        std::find_if(said.begin(), said.end(), [](const auto& each) { return each.first == "geometry"; });
    const std::string text = geometry->second.text();
    std::string name = std::to_string(std::hash<std::string>{}(text)) + " " + std::to_string(text.size());
    if (geometries_.count(name)) geometry->second = name;
    return name;
}

void FieldServer::add_field(const std::string& name, DefinedField field, Json::Object said) {
    if (fields_.count(name)) throw InputError("field " + name + " is defined twice");
    std::string levels;
    for (const double level : field.levels) levels += " " + std::to_string(level);
    agreement_->note("define " + name + levels + " " + field.form.said().text());
    agreement_->check();
    check_owners(name, field.form);
    mark_alike(field.form);
    if (field.form.levels > 1 && plan_.by_level(name)) {
        field.single = field.form.one_level(name);
        mark_alike(field.single);
    }
    const std::vector<Channel*> servers = side_->in_use();
    const std::string geometry = geometry_name(said);
    const Json::Object order{{"op", "define"},
                             {"field", said},
                             {"shape", field.form.said()},
                             {"geometry_name", geometry},
                             {"late", checked_}};
    for (Channel* channel : servers) channel->say(order);
    std::string problem;
    for (Channel* channel : servers) {
        const auto told = channel->answer(answer_tag);
        if (!told) side_->take_over(*channel);
        if (const Json* error = told ? told->find("error") : nullptr; error && problem.empty())
            problem = error->string();
    }
    if (!problem.empty()) throw InputError(problem);
    geometries_.insert(geometry);
    fields_.emplace(name, std::move(field));
}

// --- output ---

std::vector<Index> FieldServer::checked_places(const std::string& name, const DefinedField& field, Index step,
                                               Index level) {
    check_step(step);
    if (step <= last_step_)
        throw InputError("field " + name + ": step " + std::to_string(step) + " has ended: step " +
                         std::to_string(last_step_ + 1) + " or later is allowed");
    const Index lying = field.form.levels, levels = static_cast<Index>(field.levels.size());
    if (level < -1)
        throw InputError("field " + name + ": level " + std::to_string(level) + ": 0.." + std::to_string(levels - 1) +
                         ", or -1 for all of them, is allowed");
    if (level < 0 && lying != levels)
        throw InputError("field " + name + " has " + std::to_string(levels) +
                         " levels, and its layout 1: name the level that is written");
    if (level >= 0 && (lying != 1 || level >= levels))
        throw InputError("field " + name + ": level " + std::to_string(level) + " of " + std::to_string(levels) +
                         (lying != 1 ? ", and its layout has all of them: none is to be named" : ""));
    std::vector<Index> places(level < 0 ? field.levels.size() : 1, level);
    if (level < 0) std::iota(places.begin(), places.end(), Index{0});
    if (!wants(name, step)) return places;
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
    const Json told =
        side_->answer([&]() -> Channel& { return *side_->in_use().front(); }, {{"op", "check"}}, answer_tag);
    if (const Json* error = told.find("error")) throw InputError(error->string());
}

template <typename Check, typename HandOver>
void FieldServer::hand(const std::string& call, const char* given, const tw_field* values, Index step, Index level,
                       Check check, HandOver hand_over) {
    telling([&] {
        const std::string name = text_of(given, "name");
        const DefinedField& field = field_at(name);
        const ModelPart part = part_of(name, field.form, field.axis, agreement_->rank(), values);
        check(name, part);
        const std::vector<Index> places = checked_places(name, field, step, level);
        check_once();
        agreement_->note(call + " " + name + " " + std::to_string(step) + " " + std::to_string(level));
        hand_over(ModelSide::Given{name, field, step, places, part});
    });
}

void FieldServer::write(const char* name, const tw_field* values, Index step, Index level) {
    const auto any = [](const std::string&, const ModelPart&) {};
    hand("write", name, values, step, level, any, [&](const ModelSide::Given& given) { side_->write(given); });
}

void FieldServer::start(const char* name, const tw_field* values, Index step, Index level) {
    hand("start", name, values, step, level, require_whole_strides, [&](const ModelSide::Given& given) {
        const std::vector<ModelSide::Sent> sent = side_->start(given);
        auto& of_field = started_[given.name];
        of_field.insert(of_field.end(), sent.begin(), sent.end());
    });
}

void FieldServer::wait(const char* given) {
    telling([&] {
        std::vector<ModelSide::Sent> sent;
        const std::string name = given ? given : "";
        if (given) field_at(name);
        for (auto& [each, of_field] : started_)
            if (!given || each == name) {
                sent.insert(sent.end(), of_field.begin(), of_field.end());
                of_field.clear();
            }
        if (sent.empty()) return;
        agreement_->note("wait " + name);
        side_->wait(sent);
    });
}

void FieldServer::end_step(Index step) {
    telling([&] {
        check_step(step);
        if (step <= last_step_)
            throw InputError("step " + std::to_string(step) + " has ended: steps end once, in ascending order");
        agreement_->note("end step " + std::to_string(step));
        last_step_ = step;
        written_.erase(written_.begin(), written_.upper_bound(step));
        if (std::any_of(fields_.begin(), fields_.end(), [&](const auto& field) { return wants(field.first, step); }))
            side_->end_step(step);
    });
    side_->raise_errors();
}

void FieldServer::finish() {
    telling([&] {
        agreement_->note("finish");
        agreement_->check();
        side_->finish();
    });
    side_->raise_errors();
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
        input_->prefetch(paths);
    });
}

void FieldServer::read(const char* given, const tw_field* values, const char* file) {
    telling([&] {
        const std::string name = text_of(given, "name"), path = text_of(file, "path");
        const DefinedField& field = field_at(name);
        if (!input_->is_named(path))
            throw InputError("read of " + path + ": " + with_known("input file", path, input_->named()));
        const ModelPart part = part_of(name, field.form, field.axis, agreement_->rank(), values);
        agreement_->note("read " + name + " of " + path);
        agreement_->check();
        input_->read(name, field.form, path, part);
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
                side_->on_take_over = [](const std::vector<int>&, Channel&) {};  // no input is wanted any more
                side_->finish();
                for (Channel* channel : side_->in_use()) channel->arrive();
            });
        } catch (const mpi::PlanError&) {  // the agreement says it below, when the servers know
        }
    }
    closed_ = true;
    side_->close();
}

}  // namespace tradewind::c
