#include "fieldserver/field_server.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <numeric>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/write_error.hpp"
#include "fieldserver/local_channel.hpp"
#include "mpi/agreement.hpp"
#include "mpi/error.hpp"

namespace tradewind::fieldserver {

namespace {

constexpr Index max_step = (Index{1} << 31) - 1;  // as of MAX_STEP in python/tradewind/fieldserver/plan/plan_file.py

void check_step(Index step) {
    if (step < 0 || step > max_step)
        throw InputError("step " + std::to_string(step) + ": 0.." + std::to_string(max_step) + " are allowed");
}

}  // namespace

FieldServer::FieldServer(Opened opened)
    : opened_(std::move(opened)),
      agreement_(opened_.model),
      side_(
          first_channels(),
          [this](int number) {
              return opened_.make_writer ? local_channel(number, made_writer(number % ranks() == rank()))
                                         : std::unique_ptr<Channel>();
          },
          opened_.plan, fields_, agreement_),
      input_(side_, agreement_.comm(), opened_.method) {}

std::vector<std::unique_ptr<Channel>> FieldServer::first_channels() {
    std::vector<std::unique_ptr<Channel>> channels;
    const auto number = [&] { return static_cast<int>(channels.size()); };
    for (const MPI_Comm pair : opened_.servers) {
        std::unique_ptr<ControlChannel> control;
        if (rank() == 0) control = std::make_unique<RankChannel>(pair, ranks());
        ServerLink link{{pair, ranks(), opened_.plan.patience}, 0, std::move(control)};
        channels.push_back(
            std::make_unique<Channel>(number(), std::move(link), opened_.plan, opened_.method, agreement_));
    }
    for (LocalServer& server : opened_.local_servers)
        channels.push_back(std::make_unique<LocalChannel>(number(), server.host, std::move(server.control),
                                                          opened_.plan, opened_.method, agreement_));
    if (channels.empty()) {
        std::unique_ptr<LocalWriter> own = made_writer(true);
        for (int each = 0; each < ranks(); ++each)
            channels.push_back(local_channel(each, each == rank() ? std::move(own) : nullptr));
    }
    return channels;
}

// Makes the writer of this rank, or none where it is not to be `here`. Throws PlanError for an error of another rank.
// Collective.
std::unique_ptr<LocalWriter> FieldServer::made_writer(bool here) {
    std::unique_ptr<LocalWriter> made;
    std::exception_ptr own;
    std::string problem;
    try {
        if (here) made = opened_.make_writer();
    } catch (const std::exception& error) {
        own = std::current_exception();
        problem = error.what();
    }
    const std::string first = agreement_.first_error(problem);
    if (own) std::rethrow_exception(own);
    if (!first.empty()) throw mpi::PlanError(first);
    return made;
}

// To a writer on a rank of the model.
std::unique_ptr<Channel> FieldServer::local_channel(int number, std::unique_ptr<LocalWriter> writer) {
    return std::make_unique<Channel>(number, std::move(writer), number % ranks(), opened_.waits, opened_.plan,
                                     opened_.method, agreement_);
}

void FieldServer::require_open() const {
    if (closed_) throw mpi::PlanError("the field server is closed");
}

void FieldServer::send_error(const std::string& text, ErrorKind kind) {
    require_open();
    agreement_.send_error(text, kind);
}

// Does what a rank does alone or together with the others; an error of this rank is thrown on all.
void FieldServer::collective_errors(const std::function<void()>& work) {
    require_open();
    agreement_.require_whole();
    try {
        work();
    } catch (const WriteError&) {  // on all ranks
        throw;
    } catch (const InputError& error) {
        agreement_.send_error(error.what(), ErrorKind::input);
        throw;
    } catch (const std::exception& error) {
        agreement_.send_error(error.what(), ErrorKind::other);
        throw;
    }
}

// --- fields ---

void FieldServer::define(const Arguments<Definition>& arguments) {
    collective_errors([&] { add_field(arguments()); });
}

const DefinedField& FieldServer::field_at(const std::string& name) const {
    const auto found = fields_.find(name);
    if (found != fields_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [each, field] : fields_) known.push_back(each);
    throw InputError(unknown_name("field", name, known));
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
    mpi::check(MPI_Allreduce(mine.data(), all.data(), 4, MPI_UINT64_T, MPI_SUM, agreement_.comm()),
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
    std::string key = form.to_json().text() + " axis " + std::to_string(form.axis);
    if (!form.layout) {
        std::string own = std::to_string(agreement_.rank()) + ' ';
        own.append(reinterpret_cast<const char*>(form.own.data()), form.own.size() * sizeof(Index));
        std::uint64_t mine = std::hash<std::string>{}(own), sum = 0;
        mpi::check(MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, agreement_.comm()),
                   [] { return std::string("comparing the points of the ranks"); });
        key += std::to_string(sum);
    }
    form.alike = std::to_string(std::hash<std::string>{}(key));
}

// Sends an order to all writers, and returns the first error in their replies.
std::string FieldServer::reply_of_all(const Json::Object& order) {
    const std::vector<Channel*> channels = side_.in_use();
    const auto is_from_first = [](const Channel* channel) { return !channel->is_remote() || channel->root() == 0; };
    std::string text = Json(order).text();  // the first rank has all coordinates of a mesh, others need not
    if (!std::all_of(channels.begin(), channels.end(), is_from_first)) text = mpi::text_of(agreement_.comm(), 0, text);
    for (Channel* channel : channels)
        if (channel->is_here()) channel->send_text(text);
    std::string problem, local;
    for (Channel* channel : channels) {
        if (!channel->is_remote()) {
            if (channel->is_here() && local.empty()) local = channel->own_reply();
            continue;
        }
        const auto reply = channel->reply(answer_tag);
        if (!reply) side_.take_over(*channel);
        if (reply && problem.empty()) problem = *reply;
    }
    for (Channel* channel : side_.in_use()) {  // a writer that has taken over meanwhile has not had the order
        if (std::find(channels.begin(), channels.end(), channel) != channels.end()) continue;
        if (!channel->is_here()) continue;
        channel->send_text(text);
        if (local.empty()) local = channel->own_reply();
    }
    return problem.empty() ? agreement_.first_error(local) : problem;
}

void FieldServer::add_field(Definition definition) {
    auto& [name, field, identity, attributes, geometry_name, geometry] = definition;
    if (fields_.count(name)) throw InputError("field " + name + " is defined twice");
    agreement_.note("define " + name + " " + identity + " " + field.form.to_json().text() + " axis " +
                    std::to_string(field.form.axis));
    agreement_.check();
    check_owners(name, field.form);
    mark_alike(field.form);
    if (field.form.levels > 1 && opened_.plan.by_level(name)) {
        field.single = field.form.one_level(name);
        mark_alike(field.single);
    }
    attributes.emplace_back("geometry", knows_geometry(geometry_name) ? Json(geometry_name) : std::move(geometry));
    const std::string problem = reply_of_all({{"op", "define"},
                                              {"field", std::move(attributes)},
                                              {"shape", field.form.to_json()},
                                              {"geometry_name", geometry_name},
                                              {"late", checked_}});
    if (!problem.empty()) throw InputError(problem);
    geometries_.insert(geometry_name);
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
                         " levels, and its layout 1: name one of level 0.." + std::to_string(levels - 1));
    if (level >= 0 && lying != 1)
        throw InputError("field " + name + ": level " + std::to_string(level) + " of " + std::to_string(levels) +
                         ", and its layout has all of them: none is to be named");
    if (level >= levels)
        throw InputError("field " + name + ": level " + std::to_string(level) + ": 0.." + std::to_string(levels - 1) +
                         " is allowed");
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
    agreement_.note("first write");
    agreement_.check();
    const Json::Object order{{"op", "check"}, {"steps", opened_.steps < 0 ? Json() : Json(opened_.steps)}};
    for (;;) {
        Channel& channel = *side_.in_use().front();
        channel.send_order(order);
        const auto problem = channel.reply(answer_tag);
        if (!problem) {
            side_.take_over(channel);
            continue;
        }
        if (!problem->empty()) throw InputError(*problem);
        return;
    }
}

