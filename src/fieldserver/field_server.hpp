// Output and input of a model by servers, or writers on its own ranks, that do not stop it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fieldserver/input_side.hpp"
#include "fieldserver/local_control.hpp"
#include "fieldserver/model_part.hpp"
#include "fieldserver/model_side.hpp"

namespace tradewind::fieldserver {

// A process that serves beside the rank `host` of the model, which has its messages.
struct LocalServer {
    int host;
    std::unique_ptr<LocalControl> control;
};

// The parts of a field server on a rank of the model.
struct Opened {
    MPI_Comm model = MPI_COMM_NULL;
    OutputPlan plan;
    ServerMethod method;
    // Communicators of the ranks of the model, each with a server behind them.
    std::vector<MPI_Comm> servers;
    // Where there are none. Without these, too, each rank of the model writes a share.
    std::vector<LocalServer> local_servers;
    // Makes the writer of this rank, also in place of the last server that is lost; none: no rank of the model writes.
    std::function<std::unique_ptr<LocalWriter>()> make_writer;
    bool waits = false;  // a writer of the model has written a step before the model goes on
    Index steps = -1;    // of the run; -1: not known
};

// The parts of one whose servers were started beside the model. Where none were, `plan` of rank 0 names the plan file
// of local servers, which are started, or else its environment variable TRADEWIND_PLAN does. Collective over `comm`,
// which has the ranks of model and servers. Throws InputError on all of them.
Opened open_servers(MPI_Comm comm, const std::string& plan);

// All functions are collective over the ranks of the model, unless noted. Where a rank throws InputError, the others
// throw PeerInputError. Arguments are returned by a function: an error that it throws on this rank is one on all.
class FieldServer {
  public:
    template <typename Value>
    using Arguments = std::function<Value()>;
    // A field as far as this rank has it alone, and its attributes, of which those of the first rank count.
    // `identity`: a text of what all ranks have to give alike, beside the form. `geometry`: nothing where
    // `knows_geometry`.
    struct Definition {
        std::string name;
        DefinedField field;
        std::string identity;
        Json::Object attributes;
        std::string geometry_name;
        Json geometry;
    };
    struct Written {
        std::string name;
        ModelArray values;
    };
    struct Read {
        std::string name, path;
        ModelArray values;
    };

    explicit FieldServer(Opened opened);

    MPI_Comm comm() const { return opened_.model; }
    int rank() const { return agreement_.rank(); }
    int ranks() const { return agreement_.ranks(); }
    // Whether the writers have a geometry of this name. Not collective.
    bool knows_geometry(const std::string& name) const { return geometries_.count(name) > 0; }
    void define(const Arguments<Definition>& arguments);
    // Not collective.
    bool wants(const std::string& name, Index step) const { return !opened_.plan.files(name, step).empty(); }
    // Points of this rank's array of a field along x, y, z; of listed points and levels. Not collective.
    std::array<Index, 3> shape(const std::string& name) const { return field_at(name).form.shape(rank()); }
    // `level`: the place of one level; -1: all.
    void write(const Arguments<Written>& arguments, Index step, Index level);
    // Returns the number of the call, of which `wait_for` waits.
    Index start(const Arguments<Written>& arguments, Index step, Index level);
    // The arrays of a field are the model's again, or of all fields where there is no name.
    void wait(const std::optional<std::string>& name);
    // That of a call is the model's again.
    void wait_for(Index call);
    void end_step(Index step);
    void prefetch(const Arguments<std::vector<std::string>>& arguments);
    void read(const Arguments<Read>& arguments);
    void finish();
    void close() {
        end();
        side_.raise_end();
    }

    // The parts of `close`: all that was to be written is, then `side` throws what it has found. Returns whether all
    // ranks have taken part.
    bool end();
    ModelSide& side() { return side_; }
    bool is_broken() const { return agreement_.is_broken(); }
    // Sends an error of this rank to the others, which throw it. Not collective.
    void send_error(const std::string& text, ErrorKind kind);
    // Ends without the other ranks, to which the error is sent; returns errors of writers that no rank has thrown. Not
    // collective.
    std::vector<std::string> leave(const std::string& text);

  private:
    std::vector<std::unique_ptr<Channel>> first_channels();
    std::unique_ptr<LocalWriter> made_writer(bool here);
    std::unique_ptr<Channel> local_channel(int number, std::unique_ptr<LocalWriter> writer);
    void require_open() const;
    void collective_errors(const std::function<void()>& work);
    void add_field(Definition definition);
    std::string reply_of_all(const Json::Object& order);
    void wait_until_given_back(const std::string& call, const std::function<bool(Index, const std::string&)>& is_meant);
    void check_once();
    const DefinedField& field_at(const std::string& name) const;
    std::vector<Index> checked_places(const std::string& name, const DefinedField& field, Index step, Index level);
    // Does `hand_over` with a field, when `check` and this have found nothing wrong with it.
    void hand(const std::string& call, const Arguments<Written>& arguments, Index step, Index level,
              const std::function<void(const std::string&, const ModelPart&)>& check,
              const std::function<void(const ModelSide::Given&)>& hand_over);
    void check_owners(const std::string& name, const FieldForm& form) const;
    void mark_alike(FieldForm& form) const;

    struct Started {
        std::string field;
        std::vector<ModelSide::Sent> sent;
    };

    Opened opened_;
    Agreement agreement_;
    DefinedFields fields_;
    ModelSide side_;
    InputSide input_;
    std::map<Index, std::set<std::pair<std::string, Index>>> written_;  // by step
    std::map<Index, Started> started_;                                  // by number of the call
    Index calls_of_start_ = 0;
    std::set<std::string> geometries_;  // names of those that writers have
    Index last_step_ = -1;              // that has ended
    bool checked_ = false, closed_ = false;
};

}  // namespace tradewind::fieldserver
