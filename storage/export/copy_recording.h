// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A complete copy of a trace that is being written.
#pragma once

#include <cstdint>
#include <string>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/write/trace_writer.h"

namespace tidemark {

/// Copies what is on the disk of the trace `input` into a new trace at `output`, which is one finished file. The copy
/// is one state of the trace, however long it takes, and the recording goes on meanwhile. Returns its bytes. Errors: as
/// open_trace; `output` exists, cannot be written, a full disk (environment). On error no file is left at `output`.
Result<int64_t> copy_recording(const std::string& input, const std::string& output, IfExists if_exists,
                               Progress& progress);

}  // namespace tidemark
