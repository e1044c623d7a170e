// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The rules of redaction: one function for each kind of text, which returns the text that the redacted trace gets.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "storage/export/redaction.h"
#include "storage/export/stand_ins.h"
#include "storage/trace/graph_tables.h"

namespace tidemark {

class TextRules {
public:
    /// Reads the texts of the trace and its graph, if not nullptr, so that no stand-in equals one of them.
    TextRules(const Redaction& redaction, const Trace& trace, const GraphTables* graph);

    // Paths.
    std::string file(const std::string& path);
    std::string library(const std::string& path);
    /// The file of a variable of the program, or its module: "__main__", "torch.nn.functional".
    std::string file_or_module(const std::string& text);

    // Names. `file`: of the function, as recorded.
    std::string function(const std::string& name, const std::string& file);
    std::string op(const std::string& text);
    std::string module(const std::string& path);
    std::string parameter(const std::string& text);
    std::string variable(const std::string& name, const Fact<PathLinkKind>& kind);
    std::string node(const std::string& type);
    std::string saved(const std::string& name);
    std::string range(const Annotation& annotation);
    std::string mark(const std::string& name);
    std::string stream(const std::string& name);
    std::string phase(const std::string& name);
    std::string compile_context(const std::string& context);
    std::string action(const OtherEvent& event);

    // Texts of any content, which each of paths, source and names removes.
    std::string source(const std::string& text);
    std::string free_text(const std::string& text);
    std::string device(const std::string& name);
    std::string end_details(const Fact<ProcessEnd>& end);
    /// Returns whether the setting and its value may stay.
    bool allows_setting(const std::string& name, const std::string& value);
    bool allows_argument(const std::string& name, const std::string& value);

    /// Removes the word of a newer version from a fact, because it can be any text.
    template <class Kind>
    void remove_unknown_word(Fact<Kind>& fact) {
        if (fact == Kind::unknown && !fact.text.empty()) {
            fact.text = free_text(fact.text);
        }
    }

    const AllowedTexts& allowed() const { return allowed_; }

private:
    std::string allow(std::string text);
    bool stays(const std::string& text) const;
    std::string name(const std::string& text, StandIns& stand_ins);
    std::string dotted(const std::string& path);
    std::string one_op(const std::string& text);
    std::string attribute(const std::string& text);

    Redaction redaction_;
    AllowedTexts allowed_;
    std::unordered_set<std::string> taken_;
    RangeStandIns ranges_{taken_};
    StandIns files_{"file", taken_}, packages_{"package", taken_}, libraries_{"library", taken_},
        functions_{"function", taken_}, ops_{"op", taken_}, optimizers_{"optimizer", taken_},
        modules_{"module", taken_}, parameters_{"parameter", taken_}, states_{"state", taken_},
        variables_{"variable", taken_}, nodes_{"node", taken_}, saved_{"saved", taken_}, marks_{"mark", taken_},
        streams_{"stream", taken_}, phases_{"phase", taken_}, contexts_{"context", taken_}, actions_{"action", taken_};
};

}  // namespace tidemark
