// The way to a local server, a process beside a rank of the model.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "fieldserver/channel.hpp"
#include "fieldserver/local_control.hpp"

namespace tradewind::fieldserver {

// Fields are gathered on the rank `host` of the model, in memory that the server sees, too: so a block has arrived when
// it has been sent.
class LocalChannel : public Channel {
  public:
    // `control`: on the host.
    LocalChannel(int number, int host, std::unique_ptr<LocalControl> control, const OutputPlan& plan,
                 ServerMethod method, Agreement& agreement);

    bool is_rank() const override { return false; }
    // The server is ended: another one writes its files.
    void leave() override;
    std::optional<PartMemory> input_memory(const FieldForm& form) override;

  protected:
    PartMemory new_whole(std::size_t place, const FieldForm& form) override;

  private:
    PartMemory shared_with_server(const FieldForm& form, Json::Object order);

    Agreement& agreement_;
    LocalControl* local_;                      // on the host
    std::map<std::string, PartMemory> input_;  // by the form of a field
};

}  // namespace tradewind::fieldserver
