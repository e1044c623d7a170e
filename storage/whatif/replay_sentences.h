// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What a replay with other settings says, in sentences. The command and the window show the same ones.
#pragma once

#include <optional>
#include <vector>

#include "storage/base/sentence.h"
#include "storage/whatif/settings_replay.h"

namespace tidemark {

/// Returns "Peak reserved 41.2 GiB instead of 46.0 GiB (10.4 % less)." The comparison is between two replays.
Sentence peak_sentence(const RecordedRun& recorded, const ModelRun& asked);

/// Returns whether and where the run would be out of memory; nothing if it completes, as recorded.
std::optional<Sentence> failure_sentence(const RecordedRun& recorded, const ModelRun& asked);

/// Returns how well the model reproduces the recorded run.
Sentence trust_sentence(const RecordedRun& recorded);

/// Returns what the replays lack, and what to do about it.
std::vector<Sentence> replay_limits(const RecordedRun& recorded);

}  // namespace tidemark
