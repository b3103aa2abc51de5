// One useful line about an object, which Python shows as its repr.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

namespace tradewind::python {

// "<Halo: halo of width 2, 8 ranks>", with the name of the object's own class.
inline std::string shown(nanobind::handle self, const std::string& text) {
    return "<" + nanobind::cast<std::string>(self.type().attr("__name__")) + ": " + text + ">";
}

}  // namespace tradewind::python
