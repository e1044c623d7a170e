// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Completes and checks columns as they were read, so that everything may rely on them.
#pragma once

#include <memory>

#include "storage/base/result.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Checks what no single row shows, says what is missing, and completes what rows leave open: times of events without
/// one, ends of open spans, the duration. Errors: no device; rows refer to what is not there (input).
Result<std::shared_ptr<const Trace>> settled(Trace trace);

}  // namespace tidemark
