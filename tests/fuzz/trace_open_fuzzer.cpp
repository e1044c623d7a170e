// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Opens forged traces. If the first byte is even, the rest is a whole file. If it is odd, the rest is the content of
// one chunk of allocations, which mutated files rarely reach because chunks have checksums.
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "storage/analysis/analysis.h"
#include "storage/attribution/category_grouping.h"
#include "storage/format/chunk_codec.h"
#include "storage/graph/graph_growth.h"
#include "storage/read/open_trace.h"
#include "storage/read/read_graph.h"
#include "storage/replay/memory_state.h"
#include "storage/text/referrer_words.h"
#include "storage/timeline/columns.h"

namespace {

using namespace tidemark;

/// Runs the queries of a viewer on a trace.
void query_trace(const std::shared_ptr<const Trace>& trace) {
    for (const DeviceHistory& device : trace->devices) {
        const Analysis analysis(trace, device);
        const EventNumber end = device.event_count();
        for (const EventNumber n : {0, end / 2, end}) {
            memory_state(device, analysis.live(), n);
            analysis.statistics().at(n);
        }
        make_columns(device, analysis.curves(), TimeAxis::wall_clock, 0, static_cast<double>(trace->duration), 20);
    }
}

/// Runs the queries of a viewer on the graph of a trace.
void query_graph(const std::shared_ptr<const Trace>& trace) {
    Progress progress;
    const auto tables = read_graph(*trace, progress);
    if (!tables) {
        return;
    }
    const GraphIndex index(trace, *tables);
    const Categories categories(index);
    graph_growth(categories);
    for (uint32_t d = 0; d < trace->devices.size(); ++d) {
        group_by_category(categories, d);
    }
    for (const int64_t time : {int64_t{0}, trace->duration / 2, trace->duration}) {
        const GraphState state(index, categories, time);
        const ReferrerIndex referrers(index, time);
        for (const ReferrerGroup& group : referrer_groups(state, referrers)) {
            path_words(**tables, Words(Language::english), group);
        }
        roots_never_executed(state, referrers);
        for (NodeIndex node = 0; node < std::min<NodeIndex>((*tables)->nodes.size(), 100); ++node) {
            state.path_to(node);
            state.summary(node);
            state.freed_by(node);
        }
    }
}

void open_file(const uint8_t* data, size_t size) {
    static const std::string path = "/dev/shm/trace_open_fuzzer." + std::to_string(getpid());
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    Progress progress;
    if (const auto trace = open_trace(path, progress)) {
        query_trace(*trace);
        query_graph(*trace);
    }
}

void decode(const uint8_t* data, size_t size) {
    if (size < 2) {
        return;
    }
    constexpr uint32_t capacity = 64, events = 256;
    const uint32_t count = 1 + data[0] % capacity;
    std::vector<std::byte> packed(ZSTD_compressBound(size));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), data + 1, size - 1, 1));
    auto trace = std::make_shared<Trace>();
    DeviceHistory& device = trace->devices.emplace_back();
    device.event_time.resize(events);
    device.event_ref.assign(events, EventRef(Action::unknown, 0x0fffffff));
    device.segments.resize(3);
    Allocations& a = device.allocations;
    for (auto* column : {&a.alloc_event, &a.free_event, &a.free_completed}) {
        column->resize(count);
    }
    for (auto* column : {&a.address, &a.requested, &a.block_size}) {
        column->resize(count);
    }
    for (auto* column : {&a.stack, &a.free_stack, &a.segment, &a.origin}) {
        column->resize(count);
    }
    (void)static_cast<bool>(decode_chunk(packed, device, 0, count));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size > 1) {
        data[0] % 2 == 0 ? open_file(data + 1, size - 1) : decode(data + 1, size - 1);
    }
    return 0;
}
