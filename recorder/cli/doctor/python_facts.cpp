// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/doctor/python_facts.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "recorder/core/python_options.h"

namespace tidemark::cli {
namespace {

constexpr int seconds_to_answer = 20, seconds_to_try = 300;

/// Works with any Python 3. Arguments: the folder of the recorder's package, or ""; whether to try the plugin.
constexpr const char* script = R"(
import json, platform, sys
facts = {"python": platform.python_version(), "executable": sys.executable}
try:
    if sys.argv[1]:
        sys.path.insert(0, sys.argv[1])
        from tidemark import _facts
        facts.update(_facts.of_this_python(sys.argv[2] == "try"))
except Exception as failure:
    facts["failure"] = "{}: {}".format(type(failure).__name__, failure)
print(json.dumps(facts))
)";

/// Returns the Python that a command itself names, as a command; empty if it names none.
Arguments python_of(const std::string& program) {
    return recorder::is_python(program) ? Arguments{find_program(program)} : interpreter_of(find_program(program));
}

}  // namespace

Arguments interpreter_of(const std::string& script_path) {
    std::string line;
    std::ifstream file(script_path);
    if (!std::getline(file, line) || !line.starts_with("#!") || line.find("python") == line.npos) {
        return {};
    }
    Arguments words;
    std::istringstream rest(line.substr(2));
    for (std::string word; rest >> word;) {
        words.push_back(word);
    }
    return words;
}

PythonFacts ask_python(const Arguments& command, const RecorderHome& home, bool with_trial) {
    Arguments python = command.empty() ? Arguments{} : python_of(command.front());
    const bool is_guessed = python.empty();
    if (is_guessed) {
        python = {find_python()};
    }
    if (python.front().empty()) {
        return PythonFacts({});
    }
    // Code of a folder that others may change is not run.
    python.insert(python.end(),
                  {"-c", script, check_can_record(home) ? home.part("python") : "", with_trial ? "try" : ""});
    const auto answer =
        nlohmann::json::parse(output_of(python, with_trial ? seconds_to_try : seconds_to_answer), nullptr, false);
    std::map<std::string, std::string> facts;
    if (answer.is_object()) {
        for (const auto& [name, value] : answer.items()) {
            if (value.is_string()) {
                facts[name] = value.get<std::string>();
            }
        }
    }
    if (is_guessed && !command.empty()) {
        facts["instead_of"] = command.front();
    }
    return PythonFacts(std::move(facts));
}

}  // namespace tidemark::cli
