// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "recorder/core/core.h"

namespace tidemark::recorder {

/// Returns whether the user has paused the details of the recording that the ring belongs to: then events have no
/// origin.
inline bool is_paused(const tidemark_ring& ring) { return __atomic_load_n(ring.details_paused, __ATOMIC_RELAXED) != 0; }

}  // namespace tidemark::recorder
