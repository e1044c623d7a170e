// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/write/streaming_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "storage/write/lifetimes.h"
#include "storage/write/writing_thread.h"

namespace tidemark {

struct StreamingWriter::State {
    struct Device {
        DeviceRow row;
        FileEvent peak_event = 0;
        int64_t preexisting = 0;
        uint32_t segments = 0;
        bool is_changed = true;
    };

    explicit State(StreamingFile file) : writing(std::move(file)) {}

    void collect_dictionaries();
    void collect_lifetimes();
    void collect_devices();
    StreamingBatch collect(int64_t complete_to);

    WritingThread writing;
    int64_t most_bytes = 0;
    StreamingBatch batch;
    StackTable stacks;
    uint32_t strings_reported = 1, frames_reported = 1, stacks_reported = 1;
    std::unordered_map<uint64_t, uint32_t> streams;
    std::map<std::pair<int64_t, int64_t>, uint32_t> pools;
    uint32_t next_origin = 1;
    std::map<int, Device> devices;

    Lifetimes lifetimes;
    std::unordered_map<int64_t, SegmentRow> segments;        ///< not removed yet, by row id
    std::unordered_map<int64_t, DriverRow> driver;           ///< not freed yet
    std::unordered_map<int64_t, AnnotationRow> annotations;  ///< not ended yet
    int64_t next_repeats = 1, next_driver = 1, next_annotation = 1, next_mark = 1, next_scan = 1, next_referrer = 1;
};

StreamingWriter::StreamingWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
StreamingWriter::StreamingWriter(StreamingWriter&&) noexcept = default;
StreamingWriter& StreamingWriter::operator=(StreamingWriter&&) noexcept = default;
StreamingWriter::~StreamingWriter() = default;

Result<StreamingWriter> StreamingWriter::create(const std::string& path, IfExists if_exists, const Trace& head,
                                                int64_t most_bytes) {
    auto file = StreamingFile::create(path, if_exists, most_bytes);
    if (!file) {
        return file.error();
    }
    StreamingBatch first;
    first.meta = {{"source", head.source},
                  {"writer", head.writer},
                  {"start_utc_ns", fmt::format("{}", head.start_utc_ns)},
                  {"clean_end", "0"}};
    if (most_bytes > 0) {
        first.meta.emplace_back("most_bytes", fmt::format("{}", most_bytes));
    }
    for (const auto& [key, value] : head.settings) {
        first.meta.emplace_back("setting." + key, value);
    }
    TIDEMARK_TRY(file->write(first));
    auto state = std::make_unique<State>(*std::move(file));
    state->most_bytes = most_bytes;
    return StreamingWriter(std::move(state));
}

StackTable& StreamingWriter::stacks() { return state_->stacks; }

uint32_t StreamingWriter::stream(uint64_t handle) {
    const auto [entry, added] = state_->streams.try_emplace(handle, static_cast<uint32_t>(state_->streams.size()));
    if (added) {
        state_->batch.streams.push_back({entry->second, {handle, ""}});
    }
    return entry->second;
}

uint32_t StreamingWriter::pool(int64_t owner_first, int64_t owner_second) {
    const auto [entry, added] =
        state_->pools.try_emplace({owner_first, owner_second}, static_cast<uint32_t>(state_->pools.size()));
    if (added) {
        state_->batch.pools.push_back({entry->second, {{owner_first, owner_second}}});
    }
    return entry->second;
}

uint32_t StreamingWriter::origin(const OriginRow& origin) {
    origin_changed(state_->next_origin, origin);
    return state_->next_origin++;
}

void StreamingWriter::origin_changed(uint32_t id, const OriginRow& origin) {
    state_->batch.origins.emplace_back(id, origin);
}

void StreamingWriter::setting(const std::string& key, const std::string& json_value) {
    meta("setting." + key, json_value);
}

void StreamingWriter::meta(const std::string& key, const std::string& value) {
    state_->batch.meta.emplace_back(key, value);
}

void StreamingWriter::device(int device, const std::string& name, int64_t total_bytes, const std::string& uuid) {
    auto& known = state_->devices[device];
    known.row.name = name;
    known.row.total_bytes = total_bytes;
    known.row.uuid = uuid;
    known.is_changed = true;
}

void StreamingWriter::process(const Process& process) { state_->batch.processes.emplace_back(1, process); }

StreamingWriter::LifetimeId StreamingWriter::created(int device, const AllocationRow& row) {
    auto& known = state_->devices[device];
    const bool is_old = row.lifetime.alloc_event == before_history;
    return state_->lifetimes.add(
        is_old ? preexisting_id(device, known.preexisting++) : event_id(device, row.lifetime.alloc_event), row);
}

void StreamingWriter::free_requested(LifetimeId lifetime, FileEvent event, int64_t time, StackId stack) {
    state_->lifetimes.free_requested(lifetime, event, time, stack);
}

void StreamingWriter::free_completed(LifetimeId lifetime, FileEvent event, int64_t time) {
    state_->lifetimes.free_completed(lifetime, event, time);
}

int64_t StreamingWriter::row_id(LifetimeId lifetime) const { return state_->lifetimes.row_id(lifetime); }
FileEvent StreamingWriter::alloc_event(LifetimeId lifetime) const { return state_->lifetimes.alloc_event(lifetime); }
FileEvent StreamingWriter::free_event(LifetimeId lifetime) const { return state_->lifetimes.free_event(lifetime); }

uint32_t StreamingWriter::segment_added(int device, const FileSegment& segment, int64_t time) {
    const uint32_t position = state_->devices[device].segments++;
    const int64_t id = StreamingFile::segment_id(device, position);
    const SegmentRow row{device, segment, time, 0};
    state_->segments.emplace(id, row);
    state_->batch.segments.emplace_back(id, row);
    return position;
}

void StreamingWriter::segment_removed(int device, uint32_t position, FileEvent event, int64_t time, StackId stack) {
    const auto found = state_->segments.find(StreamingFile::segment_id(device, position));
    if (found == state_->segments.end()) {
        return;
    }
    found->second.segment.free_event = event;
    found->second.segment.free_stack = stack;
    found->second.free_time = time;
    state_->batch.segments.emplace_back(*found);
    state_->segments.erase(found);
}

void StreamingWriter::other_event(int device, const FileOtherEvent& event, int64_t time, uint32_t origin) {
    state_->batch.events.push_back({device, event, time, origin});
}

int64_t StreamingWriter::driver_allocated(const DriverAllocation& allocation, uint32_t segment) {
    const int64_t id = state_->next_driver++;
    DriverRow row{allocation, state_->stacks.intern(allocation.source), 0};
    row.segment = segment == no_segment ? 0 : StreamingFile::segment_id(allocation.device, segment);
    state_->batch.driver.emplace_back(id, row);
    state_->driver.emplace(id, std::move(row));
    return id;
}

void StreamingWriter::driver_in_segment(int64_t id, uint32_t segment) {
    if (const auto found = state_->driver.find(id); found != state_->driver.end()) {
        found->second.segment = StreamingFile::segment_id(found->second.allocation.device, segment);
        state_->batch.driver.emplace_back(*found);
    }
}

void StreamingWriter::driver_freed(int64_t id, int64_t time) {
    if (const auto found = state_->driver.find(id); found != state_->driver.end()) {
        found->second.allocation.free_time = std::max(time, found->second.allocation.time);
        state_->batch.driver.emplace_back(*found);
        state_->driver.erase(found);
    }
}

void StreamingWriter::sample(const Sample& sample) { state_->batch.samples.push_back(sample); }

int64_t StreamingWriter::annotation_begun(const Annotation& annotation, int64_t thread) {
    const int64_t id = state_->next_annotation++;
    state_->batch.annotations.push_back({id, {annotation, thread}});
    state_->annotations.emplace(id, AnnotationRow{annotation, thread});
    return id;
}

void StreamingWriter::annotation_ended(int64_t id, int64_t end) {
    if (const auto found = state_->annotations.find(id); found != state_->annotations.end()) {
        found->second.annotation.end = std::max(end, found->second.annotation.start);
        found->second.annotation.closed = true;
        state_->batch.annotations.emplace_back(*found);
        state_->annotations.erase(found);
    }
}

void StreamingWriter::step(const Step& step) { state_->batch.steps.emplace_back(step.number + 1, step); }

int64_t StreamingWriter::repeated(int device, const FileRepeatedSteps& steps) {
    repeated_more(state_->next_repeats, device, steps);
    return state_->next_repeats++;
}

void StreamingWriter::repeated_more(int64_t id, int device, const FileRepeatedSteps& steps) {
    auto& rows = state_->batch.repeats;
    if (!rows.empty() && rows.back().first == id) {
        rows.back().second.second = steps;
    } else {
        rows.push_back({id, {device, steps}});
    }
}

void StreamingWriter::complete_step(int device, const FileRepeatedSteps& steps, bool is_kept) {
    state_->batch.complete.push_back({state_->next_repeats++, {device, steps, is_kept}});
}

void StreamingWriter::keep_last_steps(int count) {
    state_->batch.kept_rows.emplace_back(state_->next_repeats - count, state_->next_repeats);
}

void StreamingWriter::keep_step(int device, int64_t end) { state_->batch.kept_ends.emplace_back(device, end); }

void StreamingWriter::drop_steps() {
    state_->batch.steps.clear();
    state_->batch.drop_steps = true;
}

void StreamingWriter::mark(const FileMark& mark) { state_->batch.marks.emplace_back(state_->next_mark++, mark); }

void StreamingWriter::data_gap(const DataGap& data_gap) { state_->batch.data_gaps.push_back(data_gap); }

void StreamingWriter::recording_cost(const RecordingCost& cost) { state_->batch.costs.push_back(cost); }

void StreamingWriter::source_line(const SourceLineRow& row) { state_->batch.source_lines.push_back(row); }

void StreamingWriter::node(int64_t id, const NodeRow& row) { state_->batch.nodes.emplace_back(id, row); }

void StreamingWriter::edge(int64_t node, const EdgeRow& row) { state_->batch.edges.emplace_back(node, row); }

void StreamingWriter::saved_tensor(int64_t node, const SavedTensorRow& row) {
    state_->batch.saved.emplace_back(node, row);
}

void StreamingWriter::node_changed(int64_t id, const NodeRow& row) {
    state_->batch.changed_nodes.emplace_back(id, row);
}

void StreamingWriter::category(const CategoryRow& row) { state_->batch.categories.push_back(row); }

int64_t StreamingWriter::heap_scan(const HeapScan& scan) {
    state_->batch.scans.emplace_back(state_->next_scan, scan);
    return state_->next_scan++;
}

void StreamingWriter::referrer(int64_t scan, int64_t node, int64_t allocation, std::span<const PathLinkRow> links) {
    StreamingBatch::Referrer referrer{state_->next_referrer++, scan, node, allocation, {}};
    for (const PathLinkRow& link : links) {
        referrer.links.push_back({link.kind, link.name, link.function, link.file, link.line});
    }
    state_->batch.referrers.push_back(std::move(referrer));
}

void StreamingWriter::progress_of(int device, FileEvent events, FileEvent peak_event) {
    auto& known = state_->devices[device];
    known.is_changed |= known.row.events != events || known.peak_event != peak_event;
    known.row.events = events;
    known.peak_event = peak_event;
}

void StreamingWriter::State::collect_dictionaries() {
    for (; strings_reported < stacks.string_count(); ++strings_reported) {
        batch.strings.emplace_back(strings_reported, stacks.string(strings_reported));
    }
    for (; frames_reported < stacks.frame_count(); ++frames_reported) {
        batch.frames.emplace_back(frames_reported, stacks.frame(frames_reported));
    }
    for (; stacks_reported < stacks.stack_count(); ++stacks_reported) {
        batch.stacks.emplace_back(stacks_reported, stacks.stack(stacks_reported));
    }
}

void StreamingWriter::State::collect_lifetimes() {
    lifetimes.take([&](int64_t id, const AllocationRow& row) { batch.created.emplace_back(id, row); },
                   [&](int64_t id, const AllocationRow& row) { batch.ended.emplace_back(id, row); });
}

void StreamingWriter::State::collect_devices() {
    for (auto& [id, device] : devices) {
        if (device.is_changed) {
            batch.devices.emplace_back(id, device.row);
            batch.meta.emplace_back(fmt::format("peak_event.{}", id), fmt::format("{}", device.peak_event));
            device.is_changed = false;
        }
    }
}

StreamingBatch StreamingWriter::State::collect(int64_t complete_to) {
    collect_dictionaries();
    collect_lifetimes();
    collect_devices();
    batch.meta.emplace_back("committed_time_ns", fmt::format("{}", complete_to));
    return std::exchange(batch, {});
}

Result<bool> StreamingWriter::commit(int64_t complete_to) {
    if (!state_->writing.is_cached()) {
        return false;
    }
    TIDEMARK_TRY(state_->writing.status());
    state_->writing.hand_over(state_->collect(complete_to));
    return true;
}

Status StreamingWriter::finish(int64_t duration, bool clean_end) {
    StreamingFile& file = state_->writing.stop();
    TIDEMARK_TRY(state_->writing.status());
    meta("duration_ns", fmt::format("{}", duration));
    StreamingBatch last = state_->collect(duration);
    TIDEMARK_TRY(file.write(last));
    std::vector<int> devices;
    for (const auto& [id, device] : state_->devices) {
        devices.push_back(id);
    }
    return file.finish(devices, clean_end);
}

size_t StreamingWriter::most_pending_bytes() const {
    constexpr size_t usual = 16 << 20, least = 512 << 10;
    const auto part = static_cast<size_t>(state_->most_bytes) / 24;
    return state_->most_bytes == 0 ? usual : std::clamp(part, least, usual);
}

size_t StreamingWriter::pending_bytes() const {
    const StreamingBatch& b = state_->batch;
    return state_->lifetimes.pending_bytes() + b.events.size() * sizeof(StreamingBatch::Event) +
           b.segments.size() * sizeof(SegmentRow) + b.driver.size() * sizeof(DriverRow) +
           b.complete.size() * sizeof(StreamingBatch::CompleteStep) + b.annotations.size() * sizeof(AnnotationRow) +
           b.samples.size() * sizeof(Sample) + (b.nodes.size() + b.changed_nodes.size()) * sizeof(NodeRow) +
           b.edges.size() * sizeof(EdgeRow) + b.saved.size() * sizeof(SavedTensorRow) +
           b.categories.size() * sizeof(CategoryRow) +
           b.referrers.size() * (sizeof(StreamingBatch::Referrer) + 8 * sizeof(StreamingBatch::Link));
}

}  // namespace tidemark
