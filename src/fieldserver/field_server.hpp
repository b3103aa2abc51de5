// Output and input of a model by servers beside it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fieldserver/input_side.hpp"
#include "fieldserver/model_part.hpp"
#include "fieldserver/model_side.hpp"

namespace tradewind::fieldserver {

// All functions are collective over the ranks of the model. Where a rank throws InputError, the others throw PlanError.
// Arguments are returned by a function: an error that it throws on this rank is one on all of them.
class FieldServer {
  public:
    template <typename Value>
    using Arguments = std::function<Value()>;
    // A field as far as this rank knows it alone, and its attributes.
    struct Definition {
        std::string name;
        DefinedField field;
        Json::Object attributes;
    };
    struct Written {
        std::string name;
        ModelArray values;
    };
    struct Read {
        std::string name, path;
        ModelArray values;
    };

    // Collective over `comm`, which has the ranks of the model and the servers. Without servers `plan`, of its rank 0,
    // is the plan file of local ones. Throws InputError on all ranks.
    explicit FieldServer(MPI_Comm comm, const std::string& plan = "");

    MPI_Comm comm() const { return model_; }
    int ranks() const { return agreement_->ranks(); }
    void define(const Arguments<Definition>& arguments);
    bool wants(const std::string& name, Index step) const { return !plan_->files(name, step).empty(); }
    void write(const Arguments<Written>& arguments, Index step, Index level);
    void start(const Arguments<Written>& arguments, Index step, Index level);
    // The arrays of a field are the model's again, or of all fields where there is no name.
    void wait(const std::optional<std::string>& name);
    void end_step(Index step);
    void prefetch(const Arguments<std::vector<std::string>>& arguments);
    void read(const Arguments<Read>& arguments);
    void finish();
    void close();

  private:
    void collective_errors(const std::function<void()>& work);
    void add_field(const std::string& name, DefinedField field, Json::Object attributes);
    std::string geometry_name(Json::Object& attributes) const;
    void check_once();
    const DefinedField& field_at(const std::string& name) const;
    std::vector<Index> checked_places(const std::string& name, const DefinedField& field, Index step, Index level);
    // Does `hand_over` with a field, when `check` and this have found nothing wrong with it.
    void hand(const std::string& call, const Arguments<Written>& arguments, Index step, Index level,
              const std::function<void(const std::string&, const ModelPart&)>& check,
              const std::function<void(const ModelSide::Given&)>& hand_over);
    void check_owners(const std::string& name, const FieldForm& form) const;
    void mark_alike(FieldForm& form) const;

    MPI_Comm model_ = MPI_COMM_NULL;
    std::unique_ptr<OutputPlan> plan_;
    std::unique_ptr<Agreement> agreement_;
    DefinedFields fields_;
    std::unique_ptr<ModelSide> side_;
    std::unique_ptr<InputSide> input_;
    std::map<Index, std::set<std::pair<std::string, Index>>> written_;  // by step
    std::map<std::string, std::vector<ModelSide::Sent>> started_;       // by field
    std::set<std::string> geometries_;                                  // names of those that servers know
    Index last_step_ = -1;                                              // that has ended
    bool checked_ = false, closed_ = false;
};

}  // namespace tradewind::fieldserver
