// Tuning files: what is written is found again, and what is wrong is refused with its line.
#include "algorithm/tuning.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "base/text.hpp"
#include "pattern/allreduce.hpp"
#include "pattern/halo.hpp"
#include "testing/drawing.hpp"

namespace testing::algorithm_tuning {

using namespace tradewind;
using algorithm::read_tuning, algorithm::tuned_method;

const Host here{"a \"fast\" processor,\t3 µm", "an MPI 1.0", 4};

std::string written(const pattern::Parameter& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return "\"" + *text + "\"";
    if (const auto* number = std::get_if<Index>(&value)) return std::to_string(*number);
    if (const auto* yes = std::get_if<bool>(&value)) return *yes ? "true" : "false";
    std::string list;
    for (const Index each : std::get<std::vector<Index>>(value))
        list += (list.empty() ? "[" : ", ") + std::to_string(each);
    return list + "]";
}

// An entry as `tradewind tune` writes it.
std::string entry(const pattern::Parameters& request, const std::string& method, const Host& host = here,
                  const std::string& date = "2024-02-29T12:00:00Z") {
    std::string text = "[[entry]]\n";
    for (const auto& [key, value] : request) text += key + " = " + written(value) + "\n";
    const auto [algorithm, transport, packing] = algorithm::parse_method(method);
    text += "host = \"node1\"\ncpu = \"" +
            (host.cpu == here.cpu ? "a \\\"fast\\\" processor,\\t3 \\u00b5m" : host.cpu) + "\"\nmpi = \"" + host.mpi +
            "\"\nranks_per_node = " + std::to_string(host.ranks_per_node) + "\noversubscribed = false\nalgorithm = \"" +
            algorithm + "\"\n";
    if (!transport.empty()) text += "transport = \"" + transport + "\"\npacking = \"" + packing + "\"\n";
    return text + "median_s = 2.5e-05\nmin_s = 1e-05\ndefault_s = 3e-05\ntrials = 20\ndate = " + date +
           "\ntradewind = \"1.0\"\n";
}

const auto halo =
    std::make_shared<pattern::Halo>(layout::Blocks(layout::Grid(60, 40, 5), {2, 2}), 1, std::array{false, true});
const std::string halo_text = entry(algorithm::tuning_request(*halo, "f8", 2, "private"), "sweep,shared,direct");

std::string replaced(std::string text, const std::string& old, const std::string& by) {
    const std::size_t at = text.find(old);
    check(at != std::string::npos, ("'" + old + "' in the text").c_str());
    return text.replace(at, old.size(), by);
}

struct File {
    std::string path = std::filesystem::temp_directory_path() / ("tuning-" + std::to_string(getpid()) + ".toml");
    explicit File(const std::string& text) { write(text); }
    ~File() { std::remove(path.c_str()); }
    void write(const std::string& text) const { std::ofstream(path) << text; }
};

PROPERTY("an entry says what was written, and is found for its exchange alone", 500) {
    static const std::vector<std::string> patterns{"transpose", "halo", "fetch", "gather-scatter", "allreduce"};
    static const std::vector<std::string> elements{"f4", "f8", "i4", "i8", "c8", "c16"}, memories{"private", "shared"};
    std::vector<pattern::Parameters> requests;
    std::string text = "# made\n";
    for (auto left = draw.integer(1, 4); left > 0; --left) {
        const auto pattern = draw_pattern(draw, draw.from(patterns));
        auto request =
            algorithm::tuning_request(*pattern, draw.from(elements), draw.integer(1, 3), draw.from(memories));
        // Entries have no keys for transpositions between any two layouts.
        if (std::any_of(request.begin(), request.end(), [](const auto& each) { return each.first == "from"; }))
            continue;
        if (std::find(requests.begin(), requests.end(), request) != requests.end()) continue;
        text += "\n" + entry(draw.shuffled(request), algorithm::default_algorithm(pattern->name()) +
                                                         (draw.boolean() ? ",shared,direct" : ",isend-irecv,buffer"));
        requests.push_back(std::move(request));
    }
    draw.note(text);
    const auto found = read_tuning(text, "t.toml");
    CHECK_EQUAL(found.size(), requests.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(algorithm::find_tuned(found, requests[i], here) == &found[i]);
        CHECK(differences(found[i].host, here).empty());
        CHECK_EQUAL(found[i].date, 1709208000);
        CHECK(text.find(found[i].text) != std::string::npos && found[i].text.ends_with("tradewind = \"1.0\""));
        auto other = requests[i];
        for (auto& [key, value] : other)
            if (key == "fields") value = std::get<Index>(value) + 3;
        CHECK(algorithm::find_tuned(found, other, here) == nullptr);
    }
}

TEST("other forms of the same") {
    const auto read = [](const std::string& old, const std::string& by) {
        const auto found = read_tuning(replaced(halo_text, old, by), "t.toml");
        CHECK(found.size() == 1 &&
              algorithm::find_tuned(found, algorithm::tuning_request(*halo, "f8", 2, "private"), here) == &found[0]);
        return found[0];
    };
    std::string windows = "\xef\xbb\xbf";
    for (const char c : halo_text) windows += c == '\n' ? "\r\n" : std::string(1, c);
    CHECK_EQUAL(read_tuning(windows, "t.toml").size(), 1u);
    CHECK(read_tuning("# nothing\n\n", "t.toml").empty());
    read("width = 1", "  width\t=  1   # as narrow as can be");
    read("width = 1", "\"width\" = 1");
    read("grid = [60, 40, 5]", "grid = [ # x, y, z\n  60,\n  4_0,\n  +5,\n]");
    read("mpi = \"an MPI 1.0\"", R"(mpi = "\u0061n\u0020MPI 1\u002E0"  # "one")");
    read("mpi = \"an MPI 1.0\"", "mpi = 'an MPI 1.0' # it's");
    CHECK_EQUAL(read("an MPI 1.0", R"(\U0000004d\u00E9\u20ac\U0001F4a8)").host.mpi, "Mé€💨");
    read("median_s = 2.5e-05", "median_s = 1_0");
    read("median_s = 2.5e-05", "median_s = +2.5E+3");
    read("memory = \"private\"\n", "");  // as in files of earlier versions
    CHECK_EQUAL(read("12:00:00Z", "12:00:00Z\n# more").text.find("more"), halo_text.find("tradewind = ") + 2);
    CHECK_EQUAL(read("2024-02-29T12:00:00Z", "2024-02-29 14:30:00.25+02:30").date, 1709208000);
    CHECK_EQUAL(read("2024-02-29T12:00:00Z", "2000-03-01t00:00:00-01:00").date, 951872400);
}

TEST("what is wrong is refused with its line") {
    const std::vector<std::array<std::string, 3>> cases{
        {"width = 1", "width = -1", "t.toml:5: entry 1: width = -1: a whole number of 0 or more is allowed"},
        {"width = 1", "width = 1.0", "5: entry 1: width = 1.0: a whole number"},
        {"width = 1", "width = true", "5: entry 1: width = true: a whole number"},
        {"width = 1", "width = 01", "5: entry 1: width = 01: a whole number"},
        {"width = 1", "width = 1__0", "5: entry 1: width = 1__0: a whole number"},
        {"width = 1", "width = 99999999999999999999", "5: entry 1: width = 99999999999999999999: a whole"},
        {"width = 1", "width = 1 2", "5: entry 1: width = 1 2: a whole"},
        {"width = 1", "width =", "5: entry 1: width = : a whole"},
        {"width = 1", "", "t.toml:1: entry 1: key 'width' is missing"},
        {"width = 1", "width = 1\nwidth = 1", "t.toml:6: key 'width' stands twice in one entry"},
        {"width = 1", "width = 1\nwidht = 2", "t.toml:6: entry 1: unknown key 'widht'; did you mean 'width'? (known: "},
        {"width = 1", "width 1", "t.toml:5: 'width 1': tables [[entry]] of lines key = value are allowed"},
        {"width = 1", "= 1", "t.toml:5: '= 1': tables"},
        {"[60, 40, 5]", "[60, 40]", "3: entry 1: grid = [60, 40]: a list of 3 whole numbers of 1 or more is allowed"},
        {"[60, 40, 5]", "[60, 40, 0]", "3: entry 1: grid = "},
        {"[60, 40, 5]", "[60 40, 5]", "3: entry 1: grid = "},
        {"[60, 40, 5]", "[60, , 40, 5]", "3: entry 1: grid = "},
        {"[60, 40, 5]", "[60, 40, 5.0]", "3: entry 1: grid = "},
        {"[60, 40, 5]", "[60, 40, 5", "t.toml:3: '[60, 40, 5': the list is not closed"},
        {"\"y\"", "\"yx\"", "6: entry 1: periodic = \"yx\": one of '', 'y', 'x', 'xy' is allowed"},
        {"\"y\"", "\"y", "6: entry 1: periodic = \"y: text in quotes is allowed"},
        {"\"y\"", "1", "6: entry 1: periodic = 1: text in quotes"},
        {"\"halo\"", "\"hallo\"", "t.toml:2: entry 1: unknown pattern 'hallo'; did you mean 'halo'? (known: allreduce"},
        {"\"halo\"", "1", "t.toml:2: entry 1: unknown pattern '1' (known: "},
        {"pattern = \"halo\"", "", "t.toml:1: entry 1: key 'pattern' is missing (known: allreduce, fetch"},
        {"\"f8\"", "\"f16\"", "dtype = \"f16\": one of 'f4', 'f8', 'i4', 'i8', 'c8', 'c16' is allowed"},
        {"\"private\"", "\"common\"", "memory = \"common\": one of 'private', 'shared' is allowed"},
        {"\"sweep\"", "\"swep\"", "t.toml:1: entry 1: unknown halo algorithm 'swep'; did you mean 'sweep'?"},
        {"\"sweep\"", "\"ring\"", "t.toml:1: entry 1: unknown halo algorithm 'ring'"},
        {"\"sweep\"", "\"two-level-k\"", "t.toml:1: entry 1: unknown halo algorithm 'two-level-k'"},
        {"\"shared\"", "\"shard\"", "t.toml:1: entry 1: unknown transport 'shard'; did you mean 'shared'?"},
        {"\"direct\"", "\"directly\"", "t.toml:1: entry 1: unknown packing 'directly'; did you mean 'direct'?"},
        {"\"sweep\"", "\"native\"", "t.toml:1: entry 1: transport and packing belong to every algorithm but native"},
        {"transport = \"shared\"", "", "t.toml:1: entry 1: transport and packing belong to every algorithm"},
        {"median_s = 2.5e-05", "median_s = nan", "median_s = nan: seconds above 0 are allowed"},
        {"median_s = 2.5e-05", "median_s = inf", "median_s = inf: seconds"},
        {"median_s = 2.5e-05", "median_s = 0", "median_s = 0: seconds"},
        {"median_s = 2.5e-05", "median_s = 1.", "median_s = 1.: seconds"},
        {"median_s = 2.5e-05", "median_s = \"1us\"", "median_s = \"1us\": seconds"},
        {"oversubscribed = false", "oversubscribed = False", "oversubscribed = False: true or false is allowed"},
        {"trials = 20", "trials = 0", "trials = 0: a whole number of 1 or more is allowed"},
        {"2024-02-29T", "2023-02-29T", "date = 2023-02-29T12:00:00Z: a time with its distance to UTC is allowed"},
        {"12:00:00Z", "12:00:00", "date = 2024-02-29T12:00:00: a time"},
        {"12:00:00Z", "12:00:00.Z", "date = 2024-02-29T12:00:00.Z: a time"},
        {"12:00:00Z", "24:00:00Z", "date = 2024-02-29T24:00:00Z: a time"},
        {"2024-02-29T12:00:00Z", "\"2024-02-29T12:00:00Z\"", "date = \"2024-02-29T12:00:00Z\": a time"},
        {"fast\\\"", "fast\\q", "12: entry 1: cpu = "},
        {"\\u00b5", "\\ud800", "12: entry 1: cpu = "},
        {"\\u00b5", "\\U00110000", "12: entry 1: cpu = "},
        {"\\u00b5", "\\U000b5", "12: entry 1: cpu = "},
        {"host = ", "\"of = x\" = 1\nhost = ", "unknown key 'of = x'"},
        {"host = ", "'a\"=' = 1\nhost = ", "unknown key 'a\"='"},
        {"[[entry]]", "[entry]", "t.toml:1: '[entry]': tables [[entry]] of lines key = value are allowed"},
        {"[[entry]]", "[[entry]", "t.toml:1: '[[entry]': tables"},
        {"[[entry]]", "[[entry]] 1", "t.toml:1: '[[entry]] 1': tables"},
        {"[[entry]]", "more = 1\n[[entry]]", "t.toml:1: unknown key 'more' (known: [[entry]])"},
        {"[[entry]]", "[[entry]]\n[[entry]]", "t.toml:1: entry 1: key 'pattern' is missing"},
        {"host = ", "more.host = ", "unknown key 'more.host'"},
    };
    for (const auto& [old, by, words] : cases)
        CHECK_THROWS(InputError, {words}, read_tuning(replaced(halo_text, old, by), "t.toml"));
    std::string many;
    for (int i = 0; i < 50; ++i) many += "[[entry]]\n";
    CHECK_THROWS(InputError, ({"t.toml:40: entry 40: ", "\nt.toml: and 10 mistakes more"}),
                 read_tuning(many, "t.toml"));
}

PROPERTY("of a damaged file there are entries, or an error with its line", 3000) {
    static const std::string some = "\"[]\\=#\n,.-_ u1e";
    const auto length = static_cast<std::int64_t>(halo_text.size());
    const auto at = static_cast<std::size_t>(draw.integer(0, length - 1));
    std::string text = halo_text.substr(0, at);
    for (auto left = draw.integer(0, 3); left > 0; --left)
        text += some[static_cast<std::size_t>(draw.integer(0, static_cast<std::int64_t>(some.size()) - 1))];
    text += halo_text.substr(std::min(halo_text.size(), at + static_cast<std::size_t>(draw.integer(0, 4))));
    if (draw.boolean()) text.resize(static_cast<std::size_t>(draw.integer(0, static_cast<std::int64_t>(text.size()))));
    draw.note(text);
    try {
        CHECK(read_tuning(text, "t.toml").size() <= 2);
    } catch (const InputError& error) {
        int line = 0;
        CHECK(std::sscanf(error.what(), "t.toml:%d: ", &line) == 1 && line >= 1);
    }
}

TEST("of several entries the one of the most alike host is taken, of equals the latest") {
    const auto reduce = std::make_shared<pattern::AllReduce>(4, 7);
    const Host near{here.cpu, here.mpi, 8}, far{"B", "N", 8};
    const auto about = [&](const Host& host, int day, const std::string& name, Index fields = 1,
                           const std::string& memory = "private") {
        return entry(algorithm::tuning_request(*reduce, "f8", fields, memory), name + ",shared,direct", host,
                     "2024-02-0" + std::to_string(day) + "T12:00:00Z");
    };
    const File file(about(far, 5, "ring") + about(near, 1, "binomial") + about(near, 2, "recursive-2") +
                    about(near, 1, "recursive-3") + about(here, 1, "recursive-4", 2) +
                    about(here, 1, "ring", 3, "shared"));
    const auto tuned = [&](const std::string& setting, Index fields, const std::string& memory = "private") {
        return tuned_method(setting, "tuning ", *reduce, "f8", fields, memory, here);
    };
    CHECK_EQUAL(tuned(file.path, 1)->method.algorithm, "recursive-2");
    CHECK_EQUAL(tuned(file.path, 1)->warning,
                file.path + ": " + reduce->describe() + " was tuned elsewhere: 4 ranks share a node, not 8");
    CHECK_THROWS(InputError,
                 ({"tuning '" + file.path + ",strict': ", "was tuned elsewhere", "(tune here, or leave out strict)"}),
                 tuned(file.path + ",strict", 1));
    CHECK_EQUAL(tuned(file.path + ",strict", 2)->warning, "");
    CHECK_EQUAL(tuned(file.path, 2, "shared")->method.algorithm, "recursive-4");  // it still compares the algorithms
    CHECK_EQUAL(tuned(file.path, 3, "shared")->method.algorithm, "ring");
    CHECK(!tuned(file.path, 3));
    CHECK_EQUAL(tuned_method(file.path, "", *reduce, "f8", 1, "private", {})->method.algorithm, "ring");
    CHECK_EQUAL(joined(differences(here, far), "; "),
                "the processor is " + here.cpu +
                    ", not B; the MPI library is an MPI 1.0, not N; 4 ranks share "
                    "a node, not 8");
}

TEST("a file is read again once it has changed, and others' entries are kept") {
    const File file(replaced(halo_text, "\"shared\"", "\"put-fence\""));
    const auto read = [&] { return algorithm::read_tuning_file(file.path)->at(0).method.transport; };
    CHECK_EQUAL(read(), "put-fence");
    file.write(replaced(halo_text, "\"shared\"", "\"get-fence\""));
    std::filesystem::last_write_time(file.path, std::filesystem::file_time_type() + std::chrono::hours(1));
    CHECK_EQUAL(read(), "get-fence");
    const std::string elsewhere = replaced(halo_text, "MPI 1.0", "MPI 2.0"),
                      other = replaced(halo_text, "fields = 2", "fields = 3"),
                      again = replaced(halo_text, "\"sweep\"", "\"direct\"");
    file.write("# mine\n" + halo_text + elsewhere + "\n" + other);
    CHECK_EQUAL(algorithm::kept_entries(file.path, again), "\n" + elsewhere + "\n" + other);
    CHECK_EQUAL(algorithm::kept_entries(file.path, halo_text + elsewhere + other), "");
    file.write("x");
    CHECK_THROWS(InputError, {file.path + ":1: 'x'"}, algorithm::kept_entries(file.path, ""));
    CHECK_THROWS(InputError, {"cannot read /no/file: No such file or directory"},
                 algorithm::read_tuning_file("/no/file"));
    CHECK_THROWS(InputError, {"cannot read /tmp: this is a folder; a file is allowed"},
                 algorithm::read_tuning_file("/tmp"));
    CHECK_THROWS(InputError, {"this is a device or pipe; a file is allowed"}, algorithm::read_tuning_file("/dev/zero"));
}

}  // namespace testing::algorithm_tuning
