// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The lines of the program's own files around the lines that its stacks and retention paths name.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "recorder/daemon/run_log.h"
#include "storage/write/streaming_writer.h"

namespace tidemark::recorder {

class SourceLog {
public:
    /// Names that are not absolute are relative to the working folder that `program` has now.
    SourceLog(StreamingWriter& writer, pid_t program);

    /// Requests the lines around a line of a file that no stack names.
    void need(StringId file, int32_t line);
    /// Stores the lines around those that were named since the last call. Files are read soon after they are first
    /// named, because people edit programs that run.
    void report();
    /// Records what was left out. `time`: ns since trace start.
    void report_gaps(RunLog& run_log, int64_t time) const;

private:
    using Numbers = std::set<int32_t>;

    void need_frames();
    void store(StringId file, const Numbers& numbers);
    void store(StringId file, const SourceLine& line);

    StreamingWriter& writer_;
    const bool is_wanted_;
    const std::string working_folder_;
    const int64_t program_start_;  ///< ns of the wall clock
    FrameId next_frame_ = 1;
    std::map<StringId, Numbers> needed_, stored_;
    std::set<StringId> changed_;
    int64_t needed_lines_ = 0;  ///< in `needed_`
    int64_t bytes_ = 0, left_out_ = 0;
};

}  // namespace tidemark::recorder
