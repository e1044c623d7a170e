// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/trace/facts.h"

namespace tidemark {
namespace {

constexpr FactWord<PathLinkKind> path_link_words[]{
    {PathLinkKind::global, "global"},       {PathLinkKind::local, "local"},
    {PathLinkKind::attribute, "attribute"}, {PathLinkKind::item, "item"},
    {PathLinkKind::index, "index"},         {PathLinkKind::element, "element"},
    {PathLinkKind::closure, "closure"},     {PathLinkKind::exception, "exception"},
    {PathLinkKind::hook, "hook"},           {PathLinkKind::ctx, "ctx"},
    {PathLinkKind::cycle, "cycle"},         {PathLinkKind::native, "native"},
    {PathLinkKind::callback, "callback"},   {PathLinkKind::view, "view"},
    {PathLinkKind::arrays, "arrays"},       {PathLinkKind::unknown, "", true},
};

constexpr FactWord<DriverMemoryKind> driver_memory_words[]{
    {DriverMemoryKind::device, "device"},   {DriverMemoryKind::async, "async"},
    {DriverMemoryKind::pool, "pool"},       {DriverMemoryKind::physical, "physical"},
    {DriverMemoryKind::mapped, "mapped"},   {DriverMemoryKind::pinned, "pinned"},
    {DriverMemoryKind::managed, "managed"}, {DriverMemoryKind::array, "array"},
    {DriverMemoryKind::context, "context"}, {DriverMemoryKind::kernels, "kernels"},
    {DriverMemoryKind::unknown, "", true},
};

constexpr FactWord<Phase> phase_words[]{
    {Phase::none, ""},     {Phase::forward, "forward"}, {Phase::backward, "backward"}, {Phase::optimizer, "optimizer"},
    {Phase::eval, "eval"}, {Phase::named, "", true},
};

constexpr FactWord<ScanReason> scan_reason_words[]{
    {ScanReason::end, "end"},
    {ScanReason::out_of_memory, "out of memory"},
    {ScanReason::mark, "mark ", true},
    {ScanReason::memory_grows, "memory grows"},
    {ScanReason::growing_sites, "allocation sites grow"},
    {ScanReason::asked, "asked"},
    {ScanReason::unknown, "", true},
};

constexpr FactWord<ProcessEnd> process_end_words[]{
    {ProcessEnd::not_recorded, ""},
    {ProcessEnd::stopped, "stopped"},
    {ProcessEnd::exited, "exited"},
    {ProcessEnd::exited, "exited ", true},
    {ProcessEnd::exception, "exception"},
    {ProcessEnd::exception, "exception: ", true},
    {ProcessEnd::interrupted, "interrupted"},
    {ProcessEnd::killed, "killed by signal ", true},
    {ProcessEnd::silent, "ended without a word"},
    {ProcessEnd::unknown, "", true},
};

constexpr FactWord<StepSource> step_source_words[]{
    {StepSource::optimizer, "optimizer"}, {StepSource::user, "user"}, {StepSource::unknown, "", true}};

constexpr FactWord<SampleSource> sample_source_words[]{
    {SampleSource::nvml, "nvml"}, {SampleSource::nvml_at_oom, "nvml at oom"}, {SampleSource::unknown, "", true}};

constexpr FactWord<AnnotationKind> annotation_words[]{
    {AnnotationKind::user, "user"},
    {AnnotationKind::step, "step"},
    {AnnotationKind::phase, "phase"},
    {AnnotationKind::optimizer, "optimizer"},
    {AnnotationKind::garbage_collection, "garbage collection"},
    {AnnotationKind::details_paused, "details paused"},
    {AnnotationKind::collective, "collective"},
    {AnnotationKind::unknown, "", true},
};

constexpr FactWord<DataGapReason> data_gap_words[]{
    {DataGapReason::none, ""},
    {DataGapReason::late_start, "late_start"},
    {DataGapReason::size_before_history, "size_before_history"},
    {DataGapReason::contradicting_events, "contradicting_events"},
    {DataGapReason::unknown_actions, "unknown_actions"},
    {DataGapReason::pool_not_in_history, "pool_not_in_history"},
    {DataGapReason::no_stacks, "no_stacks"},
    {DataGapReason::no_times, "no_times"},
    {DataGapReason::clock_error, "clock_error"},
    {DataGapReason::damaged_fields, "damaged_fields"},
    {DataGapReason::undescribed_events, "undescribed_events"},
    {DataGapReason::recorder_gone, "recorder_gone"},
    {DataGapReason::start_state_missing, "start_state_missing"},
    {DataGapReason::events_dropped, "events_dropped"},
    {DataGapReason::records_dropped, "records_dropped"},
    {DataGapReason::state_differs, "state_differs"},
    {DataGapReason::pool_not_reported, "pool_not_reported"},
    {DataGapReason::recorder_stopped, "recorder_stopped"},
    {DataGapReason::recorder_failed, "recorder_failed"},
    {DataGapReason::shared_memory_damaged, "shared_memory_damaged"},
    {DataGapReason::nvml_failed, "nvml_failed"},
    {DataGapReason::cupti_paused, "cupti_paused"},
    {DataGapReason::cupti_missing, "cupti_missing"},
    {DataGapReason::cupti_busy, "cupti_busy"},
    {DataGapReason::cupti_forbidden, "cupti_forbidden"},
    {DataGapReason::cupti_failed, "cupti_failed"},
    {DataGapReason::compiled_regions, "compiled_regions"},
    {DataGapReason::attach_failed, "attach_failed"},
    {DataGapReason::stacks_failed, "stacks_failed"},
    {DataGapReason::driver_failed, "driver_failed"},
    {DataGapReason::graph_failed, "graph_failed"},
    {DataGapReason::graph_incomplete, "graph_incomplete"},
    {DataGapReason::referrers_failed, "referrers_failed"},
    {DataGapReason::allocator_fallback, "allocator_fallback"},
    {DataGapReason::allocator_failed, "allocator_failed"},
    {DataGapReason::allocator_late, "allocator_late"},
    {DataGapReason::hook_ignored, "hook_ignored"},
    {DataGapReason::torch_not_imported, "torch_not_imported"},
    {DataGapReason::cuda_not_initialized, "cuda_not_initialized"},
    {DataGapReason::nothing_allocated, "nothing_allocated"},
    {DataGapReason::redacted, "redacted"},
    {DataGapReason::excerpt, "excerpt"},
    {DataGapReason::tables_left_out, "tables_left_out"},
    {DataGapReason::bytes_changed, "bytes_changed"},
    {DataGapReason::tables_changed, "tables_changed"},
    {DataGapReason::chunks_unreadable, "chunks_unreadable"},
    {DataGapReason::chunks_differ, "chunks_differ"},
    {DataGapReason::events_described_twice, "events_described_twice"},
    {DataGapReason::times_out_of_range, "times_out_of_range"},
    {DataGapReason::ends_before_starts, "ends_before_starts"},
    {DataGapReason::edges_in_cycles, "edges_in_cycles"},
    {DataGapReason::numbers_left_out, "numbers_left_out"},
    {DataGapReason::texts_cut, "texts_cut"},
    {DataGapReason::times_refused, "times_refused"},
    {DataGapReason::devices_left_out, "devices_left_out"},
    {DataGapReason::source_changed, "source_changed"},
    {DataGapReason::source_cut, "source_cut"},
    {DataGapReason::details_paused, "details_paused"},
    {DataGapReason::snapshot, "snapshot"},
    {DataGapReason::details_deleted, "details_deleted"},
    {DataGapReason::unknown, "", true},
};

}  // namespace

template <>
std::span<const FactWord<PathLinkKind>> fact_words() {
    return path_link_words;
}
template <>
std::span<const FactWord<DriverMemoryKind>> fact_words() {
    return driver_memory_words;
}
template <>
std::span<const FactWord<Phase>> fact_words() {
    return phase_words;
}
template <>
std::span<const FactWord<ScanReason>> fact_words() {
    return scan_reason_words;
}
template <>
std::span<const FactWord<ProcessEnd>> fact_words() {
    return process_end_words;
}
template <>
std::span<const FactWord<StepSource>> fact_words() {
    return step_source_words;
}
template <>
std::span<const FactWord<SampleSource>> fact_words() {
    return sample_source_words;
}
template <>
std::span<const FactWord<AnnotationKind>> fact_words() {
    return annotation_words;
}
template <>
std::span<const FactWord<DataGapReason>> fact_words() {
    return data_gap_words;
}

}  // namespace tidemark
