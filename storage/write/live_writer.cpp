#include "storage/write/live_writer.h"

#include <fmt/format.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>

#include "storage/write/live_file.h"

namespace tidemark {

namespace {

/// Writes batches on a thread of its own, one at a time.
class WritingThread {
public:
    explicit WritingThread(LiveFile file) : file_(std::move(file)), thread_([this] { run(); }) {}
    ~WritingThread() { stop(); }
    WritingThread(const WritingThread&) = delete;
    WritingThread& operator=(const WritingThread&) = delete;

    bool is_idle() {
        const std::lock_guard lock(mutex_);
        return !batch_;
    }
    /// Only while idle.
    void hand_over(LiveBatch&& batch) {
        const std::lock_guard lock(mutex_);
        batch_ = std::make_unique<LiveBatch>(std::move(batch));
        changed_.notify_all();
    }
    Status status() {
        const std::lock_guard lock(mutex_);
        return status_;
    }
    /// Waits until everything handed over is written. The file may be used by the caller from here on.
    LiveFile& stop() {
        if (thread_.joinable()) {
            {
                const std::lock_guard lock(mutex_);
                stopping_ = true;
                changed_.notify_all();
            }
            thread_.join();
        }
        return file_;
    }

private:
    void run() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [&] { return batch_ || stopping_; });
            if (!batch_) {
                return;
            }
            const bool wanted = static_cast<bool>(status_);
            lock.unlock();
            Status written = wanted ? file_.write(*batch_) : Status();
            lock.lock();
            if (!written) {
                status_ = written;
            }
            batch_.reset();
        }
    }

    LiveFile file_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::unique_ptr<LiveBatch> batch_;
    Status status_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace

struct LiveWriter::State {
    struct Life {
        int64_t id = 0;
        AllocationRow row;
        bool is_written = false, is_touched = false, is_over = false;
    };
    struct Device {
        DeviceRow row;
        EventNumber peak_event = 0;
        int64_t preexisting = 0;
        uint32_t segments = 0;
        bool is_changed = true;
    };

    explicit State(LiveFile file) : writing(std::move(file)) {}

    Life& touch(LifeId id) {
        Life& life = lives[id];
        if (!life.is_touched) {
            life.is_touched = true;
            touched.push_back(id);
        }
        return life;
    }
    void collect_dictionaries();
    void collect_lives();
    void collect_devices();
    LiveBatch collect(int64_t complete_to);

    WritingThread writing;
    LiveBatch batch;
    StackTable stacks;
    uint32_t strings_told = 1, frames_told = 1, stacks_told = 1;
    std::unordered_map<uint64_t, uint32_t> streams;
    std::map<std::pair<int64_t, int64_t>, uint32_t> pools;
    uint32_t next_origin = 1;
    std::map<int, Device> devices;

    std::vector<Life> lives;  ///< by LifeId: those alive, and those that ended since the last commit
    std::vector<LifeId> unused, touched;
    std::unordered_map<int64_t, SegmentRow> segments;        ///< not removed yet, by row id
    std::unordered_map<int64_t, DriverRow> driver;           ///< not freed yet
    std::unordered_map<int64_t, AnnotationRow> annotations;  ///< not ended yet
    int64_t next_driver = 1, next_annotation = 1, next_mark = 1, next_scan = 1, next_holder = 1;
};

LiveWriter::LiveWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
LiveWriter::LiveWriter(LiveWriter&&) noexcept = default;
LiveWriter& LiveWriter::operator=(LiveWriter&&) noexcept = default;
LiveWriter::~LiveWriter() = default;

Result<LiveWriter> LiveWriter::create(const std::string& path, IfExists if_exists, const Trace& head) {
    auto file = LiveFile::create(path, if_exists);
    if (!file) {
        return file.error();
    }
    LiveBatch first;
    first.meta = {{"source", head.source},
                  {"writer", head.writer},
                  {"start_utc_ns", fmt::format("{}", head.start_utc_ns)},
                  {"clean_end", "0"}};
    for (const auto& [key, value] : head.settings) {
        first.meta.emplace_back("setting." + key, value);
    }
    TIDEMARK_TRY(file->write(first));
    return LiveWriter(std::make_unique<State>(*std::move(file)));
}

StackTable& LiveWriter::stacks() { return state_->stacks; }

uint32_t LiveWriter::stream(uint64_t handle) {
    const auto [entry, added] = state_->streams.try_emplace(handle, static_cast<uint32_t>(state_->streams.size()));
    if (added) {
        state_->batch.streams.push_back({entry->second, {handle, ""}});
    }
    return entry->second;
}

uint32_t LiveWriter::pool(int64_t owner_first, int64_t owner_second) {
    const auto [entry, added] =
        state_->pools.try_emplace({owner_first, owner_second}, static_cast<uint32_t>(state_->pools.size()));
    if (added) {
        state_->batch.pools.push_back({entry->second, {{owner_first, owner_second}}});
    }
    return entry->second;
}

