#include "machine/topology/graph.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <unordered_set>

#include "base/error.hpp"

namespace tradewind::machine {

namespace {

// One line of the text: nothing, or a link.
class Line {
  public:
    Line(const std::string& text, std::string place) : place_(std::move(place)) {
        std::istringstream stream(text.substr(0, text.find('#')));
        for (std::string word; stream >> word;) words_.push_back(word);
        if (words_.empty()) return;
        if (words_.size() > 3 || words_.size() < 2 || (words_.size() == 3 && words_[2] != "global"))
            refuse("'" + text.substr(0, 60) + "': two switches, and 'global' or nothing, are allowed");
    }

    bool empty() const { return words_.empty(); }
    LinkKind kind() const { return words_.size() == 3 ? LinkKind::global : LinkKind::local; }
    std::uint32_t end(std::size_t i) const {
        std::uint32_t number = 0;
        const std::string& word = words_[i];
        const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (error != std::errc{} || rest != word.data() + word.size() || number >= ShortestPaths::max_switches)
            refuse("switch '" + word.substr(0, 20) + "': 0 to " + std::to_string(ShortestPaths::max_switches - 1) +
                   " are allowed");
        return number;
    }
    [[noreturn]] void refuse(const std::string& why) const { throw InputError(place_ + ": " + why); }

  private:
    std::string place_;
    std::vector<std::string> words_;
};

}  // namespace

Graph::Graph(const std::string& text, const std::string& file, std::uint32_t nodes_per_switch,
             std::uint32_t node_switches)
    : nodes_per_switch_(nodes_per_switch), node_switches_(node_switches) {
    if (nodes_per_switch < 1) throw InputError("graph: 1 or more nodes per switch are allowed");
    check(file, read(text, file));
    if (node_switches_ == 0) node_switches_ = switches();
    for (const auto& links : links_)
        first_terminal_ = std::max(first_terminal_, static_cast<std::uint32_t>(links.size()));
    check_size("graph", switches(), static_cast<double>(first_terminal_) + nodes_per_switch,
               static_cast<double>(node_switches_) * nodes_per_switch);
    paths_ = std::make_shared<ShortestPaths>(*this);
}

// Returns the line that names each switch first.
std::vector<int> Graph::read(const std::string& text, const std::string& file) {
    std::istringstream stream(text);
    std::string content;
    std::vector<int> lines;
    std::unordered_set<std::uint32_t> pairs;
    for (int number = 1; std::getline(stream, content); ++number) {
        const Line line(content, file + ":" + std::to_string(number));
        if (line.empty()) continue;
        const std::uint32_t a = line.end(0), b = line.end(1);
        if (a == b) line.refuse("a link from switch " + std::to_string(a) + " to itself");
        if (!pairs.insert(std::min(a, b) * ShortestPaths::max_switches + std::max(a, b)).second)
            line.refuse("the link between switches " + std::to_string(a) + " and " + std::to_string(b) +
                        " is there already");
        if (pairs.size() > max_links) line.refuse("at most " + std::to_string(max_links) + " links are allowed");
        for (const std::uint32_t end : {a, b}) {
            if (end >= links_.size()) links_.resize(end + 1);
            lines.resize(links_.size(), 0);
            if (lines[end] == 0) lines[end] = number;
        }
        const auto port_a = static_cast<std::uint32_t>(links_[a].size());
        const auto port_b = static_cast<std::uint32_t>(links_[b].size());
        links_[a].push_back({line.kind(), b, port_b});
        links_[b].push_back({line.kind(), a, port_a});
    }
    count_ = pairs.size();
    return lines;
}

void Graph::check(const std::string& file, const std::vector<int>& lines) const {
    if (links_.empty()) throw InputError(file + ": no links; a line for each is needed, such as '0 1'");
    std::vector<bool> reached(links_.size(), false);
    reached[0] = true;
    std::vector<std::uint32_t> queue{0};
    for (std::size_t i = 0; i < queue.size(); ++i)
        for (const PortEnd& end : links_[queue[i]]) {
            if (!reached[end.peer_switch]) queue.push_back(end.peer_switch);
            reached[end.peer_switch] = true;
        }
    const auto lost = static_cast<std::size_t>(std::find(reached.begin(), reached.end(), false) - reached.begin());
    if (lost < reached.size() && lines[lost] == 0)
        throw InputError(file + ": switch " + std::to_string(lost) + " of " + std::to_string(links_.size()) +
                         " has no link (they are numbered from 0 without gaps)");
    if (lost < reached.size())
        throw InputError(file + ":" + std::to_string(lines[lost]) + ": switch " + std::to_string(lost) +
                         " cannot be reached from switch 0");
    if (node_switches_ > switches())
        throw InputError(file + ": nodes on " + std::to_string(node_switches_) + " switches, but it has only " +
                         std::to_string(switches()));
}

std::string Graph::describe() const {
    return "graph of " + std::to_string(switches()) + " switches and " + std::to_string(count_) + " links, " +
           std::to_string(nodes_per_switch_) + " nodes on each of " + std::to_string(node_switches_) + " switches";
}

PortEnd Graph::port(std::uint32_t switch_id, std::uint32_t port) const {
    if (port < links_[switch_id].size()) return links_[switch_id][port];
    if (port >= first_terminal_ && switch_id < node_switches_) return {LinkKind::terminal, 0, 0};
    return {};
}

}  // namespace tradewind::machine
