// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Decides when steps are light: after the first steps, while steps repeat known ones on all devices and retain no
// graph. Every so often a step is recorded with all details, and compared.
#pragma once

namespace tidemark::plugin {

/// Starts again with all details, and with light steps later if `allowed`. One thread at a time may call.
void begin_steps(bool allowed);
/// Returns whether steps of this recording may be light.
bool steps_may_be_light();
/// Handles the end of a training step, on the thread that reports them.
void step_ends();

}  // namespace tidemark::plugin
