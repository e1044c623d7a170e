// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/driver/call_source.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tidemark::recorder {
namespace {

constexpr int deepest = 32;  // CUPTI, driver and runtime together take about 15

/// The runtimes of sanitizers lie between a sanitized program and the functions it calls.
constexpr std::array<std::string_view, 10> ignored_objects{"libcuda.so", "libcudart", "libcupti",      "libtidemark",
                                                           "libnvidia-", "libc.so",   "libpthread.so", "ld-linux",
                                                           "libasan.so", "libtsan.so"};

std::string_view object_of(const void* code) {
    Dl_info info{};
    if (dladdr(code, &info) == 0 || info.dli_fname == nullptr) {
        return {};
    }
    const std::string_view path = info.dli_fname;
    return path.substr(path.rfind('/') + 1);
}

bool is_ignored(std::string_view object) {
    return object.empty() || std::any_of(ignored_objects.begin(), ignored_objects.end(),
                                         [&](std::string_view name) { return object.starts_with(name); });
}

}  // namespace

std::string call_source() {
    std::array<void*, deepest> frames;
    const int depth = backtrace(frames.data(), deepest);
    for (int i = 0; i < depth; ++i) {
        if (const std::string_view object = object_of(frames[i]); !is_ignored(object)) {
            return std::string(object);
        }
    }
    return {};
}

void prepare_call_source() {
    std::array<void*, 1> frame;
    backtrace(frame.data(), 1);
}

}  // namespace tidemark::recorder
