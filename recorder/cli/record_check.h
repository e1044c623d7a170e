// tidemark record --check: what can be recorded here, and what would help where something cannot.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "recorder/cli/program.h"
#include "recorder/cli/recorder_home.h"

namespace tidemark::cli {

struct CheckedPart {
    const char* name;   ///< for JSON
    const char* title;  ///< for people
    bool fine = false;
    std::string text;    ///< what is there, or what is not
    std::string remedy;  ///< empty when fine
};

struct RecordCheck {
    RecorderHome home;
    std::vector<CheckedPart> parts;

    const CheckedPart& part(std::string_view name) const;
    /// "yes", "partly" or "no".
    const char* works() const;
};

/// For a command that is to be recorded (its Python is looked at); without one, for the first Python of PATH.
RecordCheck check_recording(const Arguments& command);

std::string check_text(const RecordCheck& check);
nlohmann::ordered_json check_json(const RecordCheck& check);

}  // namespace tidemark::cli