void FieldServer::hand(const std::string& call, const Arguments<Written>& arguments, Index step, Index level,
                       const std::function<void(const std::string&, const ModelPart&)>& check,
                       const std::function<void(const ModelSide::Given&)>& hand_over) {
    collective_errors([&] {
        const auto [name, values] = arguments();
        const DefinedField& field = field_at(name);
        const ModelPart part = part_of(name, field.form, rank(), values);
        check(name, part);
        const std::vector<Index> places = checked_places(name, field, step, level);
        check_once();
        if (wants(name, step))
            agreement_.note(call + " " + name + " " + std::to_string(step) + " " + std::to_string(level));
        hand_over(ModelSide::Given{name, field, step, places, part});
    });
}

void FieldServer::write(const Arguments<Written>& arguments, Index step, Index level) {
    const auto any = [](const std::string&, const ModelPart&) {};
    hand("write", arguments, step, level, any, [&](const ModelSide::Given& given) { side_.write(given); });
}

Index FieldServer::start(const Arguments<Written>& arguments, Index step, Index level) {
    hand("start", arguments, step, level, require_whole_strides, [&](const ModelSide::Given& given) {
        started_.emplace(++calls_of_start_, Started{given.name, side_.start(given)});
    });
    return calls_of_start_;
}

void FieldServer::wait(const std::optional<std::string>& name) {
    collective_errors([&] {
        if (name) field_at(*name);
        wait_until_given_back("wait " + name.value_or(""),
                              [&](Index, const std::string& field) { return !name || field == *name; });
    });
}

