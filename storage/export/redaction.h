// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What must not leave the house is replaced by stand-ins.
#pragma once

#include <string>
#include <string_view>

#include "storage/base/result.h"
#include "storage/trace/graph_tables.h"

namespace tidemark {

struct Redaction {
    bool paths = false;   ///< source files: the user's become "file1.py", libraries' keep what follows site-packages;
                          ///< libraries that took driver memory keep their name where it is a known one
    bool source = false;  ///< where the trace came from: file name, command line, texts of exceptions, user metadata,
                          ///< settings PyTorch does not define
    bool names = false;   ///< functions, annotations, marks, modules, custom ops, parameters, variables and autograd
                          ///< functions become "function1", "range1", ...; PyTorch's own nodes keep their names

    bool any() const { return paths || source || names; }
};

/// From "paths,source,names" or a part of it.
Result<Redaction> redaction_from_names(std::string_view comma_separated);

/// Replaces texts throughout, also in the trace's `graph` if it has one; the same text gets the same stand-in
/// everywhere. Also drops every string, frame, stack and origin that nothing uses, so it is worth calling with nothing
/// to redact.
void redact(Trace& trace, const Redaction& redaction, GraphTables* graph = nullptr);

}  // namespace tidemark
