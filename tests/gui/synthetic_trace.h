// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A small trace made in memory, for tests that check every byte.
#pragma once

#include <memory>

#include "gui/model/session.h"

namespace tidemark::gui::test {

struct SyntheticShape {
    int steps = 20;           ///< each: eight allocations made, then freed
    int leaked_per_step = 1;  ///< allocations of a step that are never freed
    int64_t step_bytes = 8 << 20;
    int spike_step = 7;  ///< one short allocation of spike_bytes; -1: none
    int64_t spike_bytes = 512 << 20;
    bool oom = true;  ///< an out-of-memory event at the end
    int devices = 1;
};

/// Events one microsecond apart, one segment with all blocks, an annotation and a mark per step.
std::shared_ptr<const Trace> synthetic_trace(const SyntheticShape& shape = {});
std::shared_ptr<Session> synthetic_session(const SyntheticShape& shape = {});

/// Returns a run of 1 MiB that stays. Its step 1 allocates 2 and 4 MiB and frees them; steps 2 and 3, of 20 ms each,
/// repeat that, after an allocation of `added` bytes that stays.
std::shared_ptr<const Trace> run_with_repeated_steps(uint64_t added = 0);

}  // namespace tidemark::gui::test
