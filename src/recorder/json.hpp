#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace tradewind::recorder {

/// Returns a text as JSON has it, in quotes. Bytes above 127 stay as they are.
inline std::string json(std::string_view text) {
    std::string quoted = "\"";
    for (const char letter : text) {
        if (letter == '"' || letter == '\\') {
            quoted += '\\';
            quoted += letter;
        } else if (static_cast<unsigned char>(letter) < 0x20) {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(letter));
            quoted += code;
        } else {
            quoted += letter;
        }
    }
    return quoted + '"';
}

}  // namespace tradewind::recorder
