// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/read/growing_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include <nlohmann/json.hpp>

#include "storage/base/units.h"
#include "storage/format/schema.h"
#include "storage/read/settle.h"
#include "storage/trace/limits.h"

namespace tidemark {

namespace {

int64_t number(std::string_view text) { return std::strtoll(std::string(text).c_str(), nullptr, 10); }

std::optional<int64_t> optional_integer(const Statement& row, int column) {
    return row.is_null(column) ? std::nullopt : std::optional(row.integer(column));
}

/// Returns the device in a column; -1 if it is NULL or out of range.
int device_number(const Statement& row, int column) {
    const int64_t device = row.is_null(column) ? -1 : row.integer(column);
    return device >= 0 && device < max_devices ? static_cast<int>(device) : -1;
}

/// Recordings of earlier versions mark a garbage collection by name, because they have no kind for it.
Fact<AnnotationKind> annotation_kind(std::string_view word, std::string_view name) {
    const auto kind = fact_from_word<AnnotationKind>(word);
    const bool is_collection = kind == AnnotationKind::user && name.starts_with("garbage collection");
    return is_collection ? Fact(AnnotationKind::garbage_collection) : kind;
}

/// Parses a JSON object of strings; empty if the text is anything else.
DataGapArguments arguments_of(std::string_view json_text) {
    DataGapArguments arguments;
    if (json_text.empty() || json_text.size() > most_argument_bytes) {
        return arguments;
    }
    const auto json = nlohmann::json::parse(json_text, nullptr, false);
    if (json.is_object()) {
        for (const auto& [name, value] : json.items()) {
            if (value.is_string()) {
                arguments.emplace(name, value.get<std::string>());
            }
        }
    }
    return arguments;
}

/// Parses "1.234567 s" at the front of `text` and removes it, up to and including `end`. Returns nothing if there is no
/// such time.
std::optional<int64_t> take_time(std::string_view& text, std::string_view end) {
    const size_t at = text.find(end);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    std::string number(text.substr(0, at));
    std::erase_if(number, [](char c) { return c == ' ' || c == ','; });
    text.remove_prefix(at + end.size());
    return parse_duration(number);
}

/// Parses the time range of a CUPTI pause, which formats 1 and 2 store only in a sentence.
void recognize_pause(DataGap& data_gap) {
    constexpr std::string_view paused = "Driver memory was not seen from ";
    std::string_view text = data_gap.text;
    if (data_gap.kind != DataGapKind::not_recorded || !text.starts_with(paused)) {
        return;
    }
    text.remove_prefix(paused.size());
    const auto from = take_time(text, " to "), until = take_time(text, ":");
    if (from && until) {
        data_gap.reason = DataGapReason::cupti_paused;
        data_gap.arguments = {{"from_ns", fmt::to_string(*from)}, {"until_ns", fmt::to_string(*until)}};
    }
}

}  // namespace

Result<bool> GrowingTrace::read(Connection& connection, const TraceFile& file, Progress& progress) {
    RowSource source(connection, raw_.path, progress);
    if (auto begun = connection.execute("BEGIN"); !begun) {
        return source.explain(begun.error());
    }
    const auto read = read_if_new(source, file);
    const Status ended = connection.execute("COMMIT");
    return !read || ended ? read : Result<bool>(source.explain(ended.error()));
}

Result<bool> GrowingTrace::read_if_new(RowSource& source, const TraceFile& file) {
    const auto version = source.connection().query_integer("PRAGMA data_version");
    if (!version) {
        return source.explain(version.error());
    }
    if (*version == version_ && file.state == state_) {
        return false;
    }
    TIDEMARK_TRY(start_over_if_rows_are_gone(source));
    if (auto status = read_all(source, file); !status) {
        return status.error();
    }
    version_ = *version;
    state_ = file.state;
    return true;
}

/// The writer of a trace of limited size deletes details of old steps. It counts the times in `meta`.
Status GrowingTrace::start_over_if_rows_are_gone(RowSource& source) {
    const auto deletions = source.connection().query_integer(
        "SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key='details_deleted'), 0)");
    if (!deletions) {
        return source.explain(deletions.error());
    }
    if (version_ != -1 && *deletions != deletions_) {
        *this = GrowingTrace(std::string(raw_.path), rows_, steps_);
    }
    deletions_ = *deletions;
    return {};
}

Status GrowingTrace::read_all(RowSource& source, const TraceFile& file) {
    raw_.file_bytes = file.bytes;
    raw_.being_written = file.state == TraceFile::State::being_written;
    const auto version = source.connection().query_integer("PRAGMA user_version");
    raw_.format_version = version ? static_cast<int>(*version) : 0;
    TIDEMARK_TRY(read_meta(source));
    raw_.being_written = raw_.being_written && !raw_.clean_end;
    TIDEMARK_TRY(dictionaries_.read(source, raw_, file.bytes));
    TIDEMARK_TRY(read_spans(source));
    TIDEMARK_TRY(read_steps(source));
    TIDEMARK_TRY(read_data_gaps(source));
    TIDEMARK_TRY(read_source_text(source));
    TIDEMARK_TRY(read_surroundings(source));
    TIDEMARK_TRY(read_devices(source, file));
    return read_marks(source);
}

Status GrowingTrace::read_meta(RowSource& source) {
    raw_.clean_end = false;
    return source.each("SELECT key, value FROM meta", [&](Statement& row) {
        const std::string_view key = row.text(0), value = row.text(1);
        if (key == "source") {
            raw_.source = value;
        } else if (key == "writer") {
            raw_.writer = value;
        } else if (key == "start_utc_ns") {
            raw_.start_utc_ns = number(value);
        } else if (key == "duration_ns") {
            raw_.duration = damage_.end(0, number(value));
        } else if (key == "committed_time_ns") {
            raw_.committed_time = damage_.end(0, number(value));
        } else if (key == "most_bytes") {
            raw_.most_bytes = number(value);
        } else if (key == "recorded.nvml_pid") {
            raw_.nvml_pid = number(value);
        } else if (key == "recorded.events_of") {
            raw_.event_source = value == "driver" ? EventSource::driver : EventSource::caching_allocator;
        } else if (key == "clean_end") {
            raw_.clean_end = value == "1";
        } else if (key.starts_with("setting.")) {
            raw_.settings[std::string(key.substr(8))] = value;
        }
        return true;
    });
}

Status GrowingTrace::read_spans(RowSource& source) {
    return read_tail(
        source, "SELECT id, name, kind, device, start_time, end_time FROM annotation WHERE", annotations_,
        raw_.annotations,
        [&](Statement& row, Annotation& a, size_t) {
            const int64_t start = damage_.time(row.integer(4), 0);
            const auto end = damage_.end(start, optional_integer(row, 5));
            a = {std::string(row.text(1)),
                 annotation_kind(row.text(2), row.text(1)),
                 std::max(device_number(row, 3), 0),
                 start,
                 end.value_or(start),
                 end.has_value()};
            return true;
        },
        [](const Annotation& a) { return !a.closed; });
}

Status GrowingTrace::read_steps(RowSource& source) {
    const auto count = source.connection().query_integer("SELECT count(*) FROM step");
    if (!count) {
        return source.explain(count.error());
    }
    step_count_ = *count;
    // Steps that the user marked replace earlier detected ones.
    raw_.steps.clear();
    if (steps_ == Steps::summary) {
        return {};
    }
    raw_.steps.reserve(static_cast<size_t>(std::min(step_count_, most_rows_in(raw_.file_bytes))));
    return source.each("SELECT number, source, start_time, end_time FROM step ORDER BY id", [&](Statement& row) {
        const int64_t start = damage_.time(row.integer(2), 0);
        raw_.steps.push_back({row.integer(0), fact_from_word<StepSource>(row.text(1)), start,
                              damage_.end(start, optional_integer(row, 3))});
        return true;
    });
}

Status GrowingTrace::read_marks(RowSource& source) {
    const int64_t seen = marks_.last_id;
    TIDEMARK_TRY(read_tail(source, "SELECT id, name, time, value FROM mark WHERE", marks_, raw_.marks,
                           [&](Statement& row, Mark& mark, size_t) {
                               mark_ids_.push_back(row.integer(0));
                               mark.name = row.text(1);
                               mark.time = damage_.time(row.integer(2), 0);
                               mark.value = row.is_null(3) ? std::nullopt : std::optional(row.real(3));
                               return true;
                           }));
    return source.each("SELECT mark, device, events FROM mark_event WHERE mark>?", seen, [&](Statement& row) {
        const auto found = std::lower_bound(mark_ids_.begin(), mark_ids_.end(), row.integer(0));
        if (found == mark_ids_.end() || *found != row.integer(0)) {
            return false;
        }
        Mark& mark = raw_.marks[static_cast<size_t>(found - mark_ids_.begin())];
        const int id = device_number(row, 1);
        const DeviceHistory* device = raw_.device(id);
        mark.events[id] = device == nullptr ? 0 : device->numbers.state(row.integer(2));
        return true;
    });
}

Status GrowingTrace::read_data_gaps(RowSource& source) {
    raw_.data_gaps.clear();
    return source.each("SELECT kind, device, time, count, bytes, reason, arguments, text FROM data_gap ORDER BY id",
                       [&](Statement& row) {
                           DataGap& data_gap = raw_.data_gaps.emplace_back();
                           data_gap.kind = data_gap_from_name(row.text(0));
                           data_gap.device = device_number(row, 1);
                           data_gap.time = damage_.time(row.integer(2), 0);
                           data_gap.count = row.integer(3);
                           data_gap.bytes = row.integer(4);
                           data_gap.reason = fact_from_word<DataGapReason>(row.text(5));
                           data_gap.arguments = arguments_of(row.text(6));
                           data_gap.text = row.text(7);
                           if (raw_.format_version < 3) {
                               recognize_pause(data_gap);
                           }
                           return true;
                       });
}

Status GrowingTrace::read_source_text(RowSource& source) {
    constexpr int first_version_with_source = 5;
    if (raw_.format_version < first_version_with_source) {
        return {};
    }
    return source.each(
        "SELECT id, file, line, text FROM source_line WHERE id>? ORDER BY id", last_source_line_, [&](Statement& row) {
            last_source_line_ = row.integer(0);
            const int64_t number = row.integer(2);
            const std::string_view text = row.text(3);
            source_bytes_ += counted_source_bytes(text.size());
            // Each file is copied once, and its name is a row of this file.
            const std::string& file = dictionaries_.text(raw_, row.integer(1));
            return !file.empty() && number >= 1 && number <= INT32_MAX && text.size() <= longest_source_line &&
                   text.find('\n') == text.npos && source_bytes_ <= most_source_bytes &&
                   raw_.source_text.add(file, static_cast<int32_t>(number), std::string(text));
        });
}

/// Reads the recorder's data from outside the allocator: processes, steps, driver memory, samples.
Status GrowingTrace::read_surroundings(RowSource& source) {
    raw_.processes.clear();
    TIDEMARK_TRY(source.each(
        "SELECT pid, rank, local_rank, world_size, node, role, command_line, start_time, end_time, exit_status, "
        "how_ended "
        "FROM process ORDER BY id",
        [&](Statement& row) {
            const int64_t start = damage_.time(row.integer(7), 0);
            raw_.processes.push_back({row.integer(0),
                                      {optional_integer(row, 1), optional_integer(row, 2), optional_integer(row, 3),
                                       std::string(row.text(4)), std::string(row.text(5))},
                                      std::string(row.text(6)),
                                      start,
                                      damage_.end(start, optional_integer(row, 8)),
                                      optional_integer(row, 9),
                                      fact_from_word<ProcessEnd>(row.text(10))});
            return true;
        }));
    TIDEMARK_TRY(read_tail(
        source,
        "SELECT id, kind, device, address, bytes, time, free_time, source, stack, segment FROM driver_allocation WHERE",
        driver_allocations_, raw_.driver_allocations,
        [&](Statement& row, DriverAllocation& a, size_t) {
            const auto stack = dictionaries_.stack(row.integer(8));
            const auto source_text = dictionaries_.copy(raw_, row.integer(7));
            const int64_t bytes = row.integer(4), time = damage_.time(row.integer(5), 0);
            if (!stack || !source_text || bytes < 0 || bytes > int64_t{largest_size}) {
                return false;
            }
            a = {fact_from_word<DriverMemoryKind>(row.text(1)),
                 device_number(row, 2),
                 static_cast<uint64_t>(row.integer(3)),
                 static_cast<uint64_t>(bytes),
                 time,
                 damage_.end(time, optional_integer(row, 6)),
                 *source_text,
                 *stack,
                 !row.is_null(9)};
            return true;
        },
        [](const DriverAllocation& a) { return !a.free_time; }));
    return read_tail(source,
                     "SELECT id, time, device, pid, used_bytes, total_bytes, source FROM sample "
                     "WHERE used_bytes IS NOT NULL AND",
                     samples_, raw_.samples, [&](Statement& row, Sample& s, size_t) {
                         s = {damage_.time(row.integer(1), 0),
                              device_number(row, 2),
                              optional_integer(row, 3),
                              std::clamp<int64_t>(row.integer(4), 0, int64_t{largest_size}),
                              std::clamp<int64_t>(row.integer(5), 0, int64_t{largest_size}),
                              fact_from_word<SampleSource>(row.text(6))};
                         return true;
                     });
}

Status GrowingTrace::read_devices(RowSource& source, const TraceFile& file) {
    size_t at = 0;
    int64_t events_left = most_events_in(file.bytes);
    std::vector<int64_t> counts;
    TIDEMARK_TRY(source.each(
        "SELECT id, coalesce(name, ''), total_bytes, events, truncated, coalesce(uuid, '') FROM device ORDER BY id",
        [&](Statement& row) {
            const int64_t id = row.integer(0), events = row.integer(3);
            if (at == raw_.devices.size()) {
                raw_.devices.emplace_back().device = static_cast<int>(id);
                devices_.emplace_back();
            }
            DeviceHistory& device = raw_.devices[at];
            if (id < 0 || id >= max_devices || device.device != id || events < 0 || events > preexisting_bit) {
                return false;
            }
            device.name = row.text(1);
            device.uuid = row.text(5);
            device.total_bytes = row.integer(2);
            device.truncated = row.integer(4) != 0;
            counts.push_back(events);
            ++at;
            return true;
        }));
    for (size_t d = 0; d < at; ++d) {
        if (steps_ == Steps::summary) {
            TIDEMARK_TRY(devices_[d].summarize_repeats(source, raw_.devices[d].device, raw_.format_version));
        }
        const auto events = devices_[d].number_events(source, raw_.devices[d], counts[d], raw_.format_version);
        if (!events) {
            return events.error();
        }
        if (*events < raw_.devices[d].event_count() || *events >= never || *events > events_left) {
            return damaged(raw_.path, Sentence("it counts more events than it can have"));
        }
        events_left -= *events;
        DeviceTables::resize_events(raw_.devices[d], *events);
    }
    for (size_t d = 0; d < at; ++d) {
        TIDEMARK_TRY(devices_[d].read(source, raw_.devices[d], {raw_, dictionaries_, file, rows_ == Rows::compare}));
    }
    return {};
}

void GrowingTrace::set_integrity(const IntegrityReport& report) {
    raw_.integrity = report.integrity;
    for (DataGap& gap : report.data_gaps()) {
        raw_.data_gaps.push_back(std::move(gap));
    }
}

std::vector<RepeatsSummary> GrowingTrace::repeats() const {
    std::vector<RepeatsSummary> all;
    std::transform(devices_.begin(), devices_.end(), std::back_inserter(all),
                   [](const DeviceTables& device) { return device.summary(); });
    return all;
}

Damage GrowingTrace::damage() const {
    Damage all = damage_;
    for (const DeviceTables& device : devices_) {
        all.add(device.damage());
    }
    return all;
}

Result<std::shared_ptr<const Trace>> GrowingTrace::copy() const { return settled(Trace(raw_), damage()); }

Result<std::shared_ptr<const Trace>> GrowingTrace::take() { return settled(std::move(raw_), damage()); }

}  // namespace tidemark
