// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/tables/allocation_texts.h"
#include "storage/tables/tables.h"

namespace tidemark {
namespace {

/// What an event did.
struct EventSubject {
    AllocationIndex allocation = no_allocation;
    uint64_t address = 0, bytes = 0;
    StackId stack = 0;
};

EventSubject subject_of(const DeviceHistory& device, EventRef ref) {
    const uint32_t i = ref.index();
    switch (ref.action()) {
        case Action::alloc:
        case Action::free_requested:
        case Action::free_completed: {
            const Allocations& all = device.allocations;
            return {i, all.address[i], all.block_size[i],
                    ref.action() == Action::alloc ? all.stack[i] : all.free_stack[i]};
        }
        case Action::segment_alloc:
        case Action::segment_map:
            return {no_allocation, device.segments[i].address, device.segments[i].size, device.segments[i].stack};
        case Action::segment_free:
        case Action::segment_unmap:
            return {no_allocation, device.segments[i].address, device.segments[i].size, device.segments[i].free_stack};
        case Action::oom:  // its address has another meaning
            return {no_allocation, 0, device.others[i].size, device.others[i].stack};
        case Action::snapshot:
        case Action::unknown: break;
    }
    return {no_allocation, device.others[i].address, device.others[i].size, device.others[i].stack};
}

struct EventRow {
    const AnalysisContext& context;
    const AllocationTexts& texts;
    EventNumber state;  ///< after the event
    EventSubject subject;
    Curves::All counters;  ///< after the event

    const DeviceHistory& device() const { return context.device(); }
    Action action() const { return device().event_ref[static_cast<size_t>(state) - 1].action(); }
    int64_t counter(Series series) const { return counters[static_cast<size_t>(series)].max_of_states; }
};

using enum ColumnType;

constexpr ColumnOf<EventRow> event_columns[] = {
    {"device", int32, [](Column& c, const EventRow& r) { c.number(r.device().device); }},
    {"event", int64, [](Column& c, const EventRow& r) { c.number(r.state); }},
    {"time_ns", int64,
     [](Column& c, const EventRow& r) { c.number(r.device().event_time[static_cast<size_t>(r.state) - 1]); }},
    {"action", repeated_text,
     [](Column& c, const EventRow& r) {
         c.text_of(static_cast<uint32_t>(r.action()), [&] { return action_name(r.action()); });
     }},
    {"allocation", int64,
     [](Column& c, const EventRow& r) {
         const AllocationIndex a = r.subject.allocation;
         c.number(a != no_allocation ? std::optional(r.device().allocation_id(a)) : std::nullopt);
     }},
    {"address", int64,
     [](Column& c, const EventRow& r) {
         c.number(r.subject.address != 0 ? std::optional(static_cast<int64_t>(r.subject.address)) : std::nullopt);
     }},
    {"bytes", int64, [](Column& c, const EventRow& r) { c.number(static_cast<int64_t>(r.subject.bytes)); }},
    {"allocated_bytes", int64, [](Column& c, const EventRow& r) { c.number(r.counter(Series::allocated)); }},
    {"active_bytes", int64, [](Column& c, const EventRow& r) { c.number(r.counter(Series::active)); }},
    {"reserved_bytes", int64, [](Column& c, const EventRow& r) { c.number(r.counter(Series::reserved)); }},
    {"stack", repeated_text, [](Column& c, const EventRow& r) { r.texts.stack_of(c, r.subject.stack); }},
};

}  // namespace

const TableInfo& events_table() {
    static const TableInfo info = table_info("events", event_columns);
    return info;
}

Status write_events(const AnalysisContext& context, const TakeBatch& take) {
    const DeviceHistory& device = context.device();
    const AllocationTexts texts(context.trace(), device);
    TableRows<EventRow> rows(events_table(), event_columns, take);
    for (EventNumber n = 0; n < device.event_count(); ++n) {
        const EventSubject subject = subject_of(device, device.event_ref[static_cast<size_t>(n)]);
        TIDEMARK_TRY(rows.add({context, texts, n + 1, subject, context.curves().extremes_of_states(n + 1, n + 1)}));
    }
    return rows.finish();
}

}  // namespace tidemark