void FieldServer::wait_for(Index call) {
    collective_errors([&] {
        wait_until_given_back("wait for call " + std::to_string(call),
                              [&](Index each, const std::string&) { return each == call; });
    });
}

void FieldServer::wait_until_given_back(const std::string& call,
                                        const std::function<bool(Index, const std::string&)>& is_meant) {
    std::vector<ModelSide::Sent> sent;
    for (auto each = started_.begin(); each != started_.end();) {
        if (!is_meant(each->first, each->second.field)) {
            ++each;
            continue;
        }
        sent.insert(sent.end(), each->second.sent.begin(), each->second.sent.end());
        each = started_.erase(each);
    }
    if (sent.empty()) return;
    agreement_.note(call);
    side_.wait(sent);
}

void FieldServer::end_step(Index step) {
    bool wanted = false;
    collective_errors([&] {
        check_step(step);
        if (step <= last_step_)
            throw InputError("step " + std::to_string(step) + " has ended: steps end once, in ascending order");
        last_step_ = step;
        written_.erase(written_.begin(), written_.upper_bound(step));
        wanted = std::any_of(fields_.begin(), fields_.end(), [&](const auto& each) { return wants(each.first, step); });
        if (!wanted) return;
        agreement_.note("end step " + std::to_string(step));
        side_.end_step(step);
        if (opened_.plan.synchronous) side_.finish();
    });
    if (wanted) side_.raise_errors();
}

void FieldServer::finish() {
    collective_errors([&] {
        agreement_.note("finish");
        agreement_.check();
        side_.finish();
    });
    side_.raise_errors();
}

// --- input ---

void FieldServer::prefetch(const Arguments<std::vector<std::string>>& arguments) {
    collective_errors([&] {
        const std::vector<std::string> paths = arguments();
        std::string call = "prefetch";
        for (const std::string& path : paths) call += " " + path;
        agreement_.note(call);
        agreement_.check();
        input_.prefetch(paths);
    });
}

void FieldServer::read(const Arguments<Read>& arguments) {
    collective_errors([&] {
        const auto [name, path, values] = arguments();
        const DefinedField& field = field_at(name);
        if (!input_.is_named(path))
            throw InputError("read of " + path + ": " + unknown_name("input file", path, input_.named()));
        const ModelPart part = part_of(name, field.form, rank(), values);
        agreement_.note("read " + name + " of " + path);
        agreement_.check();
        input_.read(name, field.form, path, part);
    });
}

// --- the end ---

bool FieldServer::end() {
    require_open();
    closed_ = true;
    agreement_.note("close");
    side_.on_take_over = [](const std::vector<int>&, Channel&) {};  // no input is wanted any more
    return side_.end();
}

std::vector<std::string> FieldServer::leave(const std::string& text) {
    closed_ = true;
    side_.leave(text);
    return side_.own_errors();
}

}  // namespace tradewind::fieldserver
