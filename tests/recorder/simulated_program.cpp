#include "tests/recorder/simulated_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <thread>
#include <utility>

extern char** environ;

namespace tidemark::test {

namespace {

using recorder::RecorderState;
using recorder::RegionHeader;
using recorder::RingHeader;
using recorder::RingState;

const AllocatorSettings settings;
constexpr uint64_t small_part = 2 << 20, large_part = 20 << 20;

}  // namespace

tidemark_record record_of(int kind, int detail) {
    tidemark_record record{};
    record.kind = static_cast<uint8_t>(kind);
    record.detail = static_cast<uint8_t>(detail);
    return record;
}

SimulatedProgram::SimulatedProgram(const Setup& setup) {
    bytes_ = recorder::region_bytes(setup.rings, setup.capacity);
    file_ = memfd_create("simulated", MFD_CLOEXEC);
    if (ftruncate(file_, static_cast<off_t>(bytes_)) != 0) {
        std::abort();
    }
    void* base = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
    if (base == MAP_FAILED) {
        std::abort();
    }
    region_.base = static_cast<std::byte*>(base);
    auto* header = new (base) RegionHeader;
    header->ring_count = setup.rings;
    header->ring_capacity = setup.capacity;
    header->program_pid = getpid();
    for (uint32_t i = 0; i < setup.rings; ++i) {
        new (&region_.ring(i)) RingHeader;
    }
}

SimulatedProgram::~SimulatedProgram() {
    munmap(region_.base, bytes_);
    close(file_);
}

bool SimulatedProgram::start_recorder(const std::string& output, pid_t pid, const std::string& session, bool replace) {
    const char* program = std::getenv("TIDEMARK_RECORDER");
    std::vector<std::string> words{
        program ? program : "tidemark-recorder", "--region", "9", "--output", output, "--pid", std::to_string(pid)};
    if (!session.empty()) {
        words.insert(words.end(), {"--session", session});
    }
    if (replace) {
        words.emplace_back("--replace");
    }
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, file_, 9);
    pid_t child = -1;
    const int failure = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure != 0) {
        return false;
    }
    waitpid(child, nullptr, 0);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (region_.header().recorder_state.load() == RecorderState::starting &&
           std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return region_.header().recorder_state.load() == RecorderState::ready;
}

bool SimulatedProgram::wait_for(RecorderState state, int seconds) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    while (region_.header().recorder_state.load() != state) {
        if (std::chrono::steady_clock::now() >= deadline) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

pid_t SimulatedProgram::recorder_pid(const std::string& output) const {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        std::ifstream file(entry.path() / "cmdline", std::ios::binary);
        std::string words((std::istreambuf_iterator<char>(file)), {});
        if (words.find("tidemark-recorder") != std::string::npos && words.find(output + '\0') != std::string::npos) {
            return std::atoi(entry.path().filename().c_str());
        }
    }
    return -1;
}

SimulatedThread::SimulatedThread(SimulatedProgram& program, uint16_t serial, int64_t native_thread)
    : program_(program), header_(nullptr), slots_(nullptr) {
    const recorder::Region& region = program.region();
    for (uint32_t i = 0; i < region.header().ring_count; ++i) {
        RingState expected = RingState::free;
        if (region.ring(i).state.compare_exchange_strong(expected, RingState::in_use)) {
            header_ = &region.ring(i);
            slots_ = region.slots(i);
            header_->serial = serial;
            header_->native_thread = native_thread;
            return;
        }
    }
    std::abort();
}

void SimulatedThread::retire() { header_->state.store(RingState::retired, std::memory_order_release); }

