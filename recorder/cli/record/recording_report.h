// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What `tidemark record` prints when the program has ended.
#pragma once

#include <string>
#include <vector>

#include "recorder/cli/record/recording_session.h"
#include "storage/base/progress.h"
#include "storage/text/words.h"

namespace tidemark::cli {

struct EndedRecording {
    const std::vector<RecordedTrace>& traces;  ///< at least one
    std::string job;                           ///< the folder of a job; empty: the traces are no job
    bool has_ended = true;                     ///< no recorder runs
};

/// Returns whether the trace is not where the user wants it.
bool is_unfinished(const RecordedTrace& trace);

/// Returns the traces with their data gaps, the answer of the largest trace or of the job, and the command that shows
/// more. Explains the traces, which takes about a second for 10 million events; leaves out what cannot be explained or
/// was canceled, because the command that follows reports why.
std::string recording_report(const EndedRecording& recording, const Words& words, Progress& progress);

/// Returns the traces that lack something, with what they lack; empty if none does.
std::string incomplete_traces(const EndedRecording& recording, const Words& words);

}  // namespace tidemark::cli
