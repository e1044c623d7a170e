// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/driver_memory.h"

#include <algorithm>
#include <array>
#include <map>

#include "storage/base/units.h"
#include "storage/breakdown/amount.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

using namespace std::string_view_literals;

std::string_view file_of(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

bool is_alive(const DriverAllocation& a, int64_t time) {
    return a.time <= time && (!a.free_time || *a.free_time > time);
}

Trend trend_of(const std::vector<const DriverAllocation*>& taken, const AnalysisContext& context) {
    const Iterations& iterations = context.iterations();
    Amount amount;
    for (const DriverAllocation* a : taken) {
        amount.change(a->time, static_cast<int64_t>(a->bytes), 1);
        if (a->free_time) {
            amount.change(*a->free_time, -static_cast<int64_t>(a->bytes), -1);
        }
    }
    amount.settle();
    std::vector<int64_t> levels;
    for (const Iteration& iteration : iterations.all()) {
        levels.push_back(amount.at(iteration.end).bytes);
    }
    if (context.device().event_count() == 0) {
        for (const DriverAllocation* a : taken) {
            levels.push_back(amount.at(a->time).bytes);
        }
    }
    return find_trend(levels);
}

/// Returns the stack that allocated most; of the program's Python code if any is: threads of a library that allocate as
/// well, such as NCCL's, have no stack or one of native code.
StackId typical_stack(const std::vector<const DriverAllocation*>& alive, const StackTable& stacks) {
    const auto is_of_program = [&](const DriverAllocation* a) { return is_python(stacks.role(stacks.site(a->stack))); };
    const bool has_program = std::any_of(alive.begin(), alive.end(), is_of_program);
    std::map<StackId, uint64_t> bytes;
    for (const DriverAllocation* a : alive) {
        if (a->stack != 0 && (!has_program || is_of_program(a))) {
            bytes[a->stack] += a->bytes;
        }
    }
    const auto most =
        std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == bytes.end() ? 0 : most->first;
}

}  // namespace

std::vector<LibraryMemory> memory_by_library(const AnalysisContext& context,
                                             const std::function<bool(const DriverAllocation&)>& wanted) {
    std::map<std::string_view, LibraryMemory> by_name;
    for (const DriverAllocation& a : context.trace().driver_allocations) {
        if (!wanted(a)) {
            continue;
        }
        LibraryMemory& library = by_name[file_of(a.source)];
        library.taken.push_back(&a);
        if (is_alive(a, context.now_time())) {
            library.alive.push_back(&a);
            library.bytes += static_cast<int64_t>(a.bytes);
        }
    }
    std::vector<LibraryMemory> libraries;
    for (auto& [name, library] : by_name) {
        library.name = name;
        library.trend = trend_of(library.taken, context);
        library.stack = typical_stack(library.alive, context.trace().stacks);
        libraries.push_back(std::move(library));
    }
    std::stable_sort(libraries.begin(), libraries.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    return libraries;
}

std::vector<LibraryMemory> device_memory_by_library(const AnalysisContext& context) {
    constexpr std::array kinds{DriverMemoryKind::device, DriverMemoryKind::async, DriverMemoryKind::physical,
                               DriverMemoryKind::managed, DriverMemoryKind::array};
    return memory_by_library(context, [&](const DriverAllocation& a) {
        return a.device == context.device().device && !a.in_allocator &&
               std::find(kinds.begin(), kinds.end(), a.kind.kind) != kinds.end();
    });
}

size_t growth_begin(const AnalysisContext& context, const LibraryMemory& library) {
    const auto first = std::find_if(library.alive.begin(), library.alive.end(),
                                    [&](const DriverAllocation* a) { return a->stack == library.stack; });
    const int64_t time = first == library.alive.end() ? context.now_time() : (*first)->time;
    const int64_t position = context.iterations().at(context.device().events_until(time));
    return static_cast<size_t>(std::clamp<int64_t>(position, 0, static_cast<int64_t>(context.iterations().size()) - 1));
}

std::optional<Rises> rises_of_library(const AnalysisContext& context, const LibraryMemory& library) {
    const auto since = static_cast<int64_t>(growth_begin(context, library));
    std::map<int64_t, int64_t> remaining;
    for (const DriverAllocation* a : library.alive) {
        const int64_t iteration = context.iterations().at(context.device().events_until(a->time));
        if (iteration >= since) {
            remaining[iteration] += static_cast<int64_t>(a->bytes);
        }
    }
    return find_rises(remaining);
}

void add_growth_evidence(Finding& finding, const AnalysisContext& context, const LibraryMemory& library,
                         const Words& words) {
    const auto since = static_cast<int64_t>(growth_begin(context, library));
    finding.evidence.push_back(
        at_iteration(context, context.iterations(),
                     words("The growth begins in {iteration}",
                           with("iteration", iteration_name(context.iterations(), words, since))),
                     since));
    const DriverAllocation& newest = *library.alive.back();
    const auto bytes = with("bytes", format_bytes(static_cast<int64_t>(newest.bytes)));
    Evidence piece = at_event(
        context, words("The newest allocation: {bytes} at {time}", bytes, with("time", format_time_point(newest.time))),
        context.device().events_until(newest.time));
    piece.time = newest.time;
    piece.stack = newest.stack;
    finding.evidence.push_back(std::move(piece));
}

std::optional<int64_t> unexplained_at(const AnalysisContext& context, int64_t time) {
    const BreakdownRow row = context.breakdown().at_time(time);
    if (!row.process_used) {
        return std::nullopt;
    }
    int64_t known = 0;
    for (const Component& component : row.components) {
        const bool is_own =
            component.kind != ComponentKind::other_processes && component.kind != ComponentKind::unknown;
        known += is_own ? component.bytes : 0;
    }
    return *row.process_used - known;
}

std::string library_words(const Words& words, std::string_view name) {
    const auto library = with("library", name);
    if (name.empty()) {
        return words("an unrecorded library");
    }
    if (name.starts_with("libcudart")) {
        return words("the CUDA runtime ({library})", library);
    }
    if (name.starts_with("libffi")) {
        return words("code called through ctypes ({library})", library);
    }
    if (name.starts_with("libtorch") || name.starts_with("libc10")) {
        return words("PyTorch outside its allocator ({library})", library);
    }
    return words("the library {library}", library);
}

}  // namespace tidemark
