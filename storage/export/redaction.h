// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Replaces private text of a trace with stand-ins.
#pragma once

#include <string>
#include <string_view>

#include "storage/base/result.h"
#include "storage/trace/graph_tables.h"

namespace tidemark {

struct Redaction {
    bool paths = false;   ///< source files: the user's become "file1.py", libraries' keep the part after site-packages;
                          ///< libraries that allocated driver memory keep well-known names
    bool source = false;  ///< origin of the trace: file name, command line, texts of exceptions, user metadata,
                          ///< settings that PyTorch does not define
    bool names = false;   ///< functions, annotations, marks, modules, custom ops, parameters, variables and autograd
                          ///< functions become "function1", "range1", ...; PyTorch's own nodes keep their names

    bool any() const { return paths || source || names; }
};

/// Parses "paths,source,names", or some of these names.
Result<Redaction> redaction_from_names(std::string_view comma_separated);

/// Replaces texts in the whole trace and in its `graph`, if not nullptr. Equal texts get the same stand-in everywhere.
/// Also removes all unused strings, frames, stacks and origins, so a call is useful even without anything to redact.
void redact(Trace& trace, const Redaction& redaction, GraphTables* graph = nullptr);

}  // namespace tidemark
