// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Exceptions whose tracebacks retain memory at an out-of-memory error: the program handles one while it requests memory
// again, or something has stored it, as a future does, or another thread handles it.
#pragma once

#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// Keeps a reference to the context. Requires a graph. Thread: any.
class StoredExceptions {
public:
    StoredExceptions(const AnalysisContext& context, const OtherEvent& oom);

    /// Returns whether the stacks of the earlier errors prove that no except block which handles the exception made the
    /// request. `referrer`: its path leads through frames of the traceback, which show the errors that it may be.
    bool has(const Referrer& referrer) const;

private:
    /// The stack of an earlier error, outermost first.
    struct Error {
        std::vector<FrameId> frames;
        bool may_be_handled = false;  ///< where the request was made
    };

    bool is_at(const Error& error, const PathLink& variable) const;

    const GraphContext& graph_;
    std::vector<Error> errors_;
};

}  // namespace tidemark
