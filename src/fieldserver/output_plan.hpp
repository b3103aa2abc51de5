// The plan file of a field server, as far as a model needs it: what is written when, and by which server.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "fieldserver/message.hpp"

namespace tradewind::fieldserver {

// A file that a field of a step goes to. `path`: of a file for each level, the same for all of these, with a star.
struct OutputFile {
    std::string sink, path;
    bool all_steps;  // a store of all steps
    bool by_level;
    std::string form;  // of its path
};

// The path of a sink, with {step}, {step:06}, {name}, {level} and {level:03}, which a server has checked. Without a
// level a star stands for it.
std::string path_of(const std::string& form, const std::string& field, Index step, const double* level);

// The plan that the first server has read.
class OutputPlan {
  public:
    OutputPlan() = default;
    explicit OutputPlan(Message& message);

    // The files of a field at a step, in the order in which servers have them.
    std::vector<OutputFile> files(const std::string& field, Index step) const;
    // Whether a field goes, at any step, to files of one level each.
    bool by_level(const std::string& field) const;

    Index block = 1;       // levels that go together
    Index slot_bytes = 0;  // whole fields that may wait, per server
    double patience = 0;   // seconds
    bool drops = false;    // where there is no room
    std::string deal;
    bool synchronous = false;      // a step ends when its files are whole
    bool server_per_rank = false;  // of local servers; else one per node

  private:
    struct Sink {
        std::string name, path;
        bool all_steps = false, by_level = false;
    };
    struct Rule {
        std::vector<std::string> sinks, fields;  // no fields: all
        Index every = 1;                         // 0: those of `steps`
        std::vector<Index> steps;
        bool names(const std::string& field) const;
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
    int server_of(const OutputFile& file, const std::string& field, Index step, double level);
    // Forgets the files of a step, and of those before.
    void end_step(Index step);
    // Whether no file of a step is kept, nor the share of one.
    bool is_empty() const;

  private:
    int deal(const OutputFile& file, const std::string& field, Index step, double level);

    std::string how_;
    Bytes bytes_of_;
    std::vector<Index> load_;
    std::map<std::pair<Index, std::string>, int> owner_;
    std::map<std::string, int> names_;
    std::map<Index, Index> steps_;
    Index dealt_steps_ = 0;
    std::map<double, int> levels_;
};

}  // namespace tradewind::fieldserver
