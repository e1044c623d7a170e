// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Registries of Python's standard library, which keep functions until they are removed: weakref.finalize, atexit.
#pragma once

#include <optional>

#include "storage/explain/finding.h"
#include "storage/graph/referrer_groups.h"
#include "storage/text/words.h"

namespace tidemark {

/// Returns the fix for memory that grows, if such a registry fills: the functions in it retain the memory. Nothing if
/// the paths lead through none, or only to a container behind it that fills. The fix has no bytes.
std::optional<Fix> registry_fix(const GraphTables& tables, const Words& words, const ReferrerGroup& paths);

}  // namespace tidemark
