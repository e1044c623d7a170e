// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

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

}  // namespace

tidemark_record record_of(int kind, int detail) {
    tidemark_record record{};
    record.kind = static_cast<uint8_t>(kind);
    record.detail = static_cast<uint8_t>(detail);
    return record;
}

SimulatedProgram::SimulatedProgram(const Setup& setup) {
    bytes_ = recorder::region_bytes(setup.rings, setup.capacity);
    file_ = memfd_create("simulated", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (ftruncate(file_, static_cast<off_t>(bytes_)) != 0 || fcntl(file_, F_ADD_SEALS, setup.seals) != 0) {
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

bool SimulatedProgram::start_recorder(const std::string& output, pid_t pid, const std::string& session, bool replace,
                                      int patience_s, bool claims_name) {
    const char* program = std::getenv("TIDEMARK_RECORDER");
    std::vector<std::string> words{
        program ? program : "tidemark-recorder", "--region", "9", "--output", output, "--pid", std::to_string(pid)};
    if (!session.empty()) {
        words.insert(words.end(), {"--session", session});
    }
    if (replace) {
        words.emplace_back("--force");
    }
    if (claims_name) {
        words.emplace_back("--claim-name");
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
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(patience_s);
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

uint32_t SimulatedThread::stack(const std::vector<std::pair<std::string, int>>& functions_and_lines, uint64_t module,
                                const std::string& file) {
    std::vector<tidemark_frame> frames;
    for (const auto& [function, line] : functions_and_lines) {
        frames.push_back({text(function), text(file), static_cast<uint32_t>(line), 0, 0});
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

}  // namespace tidemark::test
