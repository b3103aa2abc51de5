#include "fieldserver/output_plan.hpp"

#include <algorithm>
#include <cstdio>

namespace tradewind::fieldserver {

namespace {

// A number in the form of "{step:06}" of Python: "06".
std::string padded(Index number, const std::string& form) {
    std::string text = std::to_string(number);
    if (form.empty()) return text;
    const std::size_t width = static_cast<std::size_t>(form.back() - '0');
    return text.size() < width ? std::string(width - text.size(), form.front() == '0' ? '0' : ' ') + text : text;
}

// A level in the form of "{level:03}": zeros stand behind a sign.
std::string level_text(double level, const std::string& form) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.15g", level);
    std::string text = digits;
    const std::size_t width = form.empty() ? 0 : static_cast<std::size_t>(form.back() - '0');
    const std::size_t sign = text[0] == '-' ? 1 : 0;
    if (text.size() < width) text.insert(sign, width - text.size(), '0');
    return text;
}

}  // namespace

std::string path_of(const std::string& form, const std::string& field, Index step, const double* level) {
    std::string path;
    for (std::size_t i = 0; i < form.size(); ++i) {
        if (form[i] != '{' && form[i] != '}') {
            path += form[i];
        } else if (i + 1 < form.size() && form[i + 1] == form[i]) {
            path += form[i++];  // a brace that is meant
        } else {
            const std::size_t end = form.find('}', i);
            const std::string key = form.substr(i + 1, end - i - 1);
            const std::size_t colon = key.find(':');
            const std::string width = colon == std::string::npos ? "" : key.substr(colon + 1);
            const std::string name = key.substr(0, colon);
            if (name == "name")
                path += field;
            else if (name == "level")
                path += level ? level_text(*level, width) : "*";
            else
                path += padded(step, width);
            i = end;
        }
    }
    return path;
}

OutputPlan::OutputPlan(Message& message)
    : block(message.integer()),
      slot_bytes(message.integer()),
      patience(message.number()),
      drops(message.truth()),
      deal(message.text()),
      synchronous(message.truth()),
      server_per_rank(message.truth()) {
    sinks_ = message.list([&] {
        Sink sink;
        sink.name = message.text();
        sink.path = message.text();
        sink.all_steps = message.truth();
        sink.by_level = message.truth();
        return sink;
    });
    rules_ = message.list([&] {
        Rule rule;
        rule.sinks = message.texts();
        rule.fields = message.texts();
        rule.every = message.integer();
        rule.steps = message.integers();
        return rule;
    });
}

bool OutputPlan::Rule::names(const std::string& field) const {
    return fields.empty() || std::find(fields.begin(), fields.end(), field) != fields.end();
}

bool OutputPlan::by_level(const std::string& field) const {
    for (const Rule& rule : rules_)
        for (const Sink& sink : sinks_)
            if (rule.names(field) && sink.by_level &&
                std::find(rule.sinks.begin(), rule.sinks.end(), sink.name) != rule.sinks.end())
                return true;
    return false;
}

bool OutputPlan::Rule::wants(const std::string& field, Index step) const {
    if (!names(field)) return false;
    if (every == 0) return std::find(steps.begin(), steps.end(), step) != steps.end();
    return step % every == 0;
}

std::vector<OutputFile> OutputPlan::files(const std::string& field, Index step) const {
    std::vector<OutputFile> found;
    for (const Rule& rule : rules_) {
        if (!rule.wants(field, step)) continue;
        for (const std::string& name : rule.sinks) {
            const auto same = [&](const OutputFile& file) { return file.sink == name; };
            if (std::any_of(found.begin(), found.end(), same)) continue;
            for (const Sink& sink : sinks_)
                if (sink.name == name)
                    found.push_back(
                        {name, path_of(sink.path, field, step, nullptr), sink.all_steps, sink.by_level, sink.path});
        }
    }
    return found;
}

Dealing::Dealing(std::string how, int servers, Bytes bytes_of)
    : how_(std::move(how)), bytes_of_(std::move(bytes_of)), load_(static_cast<std::size_t>(servers)) {}

int Dealing::server_of(const OutputFile& file, const std::string& field, Index step, double level) {
    const std::string path = file.by_level ? path_of(file.form, field, step, &level) : file.path;
    const std::pair<Index, std::string> key{file.all_steps ? -1 : step, path};
    const auto found = owner_.find(key);
    return found != owner_.end() ? found->second : owner_.emplace(key, deal(file, field, step, level)).first->second;
}

void Dealing::end_step(Index step) {
    steps_.erase(steps_.begin(), steps_.upper_bound(step));
    owner_.erase(owner_.lower_bound({0, ""}), owner_.lower_bound({step + 1, ""}));
}

bool Dealing::is_empty() const {
    return steps_.empty() && owner_.lower_bound({0, ""}) == owner_.end();
}

int Dealing::deal(const OutputFile& file, const std::string& field, Index step, double level) {
    const int servers = static_cast<int>(load_.size());
    const auto in_turn = [&](auto& known, const auto& key) {
        return known.emplace(key, static_cast<int>(known.size())).first->second % servers;
    };
    if (how_ == "names") return in_turn(names_, field);
    if (how_ == "steps") {
        const auto [place, is_new] = steps_.try_emplace(step, dealt_steps_);
        if (is_new) ++dealt_steps_;
        return static_cast<int>(place->second % servers);
    }
    if (how_ == "levels" && file.by_level) return in_turn(levels_, level);
    const auto least = std::min_element(load_.begin(), load_.end());
    *least += bytes_of_(file.path, step);
    return static_cast<int>(least - load_.begin());
}

}  // namespace tradewind::fieldserver
