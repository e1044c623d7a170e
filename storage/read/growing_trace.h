// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A trace that grows. It is read once if a file is opened, and repeatedly if it is followed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/read/device_tables.h"
#include "storage/read/dictionaries.h"
#include "storage/read/integrity.h"
#include "storage/read/row_source.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Converts rows to columns; no other code does. Rows are only appended, except for a few that are completed later. The
/// first read reads all rows; a later read reads new rows and those that were incomplete, or all rows again if the
/// writer deleted some. Not thread-safe.
class GrowingTrace {
public:
    /// Whether the rows of table allocation, which are not needed if there are chunks, are compared with them.
    enum class Rows { trust_chunks, compare };
    /// Whether each step is read, or only their number and what repeated steps have in common. A summary is read once.
    enum class Steps { each, summary };

    explicit GrowingTrace(const std::string& path, Rows rows = Rows::trust_chunks, Steps steps = Steps::each)
        : rows_(rows), steps_(steps) {
        raw_.path = path;
    }

    /// Reads within one transaction. Requires the same connection for all calls. Returns false if nothing was committed
    /// since the last call. After an error, use a new object.
    Result<bool> read(Connection& connection, const TraceFile& file, Progress& progress);

    /// Sets the integrity of the file, and reports what was changed.
    void set_integrity(const IntegrityReport& report);

    /// Returns whether the writer has ended the trace.
    bool has_ended() const { return raw_.clean_end; }

    /// Returns the number of steps, also if only a summary was read.
    int64_t steps() const { return step_count_; }
    /// Returns what was read instead of repeated steps, in the order of the trace's devices.
    std::vector<RepeatsSummary> repeats() const;

    /// Returns whether no device was read yet.
    bool is_empty() const { return raw_.devices.empty(); }
    /// Returns a settled copy of everything read so far.
    Result<std::shared_ptr<const Trace>> copy() const;
    /// Like copy(), but moves the data. Nothing can be read afterwards.
    Result<std::shared_ptr<const Trace>> take();

private:
    Result<bool> read_if_new(RowSource& source, const TraceFile& file);
    Status start_over_if_rows_are_gone(RowSource& source);
    Status read_all(RowSource& source, const TraceFile& file);
    Status read_meta(RowSource& source);
    Status read_spans(RowSource& source);
    Status read_steps(RowSource& source);
    Status read_marks(RowSource& source);
    Status read_data_gaps(RowSource& source);
    Status read_source_text(RowSource& source);
    Status read_surroundings(RowSource& source);
    Status read_devices(RowSource& source, const TraceFile& file);

    Damage damage() const;

    Rows rows_;
    Steps steps_;
    int64_t step_count_ = 0;
    int64_t deletions_ = 0;  ///< how often the writer deleted details
    int64_t version_ = -1;   ///< the database's commit counter as this connection reads it
    TraceFile::State state_ = TraceFile::State::whole;
    Trace raw_;      ///< not settled: events without a row are still marked
    Damage damage_;  ///< outside the tables of devices
    Dictionaries dictionaries_;
    std::vector<DeviceTables> devices_;  ///< in the order of raw_.devices
    TableTail annotations_, marks_, driver_allocations_, samples_;
    std::vector<int64_t> mark_ids_;
    int64_t last_source_line_ = 0, source_bytes_ = 0;
};

}  // namespace tidemark
