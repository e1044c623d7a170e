// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Checksums of changed traces.
#pragma once

#include "tests/hostile/trace_mutator.h"

namespace tidemark::hostile {

/// Returns whether a trace says which bytes it has, so that every change is noticed.
bool is_sealed(const Bytes& trace);

/// Writes the checksums and the seal that fit the content. Leaves a file that has none as it is.
void renew_seal(Bytes& trace);

}  // namespace tidemark::hostile
