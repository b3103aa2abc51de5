// The side of the model: fields dealt among shares, their channels to servers, servers that are lost and taken over.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fieldserver/channel.hpp"
#include "fieldserver/defined_field.hpp"
#include "fieldserver/status.hpp"

namespace tradewind::fieldserver {

// Each server has a share of the output, and those of others that it has taken over. All functions are collective over
// the ranks of the model. Those that need servers throw PlanError where all are lost.
class ModelSide {
  public:
    // A block that goes from the model's own array.
    struct Sent {
        Channel* channel;
        Channel::Sent block;
    };
    // A field to write: `places` are those of its levels that `values` has.
    struct Given {
        const std::string& name;
        const DefinedField& field;
        Index step;
        const std::vector<Index>& places;
        const ModelPart& values;
    };

    // A channel for each share.
    ModelSide(std::vector<std::unique_ptr<Channel>> channels, const OutputPlan& plan, const DefinedFields& fields,
              Agreement& agreement);

    // Puts a field into blocks of all shares that write it.
    void write(const Given& given);
    // Lets it go to them from the model's own array.
    std::vector<Sent> start(const Given& given);
    // Waits until the arrays of fields that were started are the model's own again.
    void wait(const std::vector<Sent>& sent);
    void end_step(Index step);
    // Waits until all steps that have ended are in the manifest, or cannot be.
    void finish();
    // Lets the servers end. Throws PlanError where one does not, WriteError for what could not be written.
    void close();
    // Throws WriteError, on all ranks, for what servers could not write.
    void raise_errors();

    // Servers that are not lost, each once.
    std::vector<Channel*> in_use() const;
    std::size_t shares() const { return channels_.size(); }
    Channel& channel_of(std::size_t share) const { return *channels_[share]; }
    bool has_shares(const Channel& channel) const;
    double patience_s() const { return plan_.patience; }
    std::string first_error(const std::string& local) const { return agreement_.first_error(local); }
    // Lets another server have the shares of one that is lost.
    void take_over(Channel& old);
    // The reply of a server to an order, an error or "". If it is lost without a reply, the one that `which` names then
    // gets the order.
    std::string reply(const std::function<Channel&()>& which, const Json::Object& order, ServerTag tag);
    // Called with the shares of a server that is lost, and the channel that has them now.
    std::function<void(const std::vector<int>&, Channel&)> on_take_over = [](const std::vector<int>&, Channel&) {};

  private:
    using Put = std::function<bool(Channel&, bool grows)>;
    struct Piece {
        const FieldForm& form;
        Entry entry;
        ModelPart values;
    };

    std::vector<Piece> pieces(const Given& given);
    void add_pieces(std::vector<Piece>& found, const Given& given, const FieldForm& form,
                    const std::vector<Index>& places, const std::vector<OutputFile>& files, const ModelPart& values);
    void give(const Piece& piece);
    void put(const Entry& entry, const Put& put);
    bool have_gone(const std::vector<Sent>& sent) const;
    Index bytes_of(const std::string& path, Index step) const;
    void exchange_status(bool wait);
    Channel* least_loaded(const Channel& old) const;
    void write_again(Channel& old);
    std::string await_ends();

    const OutputPlan& plan_;
    const DefinedFields& fields_;
    Agreement& agreement_;
    const std::vector<std::unique_ptr<Channel>> all_;
    std::vector<Channel*> channels_;  // by share
    std::vector<Channel*> lost_;
    Dealing dealing_;
    Status status_;
};

}  // namespace tradewind::fieldserver
