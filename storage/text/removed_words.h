// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The words for what redaction removes.
#pragma once

#include <string>

#include "storage/text/words.h"
#include "storage/trace/removed_kind.h"

namespace tidemark {

/// Returns "functions", "paths", ...
std::string removed_title(const Words& words, RemovedKind kind);

}  // namespace tidemark