uint32_t LiveWriter::origin(const OriginRow& origin) {
    origin_changed(state_->next_origin, origin);
    return state_->next_origin++;
}

void LiveWriter::origin_changed(uint32_t id, const OriginRow& origin) {
    state_->batch.origins.emplace_back(id, origin);
}

void LiveWriter::setting(const std::string& key, const std::string& json_value) { meta("setting." + key, json_value); }

void LiveWriter::meta(const std::string& key, const std::string& value) { state_->batch.meta.emplace_back(key, value); }

void LiveWriter::device(int device, const std::string& name, int64_t total_bytes, const std::string& uuid) {
    auto& known = state_->devices[device];
    known.row.name = name;
    known.row.total_bytes = total_bytes;
    known.row.uuid = uuid;
    known.is_changed = true;
}

void LiveWriter::process(const Process& process) { state_->batch.processes.emplace_back(1, process); }

LiveWriter::LifeId LiveWriter::born(int device, const AllocationRow& row) {
    auto& known = state_->devices[device];
    LifeId id = static_cast<LifeId>(state_->lives.size());
    if (state_->unused.empty()) {
        state_->lives.emplace_back();
    } else {
        id = state_->unused.back();
        state_->unused.pop_back();
    }
    const bool is_old = row.life.alloc_event == before_history;
    state_->lives[id] = {is_old ? preexisting_id(device, known.preexisting++) : event_id(device, row.life.alloc_event),
                         row};
    state_->touch(id);
    return id;
}

void LiveWriter::free_requested(LifeId life, EventNumber event, int64_t time, StackId stack) {
    AllocationRow& row = state_->touch(life).row;
    row.life.free_event = event;
    row.life.free_stack = stack;
    row.free_time = time;
}

void LiveWriter::free_completed(LifeId life, EventNumber event, int64_t time) {
    auto& ending = state_->touch(life);
    ending.row.life.done_event = event;
    ending.row.done_time = time;
    ending.is_over = true;
}

int64_t LiveWriter::row_id(LifeId life) const { return state_->lives[life].id; }
EventNumber LiveWriter::alloc_event(LifeId life) const { return state_->lives[life].row.life.alloc_event; }
EventNumber LiveWriter::free_event(LifeId life) const { return state_->lives[life].row.life.free_event; }

uint32_t LiveWriter::segment_added(int device, const Segment& segment, int64_t time) {
    const uint32_t position = state_->devices[device].segments++;
    const int64_t id = LiveFile::segment_id(device, position);
    const SegmentRow row{device, segment, time, 0};
    state_->segments.emplace(id, row);
    state_->batch.segments.emplace_back(id, row);
    return position;
}

void LiveWriter::segment_removed(int device, uint32_t position, EventNumber event, int64_t time, StackId stack) {
    const auto found = state_->segments.find(LiveFile::segment_id(device, position));
    if (found == state_->segments.end()) {
        return;
    }
    found->second.segment.free_event = event;
    found->second.segment.free_stack = stack;
    found->second.free_time = time;
    state_->batch.segments.emplace_back(*found);
    state_->segments.erase(found);
}

void LiveWriter::other_event(int device, const OtherEvent& event, int64_t time, uint32_t origin) {
    state_->batch.events.push_back({device, event, time, origin});
}

int64_t LiveWriter::driver_allocated(const DriverAllocation& allocation, uint32_t segment) {
    const int64_t id = state_->next_driver++;
    DriverRow row{allocation, state_->stacks.intern(allocation.source), 0};
    row.segment = segment == no_segment ? 0 : LiveFile::segment_id(allocation.device, segment);
    state_->batch.driver.emplace_back(id, row);
    state_->driver.emplace(id, std::move(row));
    return id;
}

void LiveWriter::driver_in_segment(int64_t id, uint32_t segment) {
    if (const auto found = state_->driver.find(id); found != state_->driver.end()) {
        found->second.segment = LiveFile::segment_id(found->second.allocation.device, segment);
        state_->batch.driver.emplace_back(*found);
    }
}

void LiveWriter::driver_freed(int64_t id, int64_t time) {
    if (const auto found = state_->driver.find(id); found != state_->driver.end()) {
        found->second.allocation.free_time = time;
        state_->batch.driver.emplace_back(*found);
        state_->driver.erase(found);
    }
}

void LiveWriter::sample(const Sample& sample) { state_->batch.samples.push_back(sample); }

int64_t LiveWriter::annotation_begun(const Annotation& annotation, int64_t thread) {
    const int64_t id = state_->next_annotation++;
    state_->batch.annotations.push_back({id, {annotation, thread}});
    state_->annotations.emplace(id, AnnotationRow{annotation, thread});
    return id;
}

void LiveWriter::annotation_ended(int64_t id, int64_t end) {
    if (const auto found = state_->annotations.find(id); found != state_->annotations.end()) {
        found->second.annotation.end = end;
        found->second.annotation.closed = true;
        state_->batch.annotations.emplace_back(*found);
        state_->annotations.erase(found);
    }
}