bool SimulatedThread::push(tidemark_record record, const void* payload, uint32_t bytes, int64_t patience) {
    record.extra = static_cast<uint16_t>((bytes + sizeof record - 1) / sizeof record);
    record.bytes = bytes;
    record.ticks = recorder::ticks();
    const uint64_t capacity = program_.region().header().ring_capacity;
    for (int64_t tries = 0; !recorder::try_push(*header_, slots_, capacity, record, payload); ++tries) {
        const auto state = program_.region().header().recorder_state.load();
        if (tries == patience || state == RecorderState::failed || state == RecorderState::finished) {
            header_->dropped.fetch_add(1);
            return false;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return true;
}

uint32_t SimulatedThread::text(const std::string& text) {
    const auto [entry, added] = texts_.try_emplace(text, next_text_);
    if (added) {
        tidemark_record record = record_of(TIDEMARK_TEXT);
        record.define.id = next_text_++;
        push(record, text.data(), static_cast<uint32_t>(text.size()));
    }
    return entry->second;
}

uint32_t SimulatedThread::stack(const std::vector<std::pair<std::string, int>>& functions_and_lines, uint64_t module) {
    std::vector<tidemark_frame> frames;
    for (const auto& [function, line] : functions_and_lines) {
        frames.push_back({text(function), text("/home/anna/train.py"), static_cast<uint32_t>(line), 0, 0});
    }
    frames.front().module = module;
    tidemark_record record = record_of(TIDEMARK_STACK);
    record.define.id = next_stack_;
    push(record, frames.data(), static_cast<uint32_t>(frames.size() * sizeof(tidemark_frame)));
    return next_stack_++;
}

uint32_t SimulatedThread::op(uint8_t scope, const std::string& name, uint32_t parent) {
    tidemark_record record = record_of(TIDEMARK_OP, scope);
    record.define.text = text(name);
    record.define.parent = parent;
    record.define.id = next_op_;
    push(record);
    return next_op_++;
}

void SimulatedThread::name_module(uint64_t address, const std::string& name) {
    tidemark_record record = record_of(TIDEMARK_MODULE);
    record.define.address = address;
    push(record, name.data(), static_cast<uint32_t>(name.size()));
}

void SimulatedThread::meta(const std::string& key, const std::string& value) {
    const std::string payload = key + '\0' + value;
    push(record_of(TIDEMARK_META), payload.data(), static_cast<uint32_t>(payload.size()));
}

void SimulatedThread::device(int index, const std::string& name, uint64_t total) {
    tidemark_record record = record_of(TIDEMARK_DEVICE);
    record.device.device = static_cast<uint32_t>(index);
    record.device.total_bytes = total;
    const std::string payload = name + '\0' + "00000000:01:00.0" + '\0' + "GPU-1";
    push(record, payload.data(), static_cast<uint32_t>(payload.size()));
}

void SimulatedThread::step(uint64_t number, bool reported) {
    tidemark_record record = record_of(TIDEMARK_STEP, reported ? 1 : 0);
    record.step.number = number;
    push(record);
}

void SimulatedThread::end(uint8_t how, const std::string& sentence) {
    push(record_of(TIDEMARK_END, how), sentence.data(), static_cast<uint32_t>(sentence.size()));
}

void SimulatedThread::node(const NodeMessage& node) {
    tidemark_record record = record_of(TIDEMARK_NODE);
    record.node.number = node.number;
    record.node.address = node.output.address;
    record.node.sequence = node.output.sequence;
    record.node.device = node.output.device;
    record.node.id = node.id;
    record.node.type = text(node.type);
    record.node.stack = node.stack;
    record.node.stack_thread = node.stack_thread;
    record.node.op = node.op;
    record.node.edges = static_cast<uint16_t>(node.edges.size());
    record.node.saved = static_cast<uint16_t>(node.saved.size());
    record.node.flags = node.flags;
    const size_t edge_bytes = node.edges.size() * sizeof(tidemark_edge);
    const size_t saved_bytes = node.saved.size() * sizeof(tidemark_saved);
    std::string payload(reinterpret_cast<const char*>(node.edges.data()), edge_bytes);
    payload.append(reinterpret_cast<const char*>(node.saved.data()), saved_bytes);
    push(record, payload.data(), static_cast<uint32_t>(payload.size()));
}

tidemark_saved SimulatedThread::saved(const std::string& name, const MemoryMessage& memory, uint64_t bytes) {
    tidemark_saved saved{};
    saved.address = memory.address;
    saved.device = memory.device;
    saved.bytes = bytes;
    saved.name = text(name);
    return saved;
}

void SimulatedThread::node_run(uint32_t id, bool released, const MemoryMessage& gradient) {
    tidemark_record record = record_of(TIDEMARK_NODE_RUN, released ? 1 : 0);
    record.node_run.id = id;
    record.node_run.address = gradient.address;
    record.node_run.sequence = gradient.sequence;
    record.node_run.device = gradient.device;
    push(record);
}

void SimulatedThread::node_destroyed(uint32_t id) {
    tidemark_record record = record_of(TIDEMARK_NODE_DESTROYED);
    record.node_destroyed.id = id;
    push(record);
}

void SimulatedThread::label(uint8_t category, const MemoryMessage& memory, const std::string& name, uint64_t identity) {
    tidemark_record record = record_of(TIDEMARK_LABEL, category);
    record.label.address = memory.address;
    record.label.sequence = memory.sequence;
    record.label.device = memory.device;
    record.label.identity = identity;
    record.label.name = name.empty() ? 0 : text(name);
    push(record);
}

void SimulatedThread::heap_scan(const std::string& reason, uint64_t objects, uint64_t tensors) {
    tidemark_record record = record_of(TIDEMARK_HEAP_SCAN);
    record.heap_scan.duration_ns = 5'000'000;
    record.heap_scan.objects = objects;
    record.heap_scan.tensors = tensors;
    push(record, reason.data(), static_cast<uint32_t>(reason.size()));
}

void SimulatedThread::referrer(uint32_t node, const MemoryMessage& memory, const std::vector<PathLinkMessage>& links) {
    tidemark_record record = record_of(TIDEMARK_REFERRER);
    record.referrer.node = node;
    record.referrer.address = memory.address;
    record.referrer.sequence = memory.sequence;
    record.referrer.device = memory.device;
    std::string payload;
    for (const PathLinkMessage& link : links) {
        for (const std::string& text : {link.kind, link.name, link.function, link.file, std::to_string(link.line)}) {
            payload += text + '\0';
        }
    }
    push(record, payload.data(), static_cast<uint32_t>(payload.size()));
}

MemoryMessage SimulatedAllocator::memory(uint64_t address) const {
    const std::lock_guard lock(mutex_);
    return {static_cast<uint8_t>(device_), address, next_};
}

int64_t SimulatedAllocator::allocation_id(uint64_t address) const {
    const std::lock_guard lock(mutex_);
    return event_id(device_, lifetimes_[open_.at(address)].alloc_event);
}

void SimulatedAllocator::emit(SimulatedThread& thread, Action action, uint64_t address, uint64_t size,
                              const EventContext& context) {
    if (!recording_) {
        return;
    }
    tidemark_record record = record_of(TIDEMARK_EVENT, static_cast<uint8_t>(action));
    record.event.sequence = next_++;
    record.event.address = address;
    record.event.size = size;
    record.event.stack = context.stack;
    record.event.stack_thread = context.stack_thread;
    record.event.op = context.op;
    record.event.phase = context.phase;
    record.event.device = static_cast<uint8_t>(device_);
    dropped_ += !thread.push(record, nullptr, 0, patience_);
}

uint64_t SimulatedAllocator::new_segment(SimulatedThread& thread, uint64_t rounded, bool is_large) {
    const uint64_t part = is_large ? large_part : small_part;
    const uint64_t size = expandable_ || rounded <= part || !is_large
                              ? (rounded + part - 1) / part * part
                              : (rounded + small_part - 1) / small_part * small_part;
    const uint64_t address = next_address_;
    next_address_ += size + (uint64_t{1} << 30);
    const Action action = expandable_ ? Action::segment_map : Action::segment_alloc;
    Segment row;
    row.address = address;
    row.size = size;
    row.is_large = is_large;
    row.is_expandable = expandable_;
    row.alloc_event = recording_ ? static_cast<EventNumber>(next_) : before_history;
    segments_[address] = {size, is_large, static_cast<uint32_t>(rows_.size())};
    rows_.push_back(row);
    emit(thread, action, address, size, {});
    blocks_[address] = {size, 0, 0, address};
    free_[is_large].emplace(size, address);
    return address;
}

uint64_t SimulatedAllocator::allocate(SimulatedThread& thread, uint64_t bytes, const EventContext& context) {
    const std::lock_guard lock(mutex_);
    const uint64_t rounded = round_size(settings, bytes);
    const bool is_large = rounded > small_size;
    auto& pool = free_[is_large];
    auto found = pool.lower_bound(rounded);
    if (found == pool.end()) {
        new_segment(thread, rounded, is_large);
        found = pool.lower_bound(rounded);
    }
    const uint64_t address = found->second;
    pool.erase(found);
    Block& block = blocks_[address];
    if (should_split(settings, rounded, block.size - rounded, is_large, expandable_) && block.size > rounded) {
        blocks_[address + rounded] = {block.size - rounded, 0, 0, block.segment};
        pool.emplace(block.size - rounded, address + rounded);
        block.size = rounded;
    }
    block.state = 1;
    block.requested = bytes;
    Allocation lifetime;
    lifetime.alloc_event = recording_ ? static_cast<EventNumber>(next_) : before_history;
    lifetime.address = address;
    lifetime.requested = bytes;
    lifetime.block_size = block.size;
    lifetime.segment = segments_[block.segment].index;
    open_[address] = lifetimes_.size();
    lifetimes_.push_back(lifetime);
    allocated_ += block.size;
    peak_ = std::max(peak_, allocated_);
    emit(thread, Action::alloc, address, bytes, context);
    return address;
}

void SimulatedAllocator::free(SimulatedThread& thread, uint64_t address, bool at_once, const EventContext& context) {
    {
        const std::lock_guard lock(mutex_);
        Block& block = blocks_[address];
        block.state = 2;
        allocated_ -= block.size;
        lifetimes_[open_[address]].free_event = recording_ ? static_cast<EventNumber>(next_) : before_history;
        emit(thread, Action::free_requested, address, block.requested, context);
    }
    if (at_once) {
        complete_free(thread, address);
    }
}

void SimulatedAllocator::complete_free(SimulatedThread& thread, uint64_t address) {
    const std::lock_guard lock(mutex_);
    const auto block = blocks_.find(address);
    lifetimes_[open_[address]].free_completed = recording_ ? static_cast<EventNumber>(next_) : before_history;
    open_.erase(address);
    emit(thread, Action::free_completed, address, block->second.requested, {});
    merge(block);
}

void SimulatedAllocator::merge(std::map<uint64_t, Block>::iterator block) {
    block->second.state = 0;
    block->second.requested = 0;
    auto& pool = free_[segments_[block->second.segment].is_large];
    const auto take_out = [&](std::map<uint64_t, Block>::iterator b) {
        auto [at, end] = pool.equal_range(b->second.size);
        pool.erase(std::find_if(at, end, [&](const auto& entry) { return entry.second == b->first; }));
    };
    if (const auto next = std::next(block);
        next != blocks_.end() && next->second.state == 0 && next->second.segment == block->second.segment) {
        take_out(next);
        block->second.size += next->second.size;
        blocks_.erase(next);
    }
    if (block != blocks_.begin()) {
        const auto before = std::prev(block);
        if (before->second.state == 0 && before->second.segment == block->second.segment) {
            take_out(before);
            before->second.size += block->second.size;
            blocks_.erase(block);
            block = before;
        }
    }
    pool.emplace(block->second.size, block->first);
}

void SimulatedAllocator::empty_cache(SimulatedThread& thread) {
    const std::lock_guard lock(mutex_);
    for (auto segment = segments_.begin(); segment != segments_.end();) {
        const auto block = blocks_.find(segment->first);
        if (block->second.state != 0 || block->second.size != segment->second.size) {
            ++segment;
            continue;
        }
        auto& pool = free_[segment->second.is_large];
        auto [at, end] = pool.equal_range(block->second.size);
        pool.erase(std::find_if(at, end, [&](const auto& entry) { return entry.second == block->first; }));
        rows_[segment->second.index].free_event = static_cast<EventNumber>(next_);
        emit(thread, expandable_ ? Action::segment_unmap : Action::segment_free, segment->first, segment->second.size,
             {});
        blocks_.erase(block);
        segment = segments_.erase(segment);
    }
}

void SimulatedAllocator::report_state(SimulatedThread& thread, uint8_t purpose) { report(thread, purpose, 0); }
void SimulatedAllocator::report_wrong_state(SimulatedThread& thread) { report(thread, TIDEMARK_STATE_CHECK, 512); }

void SimulatedAllocator::report(SimulatedThread& thread, uint8_t purpose, uint64_t lie) {
    const std::lock_guard lock(mutex_);
    const auto part = [&](uint8_t detail) {
        tidemark_record record = record_of(TIDEMARK_STATE, detail);
        record.state.device = static_cast<uint8_t>(device_);
        return record;
    };
    tidemark_record begin = part(TIDEMARK_STATE_BEGIN);
    begin.state.sequence = next_;
    begin.state.flags = purpose;
    thread.push(begin);
    for (const auto& [address, segment] : segments_) {
        tidemark_record record = part(TIDEMARK_STATE_SEGMENT);
        record.state.address = address;
        record.state.size = segment.size;
        record.state.flags = static_cast<uint8_t>((segment.is_large ? TIDEMARK_SEGMENT_LARGE : 0) |
                                                  (expandable_ ? TIDEMARK_SEGMENT_EXPANDABLE : 0));
        thread.push(record);
    }
    for (const auto& [address, block] : blocks_) {
        if (block.state == 0) {
            continue;
        }
        tidemark_record record = part(TIDEMARK_STATE_BLOCK);
        record.state.address = address;
        record.state.size = block.size;
        record.state.requested = block.requested - std::exchange(lie, 0);
        record.state.flags = block.state == 1 ? TIDEMARK_BLOCK_ALLOCATED : TIDEMARK_BLOCK_PENDING;
        thread.push(record);
    }
    thread.push(part(TIDEMARK_STATE_END));
    if (purpose == TIDEMARK_STATE_START) {
        recording_ = true;
        peak_ = allocated_;
    }
}

DeviceHistory SimulatedAllocator::truth() const {
    const std::lock_guard lock(mutex_);
    DeviceHistory history;
    history.device = device_;
    // What had come and gone before the recording is not part of it; the rest is in the order of a trace.
    std::vector<Allocation> lifetimes;
    for (const Allocation& lifetime : lifetimes_) {
        if (lifetime.free_completed != before_history) {
            lifetimes.push_back(lifetime);
        }
    }
    std::stable_sort(lifetimes.begin(), lifetimes.end(), [](const Allocation& a, const Allocation& b) {
        const bool both_old = a.alloc_event == before_history && b.alloc_event == before_history;
        return both_old ? a.address < b.address : a.alloc_event < b.alloc_event;
    });
    for (const Allocation& lifetime : lifetimes) {
        history.allocations.push_back(lifetime);
    }
    history.segments = rows_;
    return history;
}

Traffic::Traffic(SimulatedAllocator& allocator, SimulatedThread& thread, uint32_t seed)
    : allocator_(allocator), thread_(thread), random_(seed) {
    for (int i = 0; i < 20; ++i) {
        stacks_.push_back(thread_.stack({{"forward", 10 + i}, {"train", 3}, {"<module>", 90}}));
    }
    for (const char* name : {"aten::linear", "aten::add", "aten::softmax", "aten::empty"}) {
        const uint32_t outer = thread_.op(TIDEMARK_SCOPE_OP, name, 0);
        ops_.push_back(outer);
        ops_.push_back(thread_.op(TIDEMARK_SCOPE_OP, "aten::empty", outer));
    }
}

EventContext Traffic::context() {
    return {stacks_[random_() % stacks_.size()], ops_[random_() % ops_.size()], 0,
            static_cast<uint8_t>(1 + random_() % 3)};
}

void Traffic::run(int64_t allocations) {
    for (int64_t i = 0; i < allocations; ++i) {
        const uint64_t bytes = 1 + (random_() % 8 == 0 ? random_() % (24 << 20) : random_() % (600 << 10));
        mine_.push_back(allocator_.allocate(thread_, bytes, context()));
        while (mine_.size() > 200 || (!mine_.empty() && random_() % 3 == 0)) {
            const size_t selected = random_() % mine_.size();
            const uint64_t address = mine_[selected];
            mine_[selected] = mine_.back();
            mine_.pop_back();
            const bool at_once = random_() % 16 != 0;
            allocator_.free(thread_, address, at_once, context());
            if (!at_once) {
                pending_.push_back(address);
            }
        }
        if (pending_.size() > 5) {
            for (const uint64_t address : pending_) {
                allocator_.complete_free(thread_, address);
            }
            pending_.clear();
        }
    }
}

void Traffic::free_all() {
    for (const uint64_t address : mine_) {
        allocator_.free(thread_, address, true, context());
    }
    for (const uint64_t address : pending_) {
        allocator_.complete_free(thread_, address);
    }
    mine_.clear();
    pending_.clear();
}

}  // namespace tidemark::test
