#include "algorithm/tuning.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tradewind::algorithm {

namespace {

constexpr std::int64_t maximum_bytes = 64 << 20;

// A model makes many plans, and the file stays the same: the one that was read last is kept.
struct Kept {
    std::mutex mutex;
    std::string path;
    std::array<std::int64_t, 4> version{};  // time of its last change, its number in the file system, bytes
    TuningEntries entries;
};
Kept& kept() {
    static auto& last = *new Kept;
    return last;
}

std::optional<TunedMethod> tuned(const std::string& path, bool strict, const pattern::Pattern& pattern,
                                 const std::string& element, Index fields, const std::string& memory,
                                 const std::optional<Host>& host) {
    const TuningEntries entries = read_tuning_file(path);
    const TuningEntry* entry = find_tuned(*entries, tuning_request(pattern, element, fields, memory), host);
    if (!entry && memory == shared_memory)
        entry = find_tuned(*entries, tuning_request(pattern, element, fields, private_memory), host);
    if (!entry) return {};
    TunedMethod found{entry->method, path, ""};
    if (const auto unlike = host ? differences(*host, entry->host) : std::vector<std::string>(); !unlike.empty()) {
        found.warning = path + ": " + pattern.describe() + " was tuned elsewhere: " + joined(unlike, "; ");
        if (strict) throw InputError(found.warning + " (tune here, or leave out strict)");
    }
    return found;
}

}  // namespace

pattern::Parameters tuning_request(const pattern::Pattern& pattern, const std::string& element, Index fields,
                                   const std::string& memory) {
    pattern::Parameters asked = pattern.parameters();
    asked.insert(asked.begin(), {"pattern", pattern.name()});
    asked.insert(
        asked.end(),
        {{"ranks", static_cast<Index>(pattern.ranks())}, {"fields", fields}, {"dtype", element}, {"memory", memory}});
    return asked;
}

TuningEntries read_tuning_file(const std::string& path) {
    const auto refuse = [&](const std::string& problem) { throw InputError("cannot read " + path + ": " + problem); };
    struct stat found{};
    if (stat(path.c_str(), &found) != 0) refuse(std::strerror(errno));
    if (!S_ISREG(found.st_mode))
        refuse("this is a " + std::string(S_ISDIR(found.st_mode) ? "folder" : "device or pipe") +
               "; a file is allowed");
    if (found.st_size > maximum_bytes)
        refuse(std::to_string(found.st_size) + " bytes; at most " + std::to_string(maximum_bytes) + " are allowed");
    const std::array<std::int64_t, 4> version{found.st_mtim.tv_sec, found.st_mtim.tv_nsec,
                                              static_cast<std::int64_t>(found.st_ino), found.st_size};
    Kept& last = kept();
    const std::lock_guard<std::mutex> lock(last.mutex);
    if (last.path == path && last.version == version) return last.entries;
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse(std::strerror(errno));
    std::ostringstream text;
    text << file.rdbuf();
    last.entries = std::make_shared<const std::vector<TuningEntry>>(read_tuning(text.str(), path));
    last.path = path;
    last.version = version;
    return last.entries;
}

std::string kept_entries(const std::string& path, const std::string& text) {
    const auto added = read_tuning(text, path);
    std::string others;
    const TuningEntries before = read_tuning_file(path);
    for (const TuningEntry& old : *before) {
        const auto replaces = [&](const TuningEntry& entry) {
            return entry.request == old.request && differences(entry.host, old.host).empty();
        };
        if (std::none_of(added.begin(), added.end(), replaces)) others += "\n" + old.text + "\n";
    }
    const std::lock_guard<std::mutex> lock(kept().mutex);
    kept().path = "";  // it will be written: what is written twice in one tick of the clock looks alike
    return others;
}

const TuningEntry* find_tuned(const std::vector<TuningEntry>& entries, pattern::Parameters request,
                              const std::optional<Host>& host) {
    std::sort(request.begin(), request.end());
    const TuningEntry* best = nullptr;
    std::size_t minimum = 0;
    for (const TuningEntry& entry : entries) {
        if (entry.request != request) continue;
        const std::size_t unlike = host ? differences(*host, entry.host).size() : 0;
        if (!best || unlike < minimum || (unlike == minimum && entry.date > best->date)) {
            best = &entry;
            minimum = unlike;
        }
    }
    return best;
}

std::optional<TunedMethod> tuned_method(const std::string& setting, const std::string& origin,
                                        const pattern::Pattern& pattern, const std::string& element, Index fields,
                                        const std::string& memory, const std::optional<Host>& host) {
    const std::string mark = ",strict";
    const bool strict = setting.ends_with(mark);
    try {
        return tuned(setting.substr(0, setting.size() - (strict ? mark.size() : 0)), strict, pattern, element, fields,
                     memory, host);
    } catch (const InputError& error) {
        throw InputError(origin + "'" + setting + "': " + error.what());
    }
}

}  // namespace tradewind::algorithm
