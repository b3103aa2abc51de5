// The plan file of a field server, as far as a model needs it: what is written when, and by which server.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "json.hpp"

namespace tradewind::c {

// A file that a field of a step goes to.
struct OutputFile {
    std::string sink, path;
    bool all_steps;  // a store of all steps
};

// The plan that the first server has read.
class OutputPlan {
  public:
    OutputPlan() = default;
    explicit OutputPlan(const Json& said);

    // The files of a field at a step, in the order in which servers have them.
    std::vector<OutputFile> files(const std::string& field, Index step) const;

    Index block = 1;       // levels that go together
    Index slot_bytes = 0;  // whole fields that may wait, per server
    double patience = 0;   // seconds
    bool drops = false;    // where there is no room
    std::string deal;

  private:
    struct Sink {
        std::string name, path;
        bool all_steps;
    };
    struct Rule {
        std::vector<std::string> sinks, fields;  // no fields: all
        std::vector<Index> steps;
        bool listed;  // the steps are
        Index every;
        bool wants(const std::string& field, Index step) const;
    };
    std::vector<Sink> sinks_;
    std::vector<Rule> rules_;
};

// Which server writes which file; the same on all ranks that ask in the same order.
class Dealing {
  public:
    // `bytes_of`: bytes of the fields that go into a file of a step.
    using Bytes = std::function<Index(const std::string& path, Index step)>;
    Dealing() = default;
    Dealing(std::string how, int servers, Bytes bytes_of);
    int server_of(const OutputFile& file, const std::string& field, Index step);

  private:
    int deal(const OutputFile& file, const std::string& field, Index step);

    std::string how_;
    Bytes bytes_of_;
    std::vector<Index> load_;
    std::map<std::pair<Index, std::string>, int> owner_;
    std::map<std::string, int> names_;
    std::map<Index, int> steps_;
};

}  // namespace tradewind::c
