#include "fieldserver/field_server.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/error.hpp"
#include "base/write_error.hpp"
#include "fieldserver/opening.hpp"
#include "mpi/agreement.hpp"
#include "mpi/error.hpp"

namespace tradewind::fieldserver {

namespace {

constexpr Index max_step = (Index{1} << 31) - 1;  // as of MAX_STEP in python/tradewind/fieldserver/plan/plan_file.py

void check_step(Index step) {
    if (step < 0 || step > max_step)
        throw InputError("step " + std::to_string(step) + ": 0.." + std::to_string(max_step) + " are allowed");
}

std::string with_known(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
    std::string text = "unknown " + what + " '" + name + "'";
    if (known.empty()) return text + "; there is none";
    for (std::size_t i = 0; i < known.size(); ++i) text += (i ? ", " : " (known: ") + known[i];
    return text + ")";
}

}  // namespace

FieldServer::FieldServer(MPI_Comm comm, const std::string& plan) {
    Opened opened = open_servers(comm, plan);
    model_ = opened.model;
    plan_ = std::move(opened.plan);
    agreement_ = std::move(opened.agreement);
    side_ = std::make_unique<ModelSide>(std::move(opened.channels), *plan_, fields_, *agreement_);
    input_ = std::make_unique<InputSide>(*side_, agreement_->comm(), opened.method);
}

// Does what a rank does alone or together with the others; an error of this rank is raised on all.
void FieldServer::collective_errors(const std::function<void()>& work) {
    if (closed_) throw mpi::PlanError("the field server is closed");
    agreement_->require_whole();
    try {
        work();
    } catch (const WriteError&) {  // all know
        throw;
    } catch (const std::exception& error) {
        agreement_->fail(error.what());
        throw;
    }
}

// --- fields ---

void FieldServer::define(const Arguments<Definition>& arguments) {
    collective_errors([&] {
        auto [name, field, attributes] = arguments();
        add_field(name, std::move(field), std::move(attributes));
    });
}

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
    enum : std::size_t { named, outside, sum, squares };  // the sums of the right count identify the points
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

// Finds out which fields lie alike, also of lists, which those of all ranks distinguish. Collective.
void FieldServer::mark_alike(FieldForm& form) const {
    std::string key = form.to_json().text();
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
std::string FieldServer::geometry_name(Json::Object& attributes) const {
    const auto geometry =
        std::find_if(attributes.begin(), attributes.end(), [](const auto& each) { return each.first == "geometry"; });
    const std::string text = geometry->second.text();
    std::string name = std::to_string(std::hash<std::string>{}(text)) + " " + std::to_string(text.size());
    if (geometries_.count(name)) geometry->second = name;
    return name;
}

void FieldServer::add_field(const std::string& name, DefinedField field, Json::Object attributes) {
    if (fields_.count(name)) throw InputError("field " + name + " is defined twice");
    std::string levels;
    for (const double level : field.levels) levels += " " + std::to_string(level);
    agreement_->note("define " + name + levels + " " + field.form.to_json().text());
    agreement_->check();
    check_owners(name, field.form);
    mark_alike(field.form);
    if (field.form.levels > 1 && plan_->by_level(name)) {
        field.single = field.form.one_level(name);
        mark_alike(field.single);
    }
    const std::vector<Channel*> servers = side_->in_use();
    const std::string geometry = geometry_name(attributes);
    const Json::Object order{{"op", "define"},
                             {"field", attributes},
                             {"shape", field.form.to_json()},
                             {"geometry_name", geometry},
                             {"late", checked_}};
    const auto on_first_rank = [](const Channel* channel) { return channel->root() == 0; };
    std::string text = Json(order).text();  // the first rank has all coordinates of a mesh, others need not
    if (!std::all_of(servers.begin(), servers.end(), on_first_rank)) text = mpi::text_of(agreement_->comm(), 0, text);
    for (Channel* channel : servers) channel->send_text(text);
    std::string problem;
    for (Channel* channel : servers) {
        const auto reply = channel->reply(answer_tag);
        if (!reply) side_->take_over(*channel);
        if (reply && problem.empty()) problem = *reply;
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
    const std::string problem =
        side_->reply([&]() -> Channel& { return *side_->in_use().front(); }, {{"op", "check"}}, answer_tag);
    if (!problem.empty()) throw InputError(problem);
}

void FieldServer::hand(const std::string& call, const Arguments<Written>& arguments, Index step, Index level,
                       const std::function<void(const std::string&, const ModelPart&)>& check,
                       const std::function<void(const ModelSide::Given&)>& hand_over) {
    collective_errors([&] {
        const auto [name, values] = arguments();
        const DefinedField& field = field_at(name);
        const ModelPart part = part_of(name, field.form, field.axis, agreement_->rank(), values);
        check(name, part);
        const std::vector<Index> places = checked_places(name, field, step, level);
        check_once();
        agreement_->note(call + " " + name + " " + std::to_string(step) + " " + std::to_string(level));
        hand_over(ModelSide::Given{name, field, step, places, part});
    });
}

void FieldServer::write(const Arguments<Written>& arguments, Index step, Index level) {
    const auto any = [](const std::string&, const ModelPart&) {};
    hand("write", arguments, step, level, any, [&](const ModelSide::Given& given) { side_->write(given); });
}

void FieldServer::start(const Arguments<Written>& arguments, Index step, Index level) {
    hand("start", arguments, step, level, require_whole_strides, [&](const ModelSide::Given& given) {
        const std::vector<ModelSide::Sent> sent = side_->start(given);
        auto& of_field = started_[given.name];
        of_field.insert(of_field.end(), sent.begin(), sent.end());
    });
}

void FieldServer::wait(const std::optional<std::string>& name) {
    collective_errors([&] {
        std::vector<ModelSide::Sent> sent;
        if (name) field_at(*name);
        for (auto& [each, of_field] : started_)
            if (!name || each == *name) {
                sent.insert(sent.end(), of_field.begin(), of_field.end());
                of_field.clear();
            }
        if (sent.empty()) return;
        agreement_->note("wait " + name.value_or(""));
        side_->wait(sent);
    });
}

void FieldServer::end_step(Index step) {
    collective_errors([&] {
        check_step(step);
        if (step <= last_step_)
            throw InputError("step " + std::to_string(step) + " has ended: steps end once, in ascending order");
        agreement_->note("end step " + std::to_string(step));
        last_step_ = step;
        written_.erase(written_.begin(), written_.upper_bound(step));
        if (std::any_of(fields_.begin(), fields_.end(), [&](const auto& field) { return wants(field.first, step); }))
            side_->end_step(step);
        if (plan_->synchronous) side_->finish();
    });
    side_->raise_errors();
}

void FieldServer::finish() {
    collective_errors([&] {
        agreement_->note("finish");
        agreement_->check();
        side_->finish();
    });
    side_->raise_errors();
}

// --- input ---

void FieldServer::prefetch(const Arguments<std::vector<std::string>>& arguments) {
    collective_errors([&] {
        const std::vector<std::string> paths = arguments();
        std::string call = "prefetch";
        for (const std::string& path : paths) call += " " + path;
        agreement_->note(call);
        agreement_->check();
        input_->prefetch(paths);
    });
}

void FieldServer::read(const Arguments<Read>& arguments) {
    collective_errors([&] {
        const auto [name, path, values] = arguments();
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
            collective_errors([&] {
                agreement_->note("close");
                agreement_->check();
                side_->on_take_over = [](const std::vector<int>&, Channel&) {};  // no input is wanted any more
                side_->finish();
                for (Channel* channel : side_->in_use()) channel->arrive();
            });
        } catch (const mpi::PlanError&) {  // the agreement throws it below, when the servers know
        }
    }
    closed_ = true;
    side_->close();
}

}  // namespace tradewind::fieldserver
