// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The file of a growing trace. One batch of rows is one transaction. Used by one thread at a time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/result.h"
#include "storage/sqlite/sqlite.h"
#include "storage/write/file_limit.h"
#include "storage/write/trace_rows.h"
#include "storage/write/trace_writer.h"

namespace tidemark {

/// The rows that were added since the previous batch. A row with an existing id replaces the earlier one.
struct StreamingBatch {
    template <class Id, class Row>
    using Rows = std::vector<std::pair<Id, Row>>;
    struct Event {
        int device;
        FileOtherEvent event;
        int64_t time;
        uint32_t origin;
    };

    Rows<StringId, std::string> strings;
    Rows<FrameId, Frame> frames;
    Rows<StackId, StackEntry> stacks;
    Rows<uint32_t, Stream> streams;
    Rows<uint32_t, Pool> pools;
    Rows<uint32_t, OriginRow> origins;
    Rows<std::string, std::string> meta;
    Rows<int64_t, Process> processes;
    Rows<int64_t, SegmentRow> segments;
    Rows<int64_t, AllocationRow> created, ended;  ///< by row id; rows of `ended` were created in an earlier batch
    std::vector<Event> events;
    Rows<int64_t, DriverRow> driver;
    std::vector<Sample> samples;
    Rows<int64_t, AnnotationRow> annotations;
    bool drop_steps = false;  ///< of all earlier batches
    Rows<int64_t, Step> steps;
    Rows<int64_t, std::pair<int, FileRepeatedSteps>> repeats;  ///< with their device
    struct CompleteStep {
        int device;
        FileRepeatedSteps steps;
        bool is_kept;
    };
    Rows<int64_t, CompleteStep> complete;
    // Complete steps that are kept from now on: ranges of rows [first, end); device and end.
    std::vector<std::pair<int64_t, int64_t>> kept_rows;
    std::vector<std::pair<int, int64_t>> kept_ends;
    Rows<int64_t, FileMark> marks;
    std::vector<DataGap> data_gaps;
    Rows<int, DeviceRow> devices;

    struct Link {
        Fact<PathLinkKind> kind;
        StringId name, function, file;
        int32_t line;
    };
    struct Referrer {
        int64_t id, scan, node, allocation;
        std::vector<Link> links;
    };
    Rows<int64_t, NodeRow> nodes, changed_nodes;  ///< `changed_nodes` were added in this batch or an earlier one
    Rows<int64_t, EdgeRow> edges;                 ///< by node, like the next two
    Rows<int64_t, SavedTensorRow> saved;
    std::vector<CategoryRow> categories;
    Rows<int64_t, HeapScan> scans;
    std::vector<Referrer> referrers;
    std::vector<SourceLineRow> source_lines;
    std::vector<RecordingCost> costs;
};

class StreamingFile {
public:
    /// Creates the file, which only its owner can read. Errors: it exists (IfExists::fail), it exists and is not a
    /// trace, it is being written, the folder cannot be written.
    /// `most_bytes`: the file with its log stays below this size, as far as file_limit.h can; 0: any size.
    static Result<StreamingFile> create(const std::string& path, IfExists if_exists, int64_t most_bytes = 0);
    /// Copies a trace that is being written, as it is now, into the empty file `path`. finish_copy() follows.
    static Result<StreamingFile> copy_of(Connection& source, const std::string& path);
    StreamingFile(StreamingFile&& other) noexcept;
    StreamingFile& operator=(StreamingFile&& other) noexcept;
    ~StreamingFile();

    /// Writes the whole batch or, on error, nothing.
    Status write(StreamingBatch& batch);
    /// Derives the chunks of these devices, sets `clean_end`, converts the trace to one ordinary file and seals it.
    Status finish(const std::vector<int>& devices, bool clean_end);
    /// Finishes a copy like a trace that ends at its last commit, with a data gap that says that it is a snapshot.
    Status finish_copy();

    /// Returns the row id of a device's segment. Ids are consecutive per device, as readers require.
    static int64_t segment_id(int device, uint32_t position) { return (int64_t{device} << 28) + 1 + position; }

private:
    StreamingFile(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
    Status open_database();
    Status prepare_rows();
    Status enter_wal_mode();
    Status insert(StreamingBatch& batch);
    Status insert_steps(const StreamingBatch& batch);
    Status insert_graph(const StreamingBatch& batch);
    Result<bool> has_room_for_chunks(int device) const;
    Status write_chunks(int device);
    Status write_integrity();
    /// Returns whether the trace is one ordinary file now.
    Result<bool> leave_wal_mode();
    Error explain(const Error& error) const;

    std::string path_;
    int lock_ = -1;
    std::unique_ptr<Connection> connection_;
    std::optional<TraceRows> rows_;
    std::unique_ptr<FileLimit> limit_;  ///< nullptr: none
};

}  // namespace tidemark
