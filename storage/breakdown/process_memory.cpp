// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/breakdown/process_memory.h"

#include <algorithm>

#include "storage/breakdown/device_samples.h"

namespace tidemark {
namespace {

bool is_of_allocator(const Component& component) { return component.kind <= ComponentKind::private_pools; }

}  // namespace

int64_t ProcessMemory::top() const {
    int64_t bytes = reserved;
    for (const Component& component : outside) {
        bytes += component.bytes;
    }
    return bytes;
}

ProcessMemory process_memory(const BreakdownRow& row, FigureOf of) {
    ProcessMemory memory;
    for (const Component& component : row.components) {
        if (is_of_allocator(component)) {
            memory.reserved += component.bytes;
        } else if (of == FigureOf::device ||
                   (component.kind != ComponentKind::other_processes && component.kind != ComponentKind::unknown)) {
            memory.outside.push_back(component);
        }
    }
    memory.figure = of == FigureOf::device ? row.device_used : row.process_used;
    if (const int64_t unknown = memory.figure.value_or(0) - memory.top(); unknown > 0) {
        memory.outside.push_back({ComponentKind::unknown, "", unknown, 0, 0});
    }
    return memory;
}

std::optional<HighestFigure> highest_figure(const Trace& trace, int device) {
    const DeviceSamples samples(trace, device);
    if (samples.empty()) {
        return std::nullopt;
    }
    HighestFigure highest{samples.knows_process() ? FigureOf::process : FigureOf::device};
    for (const DeviceSample& sample : samples.all()) {
        highest.bytes = std::max(highest.bytes, highest.of == FigureOf::process ? sample.own.value_or(0) : sample.used);
    }
    return highest;
}

}  // namespace tidemark
