// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/read/trace_connection.h"

#include "storage/read/database.h"

namespace tidemark {

Result<Connection> connect_to(const Trace& trace, Progress& progress) {
    // Opening a file releases the locks of other code in this process that follows it.
    const auto file = trace.being_written
                          ? Result<TraceFile>(TraceFile{TraceFile::State::being_written, trace.file_bytes})
                          : look_at(trace.path);
    return file ? open_checked(trace.path, *file, progress) : Result<Connection>(file.error());
}

}  // namespace tidemark
