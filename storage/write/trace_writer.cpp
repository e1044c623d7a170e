// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/write/trace_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "storage/format/checksums.h"
#include "storage/format/chunk_codec.h"
#include "storage/format/schema.h"
#include "storage/format/seal.h"
#include "storage/sqlite/sqlite.h"
#include "storage/write/trace_rows.h"

namespace tidemark {

namespace {

/// Writes all rows of a trace to an open, empty database.
class Filling {
public:
    Filling(Connection& connection, TraceRows& rows, const Trace& trace, std::span<const EventNumber> peak_events,
            const GraphTables* graph, Progress& progress)
        : connection_(connection),
          rows_(rows),
          trace_(trace),
          peak_events_(peak_events),
          graph_(graph),
          progress_(progress) {}

    Status run() {
        TIDEMARK_TRY(connection_.execute("BEGIN"));
        TIDEMARK_TRY(write_meta());
        TIDEMARK_TRY(write_stacks());
        TIDEMARK_TRY(write_dictionaries());
        TIDEMARK_TRY(write_source());
        TIDEMARK_TRY(write_spans());
        TIDEMARK_TRY(write_surroundings());
        for (size_t d = 0; d < trace_.devices.size(); ++d) {
            const DeviceHistory& device = trace_.devices[d];
            TIDEMARK_TRY(write_device(device, peak_events_[d]));
            TIDEMARK_TRY(write_allocations(device));
            TIDEMARK_TRY(write_chunks(device));
        }
        if (graph_ != nullptr) {
            TIDEMARK_TRY(write_nodes(*graph_));
            TIDEMARK_TRY(write_labels(*graph_));
            TIDEMARK_TRY(write_referrers(*graph_));
        }
        TIDEMARK_TRY(rows_.meta("clean_end", trace_.clean_end ? "1" : "0"));
        TIDEMARK_TRY(write_checksums(connection_));
        TIDEMARK_TRY(write_empty_seal(connection_));
        return connection_.execute("COMMIT");
    }

private:
    Status write_meta() {
        TIDEMARK_TRY(rows_.meta("source", trace_.source));
        TIDEMARK_TRY(rows_.meta("writer", trace_.writer));
        TIDEMARK_TRY(rows_.meta("start_utc_ns", fmt::format("{}", trace_.start_utc_ns)));
        TIDEMARK_TRY(rows_.meta("duration_ns", fmt::format("{}", trace_.duration)));
        if (trace_.nvml_pid) {
            TIDEMARK_TRY(rows_.meta("recorded.nvml_pid", fmt::format("{}", *trace_.nvml_pid)));
        }
        if (trace_.event_source == EventSource::driver) {
            TIDEMARK_TRY(rows_.meta("recorded.events_of", "driver"));
        }
        for (const auto& [key, value] : trace_.settings) {
            TIDEMARK_TRY(rows_.meta("setting." + key, value));
        }
        return {};
    }

    Status write_stacks() {
        const StackTable& table = trace_.stacks;
        for (StringId i = 1; i < table.string_count(); ++i) {
            TIDEMARK_TRY(rows_.string(i, table.string(i)));
        }
        for (FrameId i = 1; i < table.frame_count(); ++i) {
            TIDEMARK_TRY(rows_.frame(i, table.frame(i)));
        }
        for (StackId i = 1; i < table.stack_count(); ++i) {
            TIDEMARK_TRY(rows_.stack(i, table.stack(i)));
        }
        next_string_ = table.string_count();
        return {};
    }

    /// Returns the id of a text that is not part of a stack. Such texts follow the stacks' own in the table string.
    Result<StringId> string_id(const std::string& text) {
        if (text.empty()) {
            return StringId{0};
        }
        const auto [entry, added] = extra_strings_.try_emplace(text, next_string_);
        if (added) {
            if (auto status = rows_.string(next_string_, text); !status) {
                return status.error();
            }
            ++next_string_;
        }
        return entry->second;
    }

