// The side of the model of input: files that are read ahead by servers, or on ranks of the model, and handed over.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fieldserver/model_side.hpp"

namespace tradewind::fieldserver {

// Files are dealt among the shares of `side` in turn. All functions are collective, and throw PlanError where all
// writers are lost.
class InputSide {
  public:
    InputSide(ModelSide& side, MPI_Comm comm, ServerMethod method);
    ~InputSide();
    InputSide(const InputSide&) = delete;
    InputSide& operator=(const InputSide&) = delete;

    // Has the next files read; returns when each reader has confirmed that it is available.
    void prefetch(const std::vector<std::string>& paths);
    bool is_named(const std::string& path) const { return share_of_.count(path) > 0; }
    std::vector<std::string> named() const;
    // Fills this rank's part of a field from a file that was named. Throws InputError for an error of the reader.
    void read(const std::string& name, const FieldForm& form, const std::string& path, const ModelPart& part);

  private:
    struct Delivery {
        PartMemory memory;
        ModelPart part;
        PartMemory whole;  // where it was read
        std::unique_ptr<mpi::Plan> plan;
    };

    Channel& channel_of(const std::string& path) const { return side_.channel_of(share_of_.at(path)); }
    void ask(Channel& channel, const std::vector<std::string>& paths);
    void ask_again(const std::vector<int>& shares, Channel& taker);
    std::string ask_for(const std::string& name, const FieldForm& form, const std::string& path);
    const ModelPart* delivered(Channel& channel, const FieldForm& form);
    Delivery& delivery(Channel& channel, const FieldForm& form);

    ModelSide& side_;
    const MPI_Comm comm_;
    const ServerMethod method_;
    std::map<std::string, std::size_t> share_of_;
    std::vector<std::string> wanted_;  // files that were named, from the one on that was read last
    std::size_t asked_ = 0;
    std::map<std::pair<const Channel*, std::string>, Delivery> deliveries_;  // by the form of a field
};

}  // namespace tradewind::fieldserver
