// The side of the model: fields dealt among shares, their channels to writers, servers that are lost and taken over.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fieldserver/channel.hpp"
#include "fieldserver/defined_field.hpp"
#include "fieldserver/status.hpp"

namespace tradewind::fieldserver {

// Each writer has a share of the output, and those of others that it has taken over: one on a rank of the model where
// no server is left. All functions are collective over the ranks of the model, unless noted. Those that need writers
// throw PlanError where all are lost.
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

    // A server that is lost, why, and the number of the one that has its shares since then, or its rank of the model.
    struct Lost {
        Channel* channel;
        std::string reason;
        bool by_server;
        int by;
    };
    // Makes the channel of a number to a writer on a rank of the model; none where that does not write.
    using MakeLocal = std::function<std::unique_ptr<Channel>(int number)>;

    // A channel for each share.
    ModelSide(std::vector<std::unique_ptr<Channel>> channels, MakeLocal make_local, const OutputPlan& plan,
              const DefinedFields& fields, Agreement& agreement);

    // Puts a field into blocks of all shares that write it.
    void write(const Given& given);
    // Lets it go to them from the model's own array.
    std::vector<Sent> start(const Given& given);
    // Waits until the arrays of fields that were started are the model's own again.
    void wait(const std::vector<Sent>& sent);
    void end_step(Index step);
    // Waits until all steps that have ended are in the manifest, or cannot be.
    void finish();
    // Ends, with the other ranks: steps that have ended are in the manifest, or `raise_errors` throws why not. Where
    // ranks have met an error alone, what has not been sent is forgotten. Returns whether all ranks have taken part:
    // one that has left does not.
    bool end();
    // Figures of the servers that have ended, in JSON, on their roots.
    const std::vector<std::string>& server_figures() const { return server_figures_; }
    // Throws what the end has found: PlanError where a server does not end, so that the job has to, else WriteError.
    void raise_end();
    // Ends without the other ranks, to which the error is sent. Not collective.
    void leave(const std::string& text);
    // Errors of writers that this rank has received and no rank has thrown. Not collective.
    std::vector<std::string> own_errors() { return status_.take_own_errors(in_use()); }
    // Waits until what was sent has arrived: MPI_Finalize does not drive pending reductions. Not collective.
    void part();
    // Throws WriteError, on all ranks, for what could not be written.
    void raise_errors();
    // Number of fields that were given up.
    Index dropped() const { return dropped_; }
    const std::vector<Lost>& lost() const { return lost_; }

    // Writers that are not lost, each once.
    std::vector<Channel*> in_use() const;
    std::size_t shares() const { return channels_.size(); }
    Channel& channel_of(std::size_t share) const { return *channels_[share]; }
    bool has_shares(const Channel& channel) const;
    double patience_s() const { return plan_.patience; }
    std::string first_error(const std::string& local) const { return agreement_.first_error(local); }
    // Lets another server have the shares of one that is lost.
    void take_over(Channel& old);
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
    Channel* local_instead_of(const Channel& old);
    void write_again(Channel& old);
    void end_together();
    void close_writers();
    std::vector<int> missing_ends();

    const OutputPlan& plan_;
    const DefinedFields& fields_;
    Agreement& agreement_;
    const MakeLocal make_local_;
    std::vector<std::unique_ptr<Channel>> all_;
    std::vector<Channel*> channels_;  // by share
    std::vector<Lost> lost_;
    Index dropped_ = 0;
    std::vector<int> unresponsive_;  // servers that have not confirmed their end, on their roots
    std::string ended_early_;        // why a server could not do so
    std::vector<std::string> server_figures_;
    Dealing dealing_;
    Status status_;
};

}  // namespace tradewind::fieldserver
