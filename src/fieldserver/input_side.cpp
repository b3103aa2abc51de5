#include "fieldserver/input_side.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "mpi/error.hpp"

namespace tradewind::fieldserver {

InputSide::InputSide(ModelSide& side, MPI_Comm comm, ServerMethod method)
    : side_(side), comm_(comm), method_(std::move(method)) {
    side.on_take_over = [this](const std::vector<int>& shares, Channel& taker) { ask_again(shares, taker); };
}

std::vector<std::string> InputSide::named() const {
    std::vector<std::string> found;
    for (const auto& [path, share] : share_of_) found.push_back(path);
    return found;
}

void InputSide::prefetch(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) share_of_[path] = asked_++ % side_.shares();
    wanted_.insert(wanted_.end(), paths.begin(), paths.end());
    std::vector<std::pair<Channel*, std::vector<std::string>>> dealt;
    for (Channel* channel : side_.in_use()) {
        auto& mine = dealt.emplace_back(channel, std::vector<std::string>{}).second;
        for (const std::string& path : paths)
            if (&channel_of(path) == channel) mine.push_back(path);
    }
    for (const auto& [channel, mine] : dealt)
        if (side_.has_shares(*channel)) ask(*channel, mine);  // else it has been asked of another
    mpi::check(MPI_Barrier(comm_), [] { return std::string("asking for input"); });
}

void InputSide::ask(Channel& channel, const std::vector<std::string>& paths) {
    if (paths.empty()) return;
    channel.send_order({{"op", "prefetch"}, {"paths", Json::list(paths)}});
    if (channel.is_remote() && !channel.reply(available_tag)) side_.take_over(channel);
}

// Has the files of shares, whose server is lost, read by the one that has them now.
void InputSide::ask_again(const std::vector<int>& shares, Channel& taker) {
    std::vector<std::string> paths;
    for (const std::string& path : wanted_)
        if (std::find(shares.begin(), shares.end(), static_cast<int>(share_of_.at(path))) != shares.end())
            paths.push_back(path);
    ask(taker, paths);
}

void InputSide::read(const std::string& name, const FieldForm& form, const std::string& path, const ModelPart& part) {
    const auto place = std::find(wanted_.begin(), wanted_.end(), path);
    if (place != wanted_.end()) wanted_.erase(wanted_.begin(), place);
    for (;;) {
        if (const std::string problem = ask_for(name, form, path); !problem.empty()) throw InputError(problem);
        Channel& channel = channel_of(path);
        if (const ModelPart* found = delivered(channel, form)) return copy_in(*found, part);
        side_.take_over(channel);
    }
}

// Lets the reader of a file have a field ready; returns its error, or "".
std::string InputSide::ask_for(const std::string& name, const FieldForm& form, const std::string& path) {
    const Json::Object order{
        {"op", "send"}, {"path", path}, {"name", name}, {"alike", form.alike}, {"shape", form.to_json()}};
    for (;;) {
        Channel& channel = channel_of(path);
        std::vector<WholeField> fields;
        channel.input_memory(form);  // the server has it before it reads
        if (!channel.is_remote())
            fields.push_back({delivery(channel, form).whole, form.element, form.levels, form.points});
        channel.send_order(order, fields);
        if (const auto problem = channel.reply(input_tag, true)) return *problem;
        side_.take_over(channel);
    }
}

// This rank's part of a field that the server sends; null where it takes no part any more, on all ranks.
const ModelPart* InputSide::delivered(Channel& channel, const FieldForm& form) {
    const ModelPart* found = nullptr;
    std::string problem;
    try {
        Delivery& there = delivery(channel, form);
        there.plan->run();
        found = &there.part;
    } catch (const mpi::PlanError& error) {
        if (!channel.is_rank()) throw;
        problem = error.what();
    }
    if (channel.is_rank()) channel.lost = side_.first_error(problem);
    return channel.lost.empty() ? found : nullptr;
}

// Where MPI may still write is kept for good.
InputSide::~InputSide() {
    for (auto& [of, delivery] : deliveries_) {
        if (delivery.plan->settled()) continue;
        new PartMemory(delivery.memory);
        new PartMemory(delivery.whole);
    }
}

InputSide::Delivery& InputSide::delivery(Channel& channel, const FieldForm& form) {
    const std::pair key{&channel, form.alike};
    const auto found = deliveries_.find(key);
    if (found != deliveries_.end()) return found->second;
    const ServerHandover handover(channel.receiver(), form, method_, true);
    const PartMemory memory = handover.memory(), whole = channel.input_memory(form).value_or(handover.whole_memory());
    const ModelPart part = handover.part(memory);
    return deliveries_.emplace(key, Delivery{memory, part, whole, handover.plan({part}, {whole})}).first->second;
}

}  // namespace tradewind::fieldserver