    Status write_dictionaries() {
        for (uint32_t i = 0; i < trace_.streams.size(); ++i) {
            TIDEMARK_TRY(rows_.stream(i, trace_.streams[i]));
        }
        for (uint32_t i = 0; i < trace_.pools.size(); ++i) {
            TIDEMARK_TRY(rows_.pool(i, trace_.pools[i]));
        }
        for (uint32_t i = 1; i < trace_.origins.size(); ++i) {
            const Origin& o = trace_.origins[i];
            const std::string phase = word_of(o.phase);
            OriginRow row;
            row.thread = o.thread;
            for (const auto& [id, text] :
                 {std::pair(&row.op, &o.op), std::pair(&row.module, &o.module), std::pair(&row.phase, &phase),
                  std::pair(&row.compile_context, &o.compile_context),
                  std::pair(&row.user_metadata, &o.user_metadata)}) {
                const auto known = string_id(*text);
                if (!known) {
                    return known.error();
                }
                *id = *known;
            }
            TIDEMARK_TRY(rows_.origin(i, row));
        }
        return {};
    }

    Status write_source() {
        for (const auto& [file, lines] : trace_.source_text.files()) {
            const auto id = string_id(file);
            if (!id) {
                return id.error();
            }
            for (const auto& [number, text] : lines) {
                TIDEMARK_TRY(rows_.source_line({*id, number, text}));
            }
        }
        return {};
    }

    Status write_spans() {
        int64_t id = 0;
        for (const Annotation& annotation : trace_.annotations) {
            TIDEMARK_TRY(rows_.annotation(++id, {annotation, 0}));
        }
        id = 0;
        for (const Mark& mark : trace_.marks) {
            TIDEMARK_TRY(rows_.mark(++id, mark.numbered<FileEvent>()));
        }
        id = 0;
        for (const Step& step : trace_.steps) {
            TIDEMARK_TRY(rows_.step(++id, step));
        }
        for (const DataGap& data_gap : trace_.data_gaps) {
            TIDEMARK_TRY(rows_.data_gap(data_gap));
        }
        return {};
    }

    /// Writes the recorder's data from outside the allocator: processes, steps, driver memory, samples.
    Status write_surroundings() {
        int64_t id = 0;
        for (const Process& process : trace_.processes) {
            TIDEMARK_TRY(rows_.process(++id, process));
        }
        id = 0;
        for (const DriverAllocation& allocation : trace_.driver_allocations) {
            const auto source = string_id(allocation.source);
            if (!source) {
                return source.error();
            }
            TIDEMARK_TRY(rows_.driver_allocation(++id, {allocation, *source, segment_behind(allocation)}));
        }
        for (const Sample& sample : trace_.samples) {
            TIDEMARK_TRY(rows_.sample(sample));
        }
        return {};
    }

    /// Returns the row id of the segment in this driver memory. For memory without an address, returns any segment of
    /// its device.
    int64_t segment_behind(const DriverAllocation& allocation) const {
        int64_t first = 1;
        for (const DeviceHistory& device : trace_.devices) {
            if (allocation.in_allocator && device.device == allocation.device) {
                const auto found = std::find_if(device.segments.begin(), device.segments.end(), [&](const Segment& s) {
                    return s.address <= allocation.address && allocation.address < s.address + s.size;
                });
                return first + (found == device.segments.end() ? 0 : found - device.segments.begin());
            }
            first += static_cast<int64_t>(device.segments.size());
        }
        return 0;
    }

    Status write_device(const DeviceHistory& device, EventNumber peak_event) {
        TIDEMARK_TRY(
            rows_.device(device.device, {device.name, "", device.total_bytes, device.event_count(), device.truncated}));
        TIDEMARK_TRY(rows_.meta(fmt::format("peak_event.{}", device.device), fmt::format("{}", peak_event)));
        first_segment_ = next_segment_;
        for (const Segment& s : device.segments) {
            TIDEMARK_TRY(
                rows_.segment(next_segment_++, {device.device, s.numbered<FileEvent>(), time_of(device, s.alloc_event),
                                                time_of(device, s.free_event)}));
        }
        for (const OtherEvent& e : device.others) {
            TIDEMARK_TRY(rows_.event(device.device, e.numbered<FileEvent>(), time_of(device, e.event), e.origin));
        }
        for (const RepeatedSteps& steps : device.repeats) {
            TIDEMARK_TRY(rows_.repeated_steps(next_repeats_++, device.device, steps.numbered<FileEvent>()));
        }
        return {};
    }

