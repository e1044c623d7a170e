// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Fixes for exceptions that retain the frames of the functions that they left.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "storage/explain/finding.h"
#include "storage/text/referrer_words.h"
#include "storage/text/words.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// What exceptions retain.
struct RetainedByExceptions {
    StackId stack = 0;  ///< that allocated it
    int64_t bytes = 0;
    std::optional<int64_t> per_iteration;
};

/// Returns what to store instead of the exceptions.
std::vector<Fix> fixes_of_stored_exceptions(const Trace& trace, const StoredException& stored,
                                            const RetainedByExceptions& retained, const Words& words);

/// Returns the fix that removes the traceback where the program handles the exception; nothing if that is unknown.
std::optional<Fix> fix_of_handler(const Trace& trace, const RetainedByExceptions& retained, const Words& words);

}  // namespace tidemark
