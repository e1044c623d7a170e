// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/write/trace_rows.h"

#include <nlohmann/json.hpp>

#include "storage/format/chunk_codec.h"

namespace tidemark {

namespace {

std::optional<int64_t> allocation_id(int64_t id) { return id == no_allocation_row ? std::nullopt : std::optional(id); }
std::optional<int64_t> nonzero(int64_t value) { return value == 0 ? std::nullopt : std::optional(value); }
std::optional<int64_t> event_or_null(FileEvent event) {
    return event == before_history || event == never_in_file ? std::nullopt : std::optional(event);
}

/// Returns NULL for times that mean "never" or "before the recording".
std::optional<int64_t> time_or_null(int64_t time) {
    return time == never_happened || time == before_recording ? std::nullopt : std::optional(time);
}

std::string json_text(const DataGapArguments& arguments) {
    return nlohmann::json(arguments).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Binds free_after, free_delay, free_completed_after and free_completed_delay, from parameter `first` on. The delay
/// counts from `start`.
void bind_end(Statement& statement, int first, const AllocationRow& row, int64_t start) {
    const FileAllocation& lifetime = row.lifetime;
    if (lifetime.free_event == never_in_file) {
        statement.bind_null(first).bind_null(first + 1);
    } else {
        statement.bind(first, lifetime.free_event - lifetime.alloc_event).bind(first + 1, row.free_time - start);
    }
    if (lifetime.free_event == never_in_file || lifetime.free_completed == never_in_file) {
        statement.bind_null(first + 2).bind_null(first + 3);
    } else {
        statement.bind(first + 2, lifetime.free_completed - lifetime.free_event)
            .bind(first + 3, row.free_completed_time - row.free_time);
    }
}

}  // namespace

// In the order of `Table`.
const std::array<const char*, TraceRows::table_count> TraceRows::sql_{
    "INSERT OR REPLACE INTO meta VALUES(?,?)",
    "INSERT INTO string VALUES(?,?)",
    "INSERT INTO frame VALUES(?,?,?,?)",
    "INSERT INTO stack VALUES(?,?,?)",
    "INSERT INTO stream VALUES(?,?,?)",
    "INSERT INTO pool VALUES(?,?,?,?)",
    "INSERT OR REPLACE INTO origin VALUES(?,?,?,?,?,?,?)",
    "INSERT OR REPLACE INTO process VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT OR REPLACE INTO device VALUES(?,?,?,?,?,?)",
    "INSERT OR REPLACE INTO segment VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT INTO event VALUES(?,?,?,?,?,NULL,?,?)",
    "INSERT INTO allocation VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
    "UPDATE allocation SET free_after=?, free_delay=?-ifnull(time, 0), free_completed_after=?, "
    "free_completed_delay=?, free_stack=? WHERE id=?",
    "INSERT INTO allocation_chunk VALUES(NULL,?,?,?,?)",
    "INSERT OR REPLACE INTO annotation VALUES(?,?,?,?,?,?,?)",
    "INSERT OR REPLACE INTO step VALUES(?,?,?,?,?)",
    "INSERT OR REPLACE INTO repeated_steps VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT INTO complete_step VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT INTO mark VALUES(?,?,?,?)",
    "INSERT INTO mark_event VALUES(?,?,?)",
    "INSERT INTO data_gap VALUES(NULL,?,?,?,?,?,?,?,?)",
    "INSERT OR REPLACE INTO driver_allocation VALUES(?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT INTO sample VALUES(NULL,?,?,?,?,?,?)",
    "INSERT INTO autograd_node VALUES(?,?,?,?,?,?,?,?,?,?,?)",
    "UPDATE autograd_node SET variable=?, executed_time=?, released_time=?, destroyed_time=? WHERE id=?",
    "INSERT OR IGNORE INTO autograd_edge VALUES(?,?,?,?)",
    "INSERT INTO saved_tensor VALUES(NULL,?,?,?,?,?,?,?,?)",
    "INSERT INTO allocation_category VALUES(NULL,?,?,?,?)",
    "INSERT INTO heap_scan VALUES(?,?,?,?,?,?)",
    "INSERT INTO referrer VALUES(?,?,?,?)",
    "INSERT INTO path_link VALUES(?,?,?,?,?,?,?)",
    "INSERT INTO source_line VALUES(NULL,?,?,?)",
    "INSERT INTO recording_cost VALUES(NULL,?,?,?,?,?,?,?)",
};

Result<TraceRows> TraceRows::prepare(Connection& connection) {
    TraceRows rows;
    for (size_t i = 0; i < table_count; ++i) {
        auto statement = connection.prepare(sql_[i]);
        if (!statement) {
            return statement.error();
        }
        rows.statements_[i] = *std::move(statement);
    }
    return rows;
}

Status TraceRows::meta(std::string_view key, std::string_view value) {
    return (*this)[meta_row].bind(0, key).bind(1, value).run();
}

Status TraceRows::string(StringId id, std::string_view text) {
    return (*this)[string_row].bind(0, int64_t{id}).bind(1, text).run();
}

Status TraceRows::frame(FrameId id, const Frame& frame) {
    return (*this)[frame_row]
        .bind(0, int64_t{id})
        .bind(1, int64_t{frame.function})
        .bind(2, int64_t{frame.file})
        .bind(3, int64_t{frame.line})
        .run();
}

Status TraceRows::stack(StackId id, const StackEntry& entry) {
    return (*this)[stack_row].bind(0, int64_t{id}).bind(1, int64_t{entry.caller}).bind(2, int64_t{entry.frame}).run();
}

Status TraceRows::stream(uint32_t id, const Stream& stream) {
    return (*this)[stream_row]
        .bind(0, int64_t{id})
        .bind(1, static_cast<int64_t>(stream.handle))
        .bind(2, std::string_view(stream.name))
        .run();
}

Status TraceRows::pool(uint32_t id, const Pool& pool) {
    const std::string name = pool.describe();
    return (*this)[pool_row]
        .bind(0, int64_t{id})
        .bind(1, pool.owner[0])
        .bind(2, pool.owner[1])
        .bind(3, std::string_view(name))
        .run();
}

Status TraceRows::origin(uint32_t id, const OriginRow& origin) {
    return (*this)[origin_row]
        .bind(0, int64_t{id})
        .bind(1, nonzero(origin.thread))
        .bind(2, nonzero(origin.op))
        .bind(3, nonzero(origin.module))
        .bind(4, nonzero(origin.phase))
        .bind(5, nonzero(origin.compile_context))
        .bind(6, nonzero(origin.user_metadata))
        .run();
}

Status TraceRows::process(int64_t id, const Process& process) {
    const std::string how_ended = word_of(process.how_ended);
    Statement& row = (*this)[process_row];
    const auto bind_text = [&row](int column, const std::string& text) {
        text.empty() ? row.bind_null(column) : row.bind(column, std::string_view(text));
    };
    row.bind(0, id).bind(1, process.pid);
    row.bind(2, process.place.rank).bind(3, process.place.local_rank).bind(4, process.place.world_size);
    bind_text(5, process.place.node);
    bind_text(6, process.place.role);
    row.bind(7, std::string_view(process.command_line));
    row.bind(8, process.start).bind(9, process.end).bind(10, process.exit_status);
    bind_text(11, how_ended);
    return row.run();
}

Status TraceRows::device(int id, const DeviceRow& device) {
    Statement& row = (*this)[device_row];
    row.bind(0, int64_t{id}).bind(1, std::string_view(device.name));
    device.uuid.empty() ? row.bind_null(2) : row.bind(2, std::string_view(device.uuid));
    return row.bind(3, nonzero(device.total_bytes)).bind(4, device.events).bind(5, int64_t{device.truncated}).run();
}

Status TraceRows::segment(int64_t id, const SegmentRow& row) {
    const FileSegment& s = row.segment;
    const auto time_if = [](std::optional<int64_t> event, int64_t time) { return event ? std::optional(time) : event; };
    const auto created = event_or_null(s.alloc_event), freed = event_or_null(s.free_event);
    return (*this)[segment_row]
        .bind(0, id)
        .bind(1, int64_t{row.device})
        .bind(2, static_cast<int64_t>(s.address))
        .bind(3, static_cast<int64_t>(s.size))
        .bind(4, created)
        .bind(5, time_if(created, row.time))
        .bind(6, freed)
        .bind(7, time_if(freed, row.free_time))
        .bind(8, int64_t{s.stream})
        .bind(9, s.pool_known ? std::optional(int64_t{s.pool}) : std::nullopt)
        .bind(10, int64_t{s.is_large})
        .bind(11, int64_t{s.is_expandable})
        .bind(12, nonzero(s.stack))
        .bind(13, nonzero(s.free_stack))
        .run();
}

Status TraceRows::event(int device, const FileOtherEvent& event, int64_t time, uint32_t origin) {
    return (*this)[event_row]
        .bind(0, event_id(device, event.event))
        .bind(1, time)
        .bind(2, std::string_view(event.name))
        .bind(3, static_cast<int64_t>(event.address))
        .bind(4, static_cast<int64_t>(event.size))
        .bind(5, nonzero(event.stack))
        .bind(6, nonzero(origin))
        .run();
}

Status TraceRows::allocation(int64_t id, const AllocationRow& row, int64_t first_segment) {
    const FileAllocation& lifetime = row.lifetime;
    Statement& statement = (*this)[allocation_row];
    statement.bind(0, id).bind(1, lifetime.alloc_event == before_history ? std::nullopt : std::optional(row.time));
    bind_end(statement, 2, row, row.time);
    return statement.bind(6, static_cast<int64_t>(lifetime.address))
        .bind(7, static_cast<int64_t>(lifetime.requested))
        .bind(8, static_cast<int64_t>(lifetime.block_size - lifetime.requested))
        .bind(9, lifetime.segment == no_segment ? std::nullopt : std::optional(first_segment + lifetime.segment))
        .bind(10, nonzero(lifetime.stack))
        .bind(11, nonzero(lifetime.free_stack))
        .bind(12, nonzero(lifetime.origin))
        .run();
}

Status TraceRows::allocation_end(int64_t id, const AllocationRow& row) {
    Statement& statement = (*this)[allocation_end_row];
    bind_end(statement, 0, row, 0);
    return statement.bind(4, nonzero(row.lifetime.free_stack)).bind(5, id).run();
}

Status TraceRows::chunk(int device, int64_t first, std::span<const AllocationRow> rows) {
    const auto bytes = encode_chunk(rows);
    return (*this)[chunk_row]
        .bind(0, int64_t{device})
        .bind(1, first)
        .bind(2, static_cast<int64_t>(rows.size()))
        .bind_blob(3, bytes)
        .run();
}

Status TraceRows::annotation(int64_t id, const AnnotationRow& row) {
    const Annotation& a = row.annotation;
    return (*this)[annotation_row]
        .bind(0, id)
        .bind(1, std::string_view(a.name))
        .bind(2, word_of(a.kind))
        .bind(3, int64_t{a.device})
        .bind(4, nonzero(row.thread))
        .bind(5, a.start)
        .bind(6, a.closed ? std::optional(a.end) : std::nullopt)
        .run();
}

Status TraceRows::step(int64_t id, const Step& step) {
    return (*this)[step_row]
        .bind(0, id)
        .bind(1, step.number)
        .bind(2, word_of(step.source))
        .bind(3, step.start)
        .bind(4, step.end)
        .run();
}

Status TraceRows::repeated_steps(int64_t id, int device, const FileRepeatedSteps& steps) {
    Statement& row = (*this)[repeated_steps_row];
    row.bind(0, id)
        .bind(1, int64_t{device})
        .bind(2, steps.event)
        .bind(3, steps.after - steps.event)
        .bind(4, steps.start)
        .bind(5, steps.end)
        .bind(6, steps.like)
        .bind(7, steps.count)
        .bind(8, steps.events_left_out)
        .bind(9, steps.peak_allocated)
        .bind(10, steps.peak_active)
        .bind(11, steps.peak_requested);
    steps.counters.empty() ? row.bind_null(12) : row.bind_blob(12, std::as_bytes(std::span(steps.counters)));
    return row.run();
}

Status TraceRows::complete_step(int64_t id, int device, const FileRepeatedSteps& steps, bool is_kept) {
    return (*this)[complete_step_row]
        .bind(0, id)
        .bind(1, int64_t{device})
        .bind(2, steps.event)
        .bind(3, steps.after - steps.event)
        .bind(4, steps.start)
        .bind(5, steps.end)
        .bind(6, steps.count)
        .bind(7, steps.peak_allocated)
        .bind(8, steps.peak_active)
        .bind(9, steps.peak_requested)
        .bind_blob(10, std::as_bytes(std::span(steps.counters)))
        .bind(11, int64_t{is_kept})
        .run();
}

Status TraceRows::mark(int64_t id, const FileMark& mark) {
    Statement& row = (*this)[mark_row];
    row.bind(0, id).bind(1, std::string_view(mark.name)).bind(2, mark.time);
    mark.value ? row.bind(3, *mark.value) : row.bind_null(3);
    TIDEMARK_TRY(row.run());
    for (const auto& [device, events] : mark.events) {
        TIDEMARK_TRY((*this)[mark_event_row].bind(0, id).bind(1, int64_t{device}).bind(2, events).run());
    }
    return {};
}

Status TraceRows::data_gap(const DataGap& data_gap) {
    const auto bind_text = [](Statement& row, int column, const std::string& text) {
        text.empty() ? row.bind_null(column) : row.bind(column, std::string_view(text));
    };
    const std::string reason = word_of(data_gap.reason);
    const std::string arguments = data_gap.arguments.empty() ? std::string() : json_text(data_gap.arguments);
    Statement& row = (*this)[data_gap_row];
    bind_text(row, 5, reason);
    bind_text(row, 6, arguments);
    bind_text(row, 7, data_gap.text);
    return row.bind(0, data_gap_name(data_gap.kind))
        .bind(1, data_gap.device < 0 ? std::nullopt : std::optional(int64_t{data_gap.device}))
        .bind(2, data_gap.time)
        .bind(3, data_gap.count)
        .bind(4, data_gap.bytes)
        .run();
}

Status TraceRows::driver_allocation(int64_t id, const DriverRow& row) {
    const DriverAllocation& a = row.allocation;
    return (*this)[driver_row]
        .bind(0, id)
        .bind(1, int64_t{1})  // a trace contains one process
        .bind(2, a.device < 0 ? std::nullopt : std::optional(int64_t{a.device}))
        .bind(3, word_of(a.kind))
        .bind(4, static_cast<int64_t>(a.address))
        .bind(5, static_cast<int64_t>(a.bytes))
        .bind(6, a.time)
        .bind(7, a.free_time)
        .bind(8, nonzero(row.source))
        .bind(9, nonzero(a.stack))
        .bind(10, nonzero(row.segment))
        .run();
}

Status TraceRows::sample(const Sample& sample) {
    return (*this)[sample_row]
        .bind(0, sample.time)
        .bind(1, int64_t{sample.device})
        .bind(2, sample.pid)
        .bind(3, sample.used_bytes)
        .bind(4, nonzero(sample.total_bytes))
        .bind(5, word_of(sample.source))
        .run();
}

Status TraceRows::node(int64_t id, const NodeRow& row) {
    return (*this)[node_row]
        .bind(0, id)
        .bind(1, int64_t{row.type})
        .bind(2, row.sequence < 0 ? std::nullopt : std::optional(row.sequence))
        .bind(3, nonzero(row.origin))
        .bind(4, nonzero(row.stack))
        .bind(5, nonzero(row.variable))
        .bind(6, allocation_id(row.output))
        .bind(7, time_or_null(row.created))
        .bind(8, time_or_null(row.executed))
        .bind(9, time_or_null(row.released))
        .bind(10, time_or_null(row.destroyed))
        .run();
}

Status TraceRows::node_end(int64_t id, const NodeRow& row) {
    return (*this)[node_end_row]
        .bind(0, nonzero(row.variable))
        .bind(1, time_or_null(row.executed))
        .bind(2, time_or_null(row.released))
        .bind(3, time_or_null(row.destroyed))
        .bind(4, id)
        .run();
}

Status TraceRows::edge(int64_t node, const EdgeRow& row) {
    return (*this)[edge_row].bind(0, node).bind(1, int64_t{row.slot}).bind(2, row.to).bind(3, int64_t{row.input}).run();
}

Status TraceRows::saved_tensor(int64_t node, const SavedTensorRow& row) {
    return (*this)[saved_tensor_row]
        .bind(0, node)
        .bind(1, int64_t{row.name})
        .bind(2, allocation_id(row.allocation))
        .bind(3, static_cast<int64_t>(row.offset))
        .bind(4, static_cast<int64_t>(row.bytes))
        .bind(5, int64_t{row.version})
        .bind(6, int64_t{row.is_view})
        .bind(7, int64_t{row.is_packed})
        .run();
}

Status TraceRows::category(const CategoryRow& row) {
    return (*this)[category_row]
        .bind(0, row.allocation)
        .bind(1, row.time)
        .bind(2, category_name(row.category))
        .bind(3, nonzero(row.name))
        .run();
}

Status TraceRows::heap_scan(int64_t id, const HeapScan& scan) {
    return (*this)[heap_scan_row]
        .bind(0, id)
        .bind(1, scan.time)
        .bind(2, word_of(scan.reason))
        .bind(3, scan.duration)
        .bind(4, scan.objects)
        .bind(5, scan.tensors)
        .run();
}

Status TraceRows::referrer(int64_t id, int64_t scan, int64_t node, int64_t allocation) {
    return (*this)[referrer_row]
        .bind(0, id)
        .bind(1, scan)
        .bind(2, nonzero(node))
        .bind(3, allocation_id(allocation))
        .run();
}

Status TraceRows::path_link(int64_t referrer, int64_t position, const PathLinkRow& link) {
    return (*this)[path_link_row]
        .bind(0, referrer)
        .bind(1, position)
        .bind(2, word_of(link.kind))
        .bind(3, nonzero(link.name))
        .bind(4, nonzero(link.function))
        .bind(5, nonzero(link.file))
        .bind(6, nonzero(link.line))
        .run();
}

Status TraceRows::recording_cost(const RecordingCost& cost) {
    return (*this)[recording_cost_row]
        .bind(0, word_of(cost.kind))
        .bind(1, cost.thread)
        .bind(2, cost.start)
        .bind(3, cost.end)
        .bind(4, cost.count)
        .bind(5, cost.duration)
        .bind(6, cost.longest)
        .run();
}

Status TraceRows::source_line(const SourceLineRow& row) {
    return (*this)[source_line_row].bind(0, int64_t{row.file}).bind(1, int64_t{row.line}).bind(2, row.text).run();
}

}  // namespace tidemark