    static int64_t time_of(const DeviceHistory& device, EventNumber event) {
        return event == before_history || event == never ? 0 : device.event_time[static_cast<size_t>(event)];
    }

    /// The numbers of events in the new file are those in memory, so the ids may differ from those of the trace's file.
    static int64_t id_of(const DeviceHistory& device, AllocationIndex i) {
        const EventNumber event = device.allocations.alloc_event[i];
        return event == before_history ? preexisting_id(device.device, i) : event_id(device.device, event);
    }

    static AllocationRow row_of(const DeviceHistory& device, uint32_t i) {
        const Allocations& a = device.allocations;
        return {a.at(i).numbered<FileEvent>(), time_of(device, a.alloc_event[i]), time_of(device, a.free_event[i]),
                time_of(device, a.free_completed[i])};
    }

    Status write_allocations(const DeviceHistory& device) {
        // Allocations from before the history have the larger ids, so they are written last and rows are only appended.
        const Allocations& a = device.allocations;
        const uint32_t before = static_cast<uint32_t>(
            std::upper_bound(a.alloc_event.begin(), a.alloc_event.end(), before_history) - a.alloc_event.begin());
        for (uint32_t k = 0; k < a.size(); ++k) {
            const uint32_t i = k + before < a.size() ? k + before : k + before - a.size();
            TIDEMARK_TRY(rows_.allocation(id_of(device, i), row_of(device, i), first_segment_));
            if (k % 8192 == 0) {
                if (progress_.canceled) {
                    return canceled_error();
                }
                progress_.report("writing", static_cast<double>(k) / a.size());
            }
        }
        return {};
    }

    Status write_chunks(const DeviceHistory& device) {
        const uint32_t total = device.allocations.size();
        std::vector<AllocationRow> chunk;
        for (uint32_t first = 0; first < total; first += chunk_capacity) {
            chunk.clear();
            for (uint32_t i = first; i < total && chunk.size() < chunk_capacity; ++i) {
                chunk.push_back(row_of(device, i));
            }
            TIDEMARK_TRY(rows_.chunk(device.device, first, chunk));
        }
        return {};
    }

    int64_t row_id(AllocationRef ref) const {
        return ref ? id_of(trace_.devices[ref.device], ref.index) : no_allocation_row;
    }

    /// Returns the row id of a text of the graph.
    Result<StringId> text_id(const GraphTables& graph, uint32_t text) { return string_id(graph.texts[text]); }

    Status write_nodes(const GraphTables& graph) {
        const GraphNodes& nodes = graph.nodes;
        for (NodeIndex n = 0; n < nodes.size(); ++n) {
            const auto type = text_id(graph, nodes.type[n]), variable = text_id(graph, nodes.variable[n]);
            if (!type || !variable) {
                return (type ? variable : type).error();
            }
            TIDEMARK_TRY(rows_.node(nodes.id[n], {*type, *variable, nodes.sequence[n], nodes.origin[n], nodes.stack[n],
                                                  row_id(nodes.output[n]), nodes.created[n], nodes.executed[n],
                                                  nodes.released[n], nodes.destroyed[n]}));
            TIDEMARK_TRY(write_edges(graph, n));
            TIDEMARK_TRY(write_saved(graph, n));
            if (n % 8192 == 0 && progress_.canceled) {
                return canceled_error();
            }
        }
        return graph.nodes_left_out == 0 ? Status()
                                         : rows_.meta("graph.nodes_left_out", fmt::format("{}", graph.nodes_left_out));
    }

    Status write_edges(const GraphTables& graph, NodeIndex n) {
        const GraphEdges& edges = graph.edges;
        for (uint32_t i = edges.first[n]; i < edges.first[n + 1]; ++i) {
            if (edges.to[i] != no_node) {
                TIDEMARK_TRY(
                    rows_.edge(graph.nodes.id[n], {graph.nodes.id[edges.to[i]], edges.slot[i], edges.input[i]}));
            }
        }
        return {};
    }

