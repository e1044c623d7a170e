// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Whether findings explain the memory. Memory that every program has is reported as the answer only if nothing else
// explains it.
#pragma once

#include "storage/explain/diagnoses.h"

namespace tidemark {

/// Returns whether a finding about the program's own work explains its memory.
bool is_memory_explained(const Findings& findings);

}  // namespace tidemark
