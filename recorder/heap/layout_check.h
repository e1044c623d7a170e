// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Checks the layouts of objects and frames against what Python reports. A wrong layout does not crash the program.
#pragma once

#include "recorder/heap/frame_locals.h"
#include "recorder/heap/heap.h"

namespace tidemark::heap {

/// Return whether the known objects, or the known frame, have the expected layout.
bool objects_are_as_known(const tidemark_heap_known& known);
bool frames_are_as_known(const FrameLayout& layout, const tidemark_heap_known& known);

}  // namespace tidemark::heap
