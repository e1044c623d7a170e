// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Replaces private text of a trace with stand-ins.
//
// A text stays only if a rule allows it: it is on a list of public names (public_names.h), a word of the vocabulary, or
// a number. Every other text is replaced or removed, whatever it looks like.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "storage/base/result.h"
#include "storage/trace/graph_tables.h"
#include "storage/trace/removed_kind.h"

namespace tidemark {

struct Redaction {
    bool paths = false;   ///< source files and libraries that are not public become "file1.py", "library1.so"; so do
                          ///< names that may contain a path
    bool source = false;  ///< only the texts that each of paths, source and names removes: the lines of source files,
                          ///< the origin of the trace, the command line, texts of exceptions and data gaps, user
                          ///< metadata, unknown settings
    bool names = false;   ///< functions, annotations, marks, modules, ops, nodes, parameters, variables that are not
                          ///< public become "function1", "range_a", "module1", ...
    bool times = false;   ///< the date and time of the recording; times in the trace count from its start

    bool any() const { return replaces_texts() || times; }
    bool replaces_texts() const { return paths || source || names; }
};

/// Parses "paths,source,names,times", or some of these names.
Result<Redaction> redaction_from_names(std::string_view comma_separated);

/// Texts that a rule allowed in the redacted trace, including the stand-ins.
using AllowedTexts = std::unordered_set<std::string>;

/// The removed texts of one kind.
struct RemovedTexts {
    struct Text {
        std::string before, after;  ///< `after` is empty if the text was removed and not replaced
    };
    RemovedKind kind = RemovedKind::path;
    int64_t count = 0;        ///< of different texts
    std::vector<Text> texts;  ///< the most telling first; of source lines only one
};

/// Collects what redact() removes.
class RedactionLog {
public:
    void add(RemovedKind kind, const std::string& before, const std::string& after);
    /// Counts `count` texts that are not listed one by one.
    void add_all(RemovedKind kind, int64_t count, const std::string& example);
    /// Returns what was removed, by kind, without texts that are still allowed elsewhere.
    std::vector<RemovedTexts> removed(const AllowedTexts& allowed) const;

private:
    struct Removed {
        std::vector<RemovedTexts::Text> texts;  ///< in the order of their first use
        std::unordered_set<std::string> known;
        int64_t further = 0;
    };
    std::map<RemovedKind, Removed> removed_;
};

/// Replaces texts in the whole trace and in its `graph`, if not nullptr. Equal texts get the same stand-in everywhere.
/// Also removes all unused strings, frames, stacks and origins, so a call is useful even without anything to redact.
/// `log`, if not nullptr, gets what was replaced or removed.
AllowedTexts redact(Trace& trace, const Redaction& redaction, GraphTables* graph = nullptr,
                    RedactionLog* log = nullptr);

}  // namespace tidemark
