// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A trace that grows: read once when a file is opened, repeatedly when it is followed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/read/device_tables.h"
#include "storage/read/dictionaries.h"
#include "storage/read/row_source.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// The one place that turns rows into columns. Rows are append-only but for a few that are completed later; the first
/// read takes all of them, a later one what is new and what was open. Not thread-safe.
class GrowingTrace {
public:
    explicit GrowingTrace(const std::string& path) { raw_.path = path; }

    /// Reads within one transaction, always of the same connection. False: nothing was committed since the last time.
    /// After an error use a new object.
    Result<bool> read(Connection& connection, const TraceFile& file, Progress& progress);

    /// Whether the writer ended the trace.
    bool has_ended() const { return raw_.clean_end; }

    /// Whether no device was seen yet.
    bool is_empty() const { return raw_.devices.empty(); }
    /// Returns what was read so far, settled.
    Result<std::shared_ptr<const Trace>> copy() const;
    /// The same without a copy; nothing can be read afterwards.
    Result<std::shared_ptr<const Trace>> take();

private:
    Result<bool> read_if_new(RowSource& source, const TraceFile& file);
    Status read_all(RowSource& source, const TraceFile& file);
    Status read_meta(RowSource& source);
    Status read_spans(RowSource& source);
    Status read_marks(RowSource& source);
    Status read_data_gaps(RowSource& source);
    Status read_surroundings(RowSource& source);
    Status read_devices(RowSource& source, const TraceFile& file);

    int64_t version_ = -1;  ///< of the database, as this connection counts commits
    TraceFile::State state_ = TraceFile::State::whole;
    Trace raw_;  ///< events that no row describes are still marked
    Dictionaries dictionaries_;
    std::vector<DeviceTables> devices_;  ///< as raw_.devices
    TableTail annotations_, marks_, driver_allocations_, samples_;
    std::vector<int64_t> mark_ids_;
};

}  // namespace tidemark
