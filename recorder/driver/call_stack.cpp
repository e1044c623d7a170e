// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/driver/call_stack.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "recorder/core/per_thread.h"

namespace tidemark::recorder {
namespace {

constexpr int deepest = 96;  // CUPTI, driver and runtime together take about 15

/// The runtimes of sanitizers lie between a sanitized program and the functions it calls.
constexpr std::array<std::string_view, 10> ignored_objects{"libcuda.so", "libcudart", "libcupti",      "libtidemark",
                                                           "libnvidia-", "libc.so",   "libpthread.so", "ld-linux",
                                                           "libasan.so", "libtsan.so"};

/// The code at a return address.
struct Code {
    const std::string* object = nullptr;  ///< path of its file; nullptr: left out
    uint64_t offset = 0;                  ///< of the call, as in the file's symbol table
};

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_ignored(std::string_view path) {
    const std::string_view name = base_name(path);
    return name.empty() || std::any_of(ignored_objects.begin(), ignored_objects.end(),
                                       [&](std::string_view ignored) { return name.starts_with(ignored); });
}

/// Returns the file name of a library, or the package of a Python extension: many are named "runtime".
std::string_view source_name(std::string_view path) {
    const std::string_view name = base_name(path);
    const size_t packages = path.find("-packages/");
    if (packages == path.npos || (name.find(".cpython-") == name.npos && name.find(".abi3.") == name.npos)) {
        return name;
    }
    const std::string_view package = path.substr(packages + std::string_view("-packages/").size());
    return package.substr(0, package.find('/'));
}

std::string path_of_program() {
    std::array<char, PATH_MAX> path;
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    return length <= 0 ? "" : std::string(path.data(), static_cast<size_t>(length));
}

std::string path_of(const link_map& object) {
    return object.l_name == nullptr || *object.l_name == '\0' ? path_of_program() : object.l_name;
}

}  // namespace

/// What a thread knows of the stacks that it has read.
struct CallStack::Thread {
    CallStack current;
    std::array<void*, deepest> addresses{};
    int depth = 0;
    std::unordered_map<const void*, Code> code;
    std::unordered_map<const link_map*, std::string> objects;  ///< paths; empty: ignored
    const tidemark_ring* ring = nullptr;
    int recording = 0;
    uint16_t serial = 0;
    std::unordered_map<uint64_t, uint32_t> ids;  ///< of stacks, in that ring

    Code code_at(const void* address);
    const std::string& object(const link_map& loaded);
    std::span<void* const> stack() const { return {addresses.data(), static_cast<size_t>(depth)}; }
    void belong_to(const tidemark_api& core, const tidemark_ring* now);
};

const std::string& CallStack::Thread::object(const link_map& loaded) {
    const auto [entry, is_new] = objects.try_emplace(&loaded);
    if (is_new) {
        std::string path = path_of(loaded);
        entry->second = is_ignored(path) ? std::string() : std::move(path);
    }
    return entry->second;
}

Code CallStack::Thread::code_at(const void* address) {
    const auto [entry, is_new] = code.try_emplace(address);
    Dl_info info{};
    link_map* loaded = nullptr;
    // The address is that after the call, which may belong to the next function.
    const auto* call = static_cast<const char*>(address) - 1;
    if (is_new && dladdr1(call, &info, reinterpret_cast<void**>(&loaded), RTLD_DL_LINKMAP) != 0 && loaded != nullptr) {
        const std::string& path = object(*loaded);
        entry->second = {path.empty() ? nullptr : &path, reinterpret_cast<uint64_t>(call) - loaded->l_addr};
    }
    return entry->second;
}

/// Forgets the ids of another ring.
void CallStack::Thread::belong_to(const tidemark_api& core, const tidemark_ring* now) {
    const int number = core.recording();
    if (ring != now || serial != now->serial || recording != number) {
        ids.clear();
        ring = now;
        serial = now->serial;
        recording = number;
    }
}

CallStack::Thread& CallStack::thread() { return PerThread<Thread>::here(); }

const CallStack& CallStack::here() {
    Thread& thread = CallStack::thread();
    thread.depth = std::max(0, backtrace(thread.addresses.data(), deepest));
    CallStack& stack = thread.current;
    stack.key_ = 0;
    stack.source_.clear();
    for (void* address : thread.stack()) {
        const Code code = thread.code_at(address);
        if (code.object != nullptr) {
            stack.key_ = (stack.key_ ^ reinterpret_cast<uint64_t>(address)) * 0x9e3779b97f4a7c15u;
            if (stack.source_.empty()) {
                stack.source_ = source_name(*code.object);
            }
        }
    }
    return stack;
}

uint32_t CallStack::id(const tidemark_api& core, tidemark_ring* ring) const {
    Thread& thread = CallStack::thread();
    thread.belong_to(core, ring);
    if (key_ == 0) {
        return 0;
    }
    if (const auto known = thread.ids.find(key_); known != thread.ids.end()) {
        return known->second;
    }
    std::vector<tidemark_frame> frames;
    for (void* address : thread.stack()) {
        const Code code = thread.code_at(address);
        if (code.object != nullptr) {
            frames.push_back({0, core.text(ring, code.object->data(), code.object->size()), 0, 0, code.offset});
        }
    }
    tidemark_record record{};
    record.kind = TIDEMARK_STACK;
    record.define.id = TIDEMARK_NATIVE_STACK | static_cast<uint32_t>(thread.ids.size() + 1);
    const auto bytes = static_cast<uint32_t>(frames.size() * sizeof(tidemark_frame));
    if (core.push(ring, &record, frames.data(), bytes) == 0) {
        return 0;
    }
    return thread.ids[key_] = record.define.id;
}

void prepare_call_stacks() {
    std::array<void*, 1> frame;
    backtrace(frame.data(), 1);
}

}  // namespace tidemark::recorder
