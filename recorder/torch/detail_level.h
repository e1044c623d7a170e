// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// How much the plugin records now: all details, or allocator events alone, in steps that repeat known ones and while
// the user has paused the details. Thread-safe. PyTorch calls plain functions without a context, so the level belongs
// to the process.
#pragma once

#include <cstdint>

#include "recorder/core/core.h"
#include "recorder/core/pause.h"

namespace tidemark::plugin {

/// Returns false in light steps and in a pause: ops and the graph are not observed. In a light step, an event gets the
/// origin of the event at the same place of the step that is repeated.
bool records_details();
/// Returns whether the user has paused the details: events have no origin.
bool are_details_paused();
/// Returns whether that was the case at any time of this recording.
bool were_details_paused();
/// Begins or ends such a pause as the user wants. Does nothing without an observer. May be called under an allocator
/// lock.
void set_details_paused(bool pause);
/// Does so when the user has changed it.
inline void follow_pause(const tidemark_ring& ring) {
    if (const bool pause = recorder::is_paused(ring); pause != are_details_paused()) [[unlikely]] {
        set_details_paused(pause);
    }
}

/// Registers what begins (true) and ends (false) to observe details, and records all of them from now on. nullptr: the
/// level does not change any more. `observe` runs while a lock is held. It must not allocate GPU memory.
void begin_with_details(void (*observe)(bool details));

/// Reports that the current step does something of which nothing would be known later. It needs all details whenever it
/// is repeated.
void need_details();
/// Returns how often that was reported.
uint64_t times_details_were_needed();

/// Begins light steps. Does nothing without an observer, or in a pause.
void omit_details();
/// Ends light steps. May be called under an allocator lock.
void resume_details();

}  // namespace tidemark::plugin
