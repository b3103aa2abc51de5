// A field of the model, as it was defined.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fieldserver/handover.hpp"

namespace tradewind::fieldserver {

struct DefinedField {
    FieldForm form;
    std::vector<double> levels;  // their numbers
    FieldForm single{};          // one level of it, where levels go by themselves

    // The form of `levels_together` of its levels that go together.
    const FieldForm& form_of(std::size_t levels_together) const {
        return static_cast<Index>(levels_together) < form.levels ? single : form;
    }
};

using DefinedFields = std::map<std::string, DefinedField>;

}  // namespace tradewind::fieldserver
