// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Writes single rows of each table. Shared by the writer of whole traces and the writer of growing ones.
//
// A row with an existing id replaces the earlier one; allocations, of which there are many, are added and then ended.
// Not thread-safe. Must not outlive its connection.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "storage/base/result.h"
#include "storage/sqlite/sqlite.h"
#include "storage/trace/graph_tables.h"
#include "storage/trace/recording_cost.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// The origin of an allocation, as in the file: texts by id, 0 for none.
struct OriginRow {
    int64_t thread = 0;
    StringId op = 0, module = 0, phase = 0, compile_context = 0, user_metadata = 0;
};

struct DeviceRow {
    std::string name, uuid;
    int64_t total_bytes = 0;
    FileEvent events = 0;
    bool truncated = false;
};

struct SegmentRow {
    int device = 0;
    FileSegment segment;
    int64_t time = 0, free_time = 0;
};

struct AnnotationRow {
    Annotation annotation;
    int64_t thread = 0;
};

struct DriverRow {
    DriverAllocation allocation;
    StringId source = 0;
    int64_t segment = 0;  ///< row id
};

/// An id that means "no allocation": 0 is the id of the first one.
constexpr int64_t no_allocation_row = -1;

/// An autograd node, as in the file. Allocations by row id; times as in GraphNodes.
struct NodeRow {
    StringId type = 0, variable = 0;
    int64_t sequence = -1;
    uint32_t origin = 0;
    StackId stack = 0;
    int64_t output = no_allocation_row;
    int64_t created = before_recording, executed = never_happened, released = never_happened,
            destroyed = never_happened;
};

struct EdgeRow {
    int64_t to = 0;  ///< id of the node
    uint16_t slot = 0, input = 0;
};

struct SavedTensorRow {
    StringId name = 0;
    int64_t allocation = no_allocation_row;
    uint64_t offset = 0, bytes = 0;
    uint16_t version = 0;
    bool is_view = false, is_packed = false;
};

struct CategoryRow {
    int64_t allocation = no_allocation_row, time = 0;
    Category category = Category::unknown;
    StringId name = 0;
};

struct PathLinkRow {
    Fact<PathLinkKind> kind;
    StringId name = 0, function = 0, file = 0;
    int32_t line = 0;
};

struct SourceLineRow {
    StringId file = 0;
    int32_t line = 0;
    std::string text;
};

class TraceRows {
public:
    static Result<TraceRows> prepare(Connection& connection);

    Status meta(std::string_view key, std::string_view value);
    Status string(StringId id, std::string_view text);
    Status frame(FrameId id, const Frame& frame);
    Status stack(StackId id, const StackEntry& entry);
    Status stream(uint32_t id, const Stream& stream);
    Status pool(uint32_t id, const Pool& pool);
    Status origin(uint32_t id, const OriginRow& origin);
    Status process(int64_t id, const Process& process);
    Status device(int id, const DeviceRow& device);
    Status segment(int64_t id, const SegmentRow& row);
    Status event(int device, const FileOtherEvent& event, int64_t time, uint32_t origin);
    /// Adds an allocation. `first_segment`: id of the first segment row of the device.
    Status allocation(int64_t id, const AllocationRow& row, int64_t first_segment);
    /// Completes an existing allocation: the time and stack of its free. The time of its alloc need not be known.
    Status allocation_end(int64_t id, const AllocationRow& row);
    Status chunk(int device, int64_t first, std::span<const AllocationRow> rows);
    Status annotation(int64_t id, const AnnotationRow& row);
    Status step(int64_t id, const Step& step);
    Status repeated_steps(int64_t id, int device, const FileRepeatedSteps& steps);
    Status complete_step(int64_t id, int device, const FileRepeatedSteps& steps, bool is_kept);
    Status mark(int64_t id, const FileMark& mark);
    Status data_gap(const DataGap& data_gap);
    Status driver_allocation(int64_t id, const DriverRow& row);
    Status sample(const Sample& sample);
    Status node(int64_t id, const NodeRow& row);
    /// Updates an existing node: its name and times, as far as they are known.
    Status node_end(int64_t id, const NodeRow& row);
    /// Adds an edge. If several edges have the same slot, the first is used.
    Status edge(int64_t node, const EdgeRow& row);
    Status saved_tensor(int64_t node, const SavedTensorRow& row);
    Status category(const CategoryRow& row);
    Status heap_scan(int64_t id, const HeapScan& scan);
    Status referrer(int64_t id, int64_t scan, int64_t node, int64_t allocation);
    Status path_link(int64_t referrer, int64_t position, const PathLinkRow& link);
    Status source_line(const SourceLineRow& row);
    Status recording_cost(const RecordingCost& cost);

private:
    enum Table : size_t {
        meta_row,
        string_row,
        frame_row,
        stack_row,
        stream_row,
        pool_row,
        origin_row,
        process_row,
        device_row,
        segment_row,
        event_row,
        allocation_row,
        allocation_end_row,
        chunk_row,
        annotation_row,
        step_row,
        repeated_steps_row,
        complete_step_row,
        mark_row,
        mark_event_row,
        data_gap_row,
        driver_row,
        sample_row,
        node_row,
        node_end_row,
        edge_row,
        saved_tensor_row,
        category_row,
        heap_scan_row,
        referrer_row,
        path_link_row,
        source_line_row,
        recording_cost_row,
        table_count
    };
    static const std::array<const char*, table_count> sql_;
    Statement& operator[](Table table) { return statements_[table]; }

    std::array<Statement, table_count> statements_;
};

}  // namespace tidemark