void LiveWriter::step(const Step& step) { state_->batch.steps.emplace_back(step.number + 1, step); }

void LiveWriter::drop_steps() {
    state_->batch.steps.clear();
    state_->batch.drop_steps = true;
}

void LiveWriter::mark(const Mark& mark) { state_->batch.marks.emplace_back(state_->next_mark++, mark); }

void LiveWriter::loss(const Loss& loss) { state_->batch.losses.push_back(loss); }

void LiveWriter::node(int64_t id, const NodeRow& row) { state_->batch.nodes.emplace_back(id, row); }

void LiveWriter::edge(int64_t node, const EdgeRow& row) { state_->batch.edges.emplace_back(node, row); }

void LiveWriter::saved_tensor(int64_t node, const SavedTensorRow& row) { state_->batch.saved.emplace_back(node, row); }

void LiveWriter::node_changed(int64_t id, const NodeRow& row) { state_->batch.changed_nodes.emplace_back(id, row); }

void LiveWriter::category(const CategoryRow& row) { state_->batch.categories.push_back(row); }

int64_t LiveWriter::holder_scan(const HolderScan& scan) {
    state_->batch.scans.emplace_back(state_->next_scan, scan);
    return state_->next_scan++;
}

void LiveWriter::holder(int64_t scan, int64_t node, int64_t allocation, std::span<const HolderLinkRow> links) {
    LiveBatch::Holder holder{state_->next_holder++, scan, node, allocation, {}};
    for (const HolderLinkRow& link : links) {
        holder.links.push_back({std::string(link.kind), link.name, link.function, link.file, link.line});
    }
    state_->batch.holders.push_back(std::move(holder));
}

void LiveWriter::progress_of(int device, EventNumber events, EventNumber peak_event) {
    auto& known = state_->devices[device];
    known.is_changed |= known.row.events != events || known.peak_event != peak_event;
    known.row.events = events;
    known.peak_event = peak_event;
}

void LiveWriter::State::collect_dictionaries() {
    for (; strings_told < stacks.string_count(); ++strings_told) {
        batch.strings.emplace_back(strings_told, stacks.string(strings_told));
    }
    for (; frames_told < stacks.frame_count(); ++frames_told) {
        batch.frames.emplace_back(frames_told, stacks.frame(frames_told));
    }
    for (; stacks_told < stacks.stack_count(); ++stacks_told) {
        batch.stacks.emplace_back(stacks_told, stacks.stack(stacks_told));
    }
}

void LiveWriter::State::collect_lives() {
    for (const LifeId id : touched) {
        Life& life = lives[id];
        (life.is_written ? batch.ended : batch.born).emplace_back(life.id, life.row);
        life.is_written = true;
        life.is_touched = false;
        if (life.is_over) {
            unused.push_back(id);
        }
    }
    touched.clear();
}

void LiveWriter::State::collect_devices() {
    for (auto& [id, device] : devices) {
        if (device.is_changed) {
            batch.devices.emplace_back(id, device.row);
            batch.meta.emplace_back(fmt::format("peak_event.{}", id), fmt::format("{}", device.peak_event));
            device.is_changed = false;
        }
    }
}

LiveBatch LiveWriter::State::collect(int64_t complete_to) {
    collect_dictionaries();
    collect_lives();
    collect_devices();
    batch.meta.emplace_back("committed_time_ns", fmt::format("{}", complete_to));
    return std::exchange(batch, {});
}

Status LiveWriter::commit(int64_t complete_to) {
    if (state_->writing.is_idle()) {
        TIDEMARK_TRY(state_->writing.status());
        state_->writing.hand_over(state_->collect(complete_to));
    }
    return {};
}

Status LiveWriter::finish(int64_t duration, bool clean_end) {
    LiveFile& file = state_->writing.stop();
    TIDEMARK_TRY(state_->writing.status());
    meta("duration_ns", fmt::format("{}", duration));
    LiveBatch last = state_->collect(duration);
    TIDEMARK_TRY(file.write(last));
    std::vector<int> devices;
    for (const auto& [id, device] : state_->devices) {
        devices.push_back(id);
    }
    return file.finish(devices, clean_end);
}

size_t LiveWriter::pending_bytes() const {
    const LiveBatch& b = state_->batch;
    return state_->touched.size() * sizeof(State::Life) + b.events.size() * sizeof(LiveBatch::Event) +
           b.segments.size() * sizeof(SegmentRow) + b.driver.size() * sizeof(DriverRow) +
           b.annotations.size() * sizeof(AnnotationRow) + b.samples.size() * sizeof(Sample) +
           (b.nodes.size() + b.changed_nodes.size()) * sizeof(NodeRow) + b.edges.size() * sizeof(EdgeRow) +
           b.saved.size() * sizeof(SavedTensorRow) + b.categories.size() * sizeof(CategoryRow) +
           b.holders.size() * (sizeof(LiveBatch::Holder) + 8 * sizeof(LiveBatch::Link));
}

}  // namespace tidemark
