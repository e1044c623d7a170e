// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/export/share.h"

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "storage/base/units.h"
#include "storage/export/excerpt.h"
#include "storage/export/file_check.h"
#include "storage/export/public_names.h"
#include "storage/notes/notes.h"
#include "storage/read/database.h"
#include "storage/read/open_trace.h"
#include "storage/read/read_graph.h"
#include "storage/replay/repeated_step.h"
#include "storage/timeline/curves.h"
#include "storage/timeline/time_point.h"

namespace tidemark {
namespace {

/// Tables of a trace file that the model in memory does not contain. They are omitted, and the copy has a data gap.
constexpr std::array tables_left_out{"thread"};

bool is_cut(const ShareRequest& request) { return !request.from.empty() || !request.to.empty(); }

Result<Stretch> find_stretch(const Trace& trace, const ShareRequest& request) {
    const DeviceHistory& main = trace.main_device();
    const Curves curves(main);
    const auto first = find_time_point(trace, main, curves, request.from.empty() ? "event:0" : request.from);
    if (!first) {
        return first.error();
    }
    const auto last = find_time_point(trace, main, curves, request.to.empty() ? "end" : request.to);
    if (!last) {
        return last.error();
    }
    const EventNumber begin = last_state(main, *first), end = last_state(main, *last);
    if (end <= begin) {
        return usage_error("Between {first} and {last} there is no event.",
                           with("first", describe_time_point(trace, main, *first)),
                           with("last", describe_time_point(trace, main, *last)));
    }
    Stretch stretch;
    stretch.start = request.from.empty() ? 0 : main.time_of_state(begin);
    stretch.end = request.to.empty() ? trace.duration : main.time_of_state(end);
    for (const DeviceHistory& device : trace.devices) {
        stretch.events[device.device] = {request.from.empty() ? 0 : device.events_until(stretch.start),
                                         request.to.empty() ? device.event_count() : device.events_until(stretch.end)};
    }
    stretch.events[main.device] = {begin, end};
    return stretch;
}

DataGap shared_gap(DataGapReason reason, DataGapArguments arguments) {
    return {DataGapKind::redacted, -1, 0, 0, 0, reason, std::move(arguments), {}};
}

/// Returns nothing if nothing is redacted.
std::optional<DataGap> redaction_gap(const Redaction& redaction) {
    std::string what;
    for (const auto& [is_redacted, name] :
         {std::pair(redaction.paths, "paths"), std::pair(redaction.names, "names"),
          std::pair(redaction.source, "source"), std::pair(redaction.times, "times")}) {
        what += is_redacted ? fmt::format("{}{}", what.empty() ? "" : ",", name) : "";
    }
    return what.empty() ? std::nullopt : std::optional(shared_gap(DataGapReason::redacted, {{"what", what}}));
}

DataGap excerpt_gap(const Trace& trace, const Stretch& stretch) {
    const DeviceHistory& main = trace.main_device();
    const Stretch::Range range = stretch.events.at(main.device);
    return shared_gap(DataGapReason::excerpt, {{"first", fmt::to_string(range.first)},
                                               {"last", fmt::to_string(range.last)},
                                               {"events", fmt::to_string(main.event_count())},
                                               {"device", fmt::to_string(main.device)}});
}

/// Returns the names of the tables with rows that are not copied, separated by commas; empty if there are none.
Result<std::string> tables_with_rows_left_out(const std::string& path, Progress& progress) {
    const auto file = look_at(path);
    if (!file) {
        return file.error();
    }
    auto connection = open_database(path, *file, progress);
    if (!connection) {
        return connection.error();
    }
    std::string names;
    for (const char* table : tables_left_out) {
        const auto has_rows = connection->query_integer(fmt::format("SELECT EXISTS(SELECT 1 FROM {})", table));
        if (!has_rows) {
            return has_rows.error();
        }
        if (*has_rows != 0) {
            names += fmt::format("{}{}", names.empty() ? "" : ", ", table);
        }
    }
    return names;
}

/// Allows the arguments of a gap that sharing adds itself.
void add_gap(Trace& shared, DataGap data_gap, AllowedTexts& allowed) {
    for (const auto& [name, value] : data_gap.arguments) {
        allowed.insert({name, value});
    }
    shared.data_gaps.push_back(std::move(data_gap));
}

/// Searches a copy, before it gets its name, for what redaction must have removed.
Status check_copy(const std::string& input, const Trace& original, const Redaction& redaction,
                  const AllowedTexts& allowed, const PartFile& copy, Progress& progress) {
    if (redaction.replaces_texts()) {
        TIDEMARK_TRY(check_redacted_file(input, copy.path(), allowed, progress));
    }
    constexpr int64_t first_date = 1'000'000'000'000'000;  // smaller numbers are no dates and appear in any trace
    const bool has_date = original.start_utc_ns >= first_date;
    return redaction.times && has_date ? check_has_no_number(copy.path(), original.start_utc_ns) : Status();
}

}  // namespace

PrivateTexts private_texts(const Trace& trace) {
    const auto has_name = [](const auto& named) { return !named.name.empty(); };
    const StackTable& table = trace.stacks;
    PrivateTexts found;
    found.command_line = std::any_of(trace.processes.begin(), trace.processes.end(),
                                     [](const Process& process) { return !process.command_line.empty(); });
    found.source_lines = !trace.source_text.empty();
    found.time = trace.start_utc_ns != 0;
    found.names = std::any_of(trace.annotations.begin(), trace.annotations.end(), has_name) ||
                  std::any_of(trace.marks.begin(), trace.marks.end(), has_name) ||
                  std::any_of(trace.origins.begin(), trace.origins.end(),
                              [](const Origin& origin) { return !origin.module.empty(); });
    for (FrameId id = 1; id < table.frame_count(); ++id) {
        const std::string& file = table.string(table.frame(id).file);
        if (!file.empty() && public_file(file) != file) {
            found.paths = found.names = true;
        }
    }
    return found;
}

Result<Trace> prepare_to_share(const Trace& trace, const ShareRequest& request, GraphTables* graph,
                               AllowedTexts* allowed, RedactionLog* log) {
    std::optional<DataGap> cut;
    Trace shared;
    if (is_cut(request) && !trace.devices.empty()) {
        const auto stretch = find_stretch(trace, request);
        if (!stretch) {
            return stretch.error();
        }
        shared = excerpt(trace, *stretch, graph);
        cut = excerpt_gap(trace, *stretch);
    } else {
        shared = trace;
    }
    AllowedTexts texts = redact(shared, request.redaction, graph, log);
    shared.writer = "Tidemark " TIDEMARK_VERSION;
    for (const std::optional<DataGap>& done : {redaction_gap(request.redaction), cut}) {
        if (done) {
            add_gap(shared, *done, texts);
        }
    }
    if (allowed != nullptr) {
        *allowed = std::move(texts);
    }
    return shared;
}

namespace {

/// Returns the bookmarks that lie in the shared part, with its numbers of events and its times, and the other notes.
Result<std::vector<Note>> notes_of_copy(const Trace& trace, const ShareRequest& request) {
    auto notes = NoteFile(trace.path, trace_fingerprint(trace), notes_folder()).read();
    if (!notes || !is_cut(request) || trace.devices.empty()) {
        return notes;
    }
    const auto stretch = find_stretch(trace, request);
    if (!stretch) {
        return stretch.error();
    }
    std::erase_if(*notes, [&](Note& note) {
        const auto range = stretch->events.find(note.device);
        if (!note.is_bookmark() || range == stretch->events.end()) {
            return note.is_bookmark();
        }
        const bool outside = note.event < range->second.first || note.event > range->second.last;
        note.event -= range->second.first;
        note.time -= stretch->start;
        return outside;
    });
    return notes;
}

/// Writes the notes beside the copy, which is read again, because its fingerprint is that of the file.
Status write_notes(const std::string& output, const std::vector<Note>& notes, Progress& progress) {
    const auto copy = open_trace(output, progress);
    return copy ? NoteFile(output, trace_fingerprint(**copy), {}).write_all(notes) : Status(copy.error());
}

enum class Keep { yes, no };

Result<ShareReport> make_copy(const std::string& input, const std::string& output, const ShareRequest& request,
                              IfExists if_exists, Keep keep, Progress& progress) {
    auto trace = open_trace(input, progress);
    if (!trace) {
        return trace.error();
    }
    const auto read = read_graph(**trace, progress);
    if (!read) {
        return read.error();
    }
    GraphTables graph = **read;
    AllowedTexts allowed;
    RedactionLog log;
    auto shared = prepare_to_share(**trace, request, &graph, &allowed, &log);
    if (!shared) {
        return shared.error();
    }
    auto left_out = tables_with_rows_left_out(input, progress);
    if (!left_out) {
        return left_out.error();
    }
    if (!left_out->empty()) {
        add_gap(*shared, shared_gap(DataGapReason::tables_left_out, {{"tables", *std::move(left_out)}}), allowed);
    }
    auto copy = PartFile::create(output, if_exists, keep == Keep::yes ? FileAccess::umask : FileAccess::owner);
    if (!copy) {
        return copy.error();
    }
    TIDEMARK_TRY(fill_trace(*copy, *shared, peak_events(*shared), progress, &graph));
    TIDEMARK_TRY(check_copy(input, **trace, request.redaction, allowed, *copy, progress));
    if (progress.canceled) {
        return canceled_error();
    }
    std::vector<Note> notes;
    if (request.with_notes) {
        auto found = notes_of_copy(**trace, request);
        if (!found) {
            return found.error();
        }
        notes = *std::move(found);
    }
    ShareReport report;
    std::error_code ignored;
    report.file_bytes = static_cast<int64_t>(std::filesystem::file_size(copy->path(), ignored));
    report.input_bytes = (*trace)->file_bytes;
    report.notes = static_cast<int64_t>(notes.size());
    report.removed = log.removed(allowed);
    if (keep == Keep::yes) {
        TIDEMARK_TRY(copy->keep());
        if (!notes.empty()) {
            TIDEMARK_TRY(write_notes(output, notes, progress));
        }
    }
    report.left = private_texts(**trace);
    report.left.command_line &= !request.redaction.replaces_texts();
    report.left.source_lines &= !request.redaction.replaces_texts();
    report.left.paths &= !request.redaction.paths;
    report.left.names &= !request.redaction.names;
    report.left.time &= !request.redaction.times;
    for (const DeviceHistory& device : shared->devices) {
        report.events += device.event_count();
        report.allocations += device.allocations.size();
    }
    return report;
}

}  // namespace

Result<ShareReport> share_trace(const std::string& input, const std::string& output, const ShareRequest& request,
                                IfExists if_exists, Progress& progress) {
    return make_copy(input, output, request, if_exists, Keep::yes, progress);
}

Result<ShareReport> preview_share(const std::string& input, const ShareRequest& request, Progress& progress) {
    std::error_code error;
    const auto folder = std::filesystem::temp_directory_path(error);
    const std::string name = fmt::format("tidemark-preview-{}-{:x}.tide", ::getpid(),
                                         std::hash<std::thread::id>()(std::this_thread::get_id()));
    return make_copy(input, ((error ? std::filesystem::path("/tmp") : folder) / name).string(), request, IfExists::fail,
                     Keep::no, progress);
}

}  // namespace tidemark