    Status write_saved(const GraphTables& graph, NodeIndex n) {
        const SavedTensors& saved = graph.saved;
        for (uint32_t i = saved.first[n]; i < saved.first[n + 1]; ++i) {
            const auto name = text_id(graph, saved.name[i]);
            if (!name) {
                return name.error();
            }
            TIDEMARK_TRY(rows_.saved_tensor(graph.nodes.id[n],
                                            {*name, row_id(saved.allocation[i]), saved.offset[i], saved.bytes[i],
                                             saved.version[i], saved.is_view[i] != 0, saved.is_packed[i] != 0}));
        }
        return {};
    }

    Status write_labels(const GraphTables& graph) {
        for (const CategoryLabel& label : graph.labels) {
            const auto name = text_id(graph, label.name);
            if (!name) {
                return name.error();
            }
            if (label.allocation) {
                TIDEMARK_TRY(rows_.category({row_id(label.allocation), label.time, label.category, *name}));
            }
        }
        return {};
    }

    Status write_referrers(const GraphTables& graph) {
        int64_t id = 0;
        for (const HeapScan& scan : graph.scans) {
            TIDEMARK_TRY(rows_.heap_scan(++id, scan));
        }
        id = 0;
        for (const Referrer& referrer : graph.referrers) {
            TIDEMARK_TRY(rows_.referrer(++id, int64_t{referrer.scan} + 1,
                                        referrer.node == no_node ? 0 : graph.nodes.id[referrer.node],
                                        row_id(referrer.allocation)));
            TIDEMARK_TRY(write_links(graph, id, referrer.links));
        }
        return {};
    }

    Status write_links(const GraphTables& graph, int64_t referrer, const std::vector<PathLink>& links) {
        int64_t position = 0;
        for (const PathLink& link : links) {
            PathLinkRow row{link.kind, 0, 0, 0, link.line};
            for (const auto& [id, text] : {std::pair(&row.name, link.name), std::pair(&row.function, link.function),
                                           std::pair(&row.file, link.file)}) {
                const auto known = text_id(graph, text);
                if (!known) {
                    return known.error();
                }
                *id = *known;
            }
            TIDEMARK_TRY(rows_.path_link(referrer, position++, row));
        }
        return {};
    }

    Connection& connection_;
    TraceRows& rows_;
    const Trace& trace_;
    std::span<const EventNumber> peak_events_;
    const GraphTables* graph_;
    Progress& progress_;
    StringId next_string_ = 0;
    int64_t next_segment_ = 1, first_segment_ = 1, next_repeats_ = 1;
    std::unordered_map<std::string, StringId> extra_strings_;
};

Status fill(Connection& connection, const Trace& trace, std::span<const EventNumber> peak_events,
            const GraphTables* graph, Progress& progress) {
    TIDEMARK_TRY(create_schema(connection));
    auto rows = TraceRows::prepare(connection);
    return rows ? Filling(connection, *rows, trace, peak_events, graph, progress).run() : rows.error();
}

}  // namespace

Status write_trace(const Trace& trace, std::span<const EventNumber> peak_events, const std::string& path,
                   IfExists if_exists, Progress& progress, const GraphTables* graph, FileAccess access) {
    auto file = PartFile::create(path, if_exists, access);
    if (!file) {
        return file.error();
    }
    TIDEMARK_TRY(fill_trace(*file, trace, peak_events, progress, graph));
    return file->keep();
}

Status fill_trace(PartFile& file, const Trace& trace, std::span<const EventNumber> peak_events, Progress& progress,
                  const GraphTables* graph) {
    auto connection = Connection::open(file.path(), OpenMode::create);
    if (!connection) {
        return connection.error();
    }
    // The file is private until it is renamed, so it needs no journal, and one sync at the end is sufficient.
    TIDEMARK_TRY(
        connection->execute("PRAGMA page_size=4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; "
                            "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-16384"));
    if (auto filled = fill(*connection, trace, peak_events, graph, progress); !filled) {
        Error error = filled.error();
        if (error.kind != ErrorKind::canceled) {
            error.sentence = Sentence("{path} could not be written. {sentence}", with("path", file.target()),
                                      with("sentence", error.sentence));
        }
        return error;
    }
    TIDEMARK_TRY(connection->close());
    return seal_file(file.path());
}

}  // namespace tidemark
