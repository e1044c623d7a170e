// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Compares traces field by field.
#pragma once

#include <gtest/gtest.h>

#include <tuple>

#include "storage/trace/trace.h"

namespace tidemark::test {

inline auto fields(const Segment& s) {
    return std::tie(s.address, s.size, s.alloc_event, s.free_event, s.stream, s.pool, s.is_large, s.is_expandable,
                    s.pool_known, s.stack, s.free_stack);
}
inline auto fields(const OtherEvent& e) {
    return std::tie(e.event, e.action, e.name, e.address, e.size, e.stack, e.origin);
}
inline auto fields(const Stream& s) { return std::tie(s.handle, s.name); }
inline auto fields(const Pool& p) { return std::tie(p.owner[0], p.owner[1]); }
inline auto fields(const Origin& o) {
    return std::tie(o.op, o.module, o.phase, o.compile_context, o.user_metadata, o.thread);
}
inline auto fields(const Annotation& a) { return std::tie(a.name, a.kind, a.device, a.start, a.end, a.closed); }
inline auto fields(const Mark& m) { return std::tie(m.name, m.time, m.value, m.events); }
inline auto fields(const DataGap& g) {
    return std::tie(g.kind, g.device, g.time, g.count, g.bytes, g.reason, g.arguments, g.text);
}
inline auto fields(const Process& p) {
    return std::tie(p.pid, p.place.rank, p.place.local_rank, p.place.world_size, p.place.node, p.place.role,
                    p.command_line, p.start, p.end, p.exit_status, p.how_ended);
}
inline auto fields(const Step& s) { return std::tie(s.number, s.source, s.start, s.end); }
inline auto fields(const DriverAllocation& a) {
    return std::tie(a.kind, a.device, a.address, a.bytes, a.time, a.free_time, a.source, a.stack, a.in_allocator);
}
inline auto fields(const Sample& s) { return std::tie(s.time, s.device, s.pid, s.used_bytes, s.total_bytes, s.source); }
inline auto fields(const Allocations& a) {
    return std::tie(a.alloc_event, a.free_event, a.free_completed, a.address, a.requested, a.block_size, a.stack,
                    a.free_stack, a.segment, a.origin);
}

template <class T>
void expect_same_rows(const std::vector<T>& a, const std::vector<T>& b, const char* what) {
    ASSERT_EQ(a.size(), b.size()) << what;
    for (size_t i = 0; i < a.size(); ++i) {
        ASSERT_TRUE(fields(a[i]) == fields(b[i])) << what << ' ' << i;
    }
}

inline void expect_same_stacks(const StackTable& a, const StackTable& b) {
    ASSERT_EQ(a.string_count(), b.string_count());
    ASSERT_EQ(a.frame_count(), b.frame_count());
    ASSERT_EQ(a.stack_count(), b.stack_count());
    for (StringId i = 0; i < a.string_count(); ++i) {
        ASSERT_EQ(a.string(i), b.string(i));
    }
    for (FrameId i = 0; i < a.frame_count(); ++i) {
        ASSERT_EQ(a.frame(i), b.frame(i));
    }
    for (StackId i = 0; i < a.stack_count(); ++i) {
        ASSERT_EQ(a.stack(i), b.stack(i));
    }
}

inline void expect_same_device(const DeviceHistory& a, const DeviceHistory& b) {
    EXPECT_EQ(std::tie(a.device, a.name, a.total_bytes, a.truncated),
              std::tie(b.device, b.name, b.total_bytes, b.truncated));
    EXPECT_TRUE(fields(a.allocations) == fields(b.allocations)) << "allocations";
    expect_same_rows(a.segments, b.segments, "segment");
    expect_same_rows(a.others, b.others, "other event");
    EXPECT_EQ(a.event_time, b.event_time);
    ASSERT_EQ(a.event_ref.size(), b.event_ref.size());
    for (size_t e = 0; e < a.event_ref.size(); ++e) {
        ASSERT_EQ(a.event_ref[e].packed, b.event_ref[e].packed) << "event " << e;
    }
}

/// Compares everything except path and size of the file.
inline void expect_same_trace(const Trace& a, const Trace& b) {
    EXPECT_EQ(std::tie(a.format_version, a.source, a.writer, a.start_utc_ns, a.duration, a.clean_end, a.being_written),
              std::tie(b.format_version, b.source, b.writer, b.start_utc_ns, b.duration, b.clean_end, b.being_written));
    EXPECT_EQ(std::tie(a.committed_time, a.settings, a.nvml_pid, a.event_source),
              std::tie(b.committed_time, b.settings, b.nvml_pid, b.event_source));
    expect_same_stacks(a.stacks, b.stacks);
    EXPECT_EQ(a.source_text, b.source_text);
    expect_same_rows(a.streams, b.streams, "stream");
    expect_same_rows(a.pools, b.pools, "pool");
    expect_same_rows(a.origins, b.origins, "origin");
    expect_same_rows(a.annotations, b.annotations, "annotation");
    expect_same_rows(a.marks, b.marks, "mark");
    expect_same_rows(a.data_gaps, b.data_gaps, "data gap");
    expect_same_rows(a.processes, b.processes, "process");
    expect_same_rows(a.steps, b.steps, "step");
    expect_same_rows(a.driver_allocations, b.driver_allocations, "driver allocation");
    expect_same_rows(a.samples, b.samples, "sample");
    ASSERT_EQ(a.devices.size(), b.devices.size());
    for (size_t d = 0; d < a.devices.size(); ++d) {
        SCOPED_TRACE(d);
        expect_same_device(a.devices[d], b.devices[d]);
    }
}

}  // namespace tidemark::test
