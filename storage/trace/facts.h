// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The facts of a trace: enumerations for the words in its tables.
//
// A word is converted to a fact once, when a trace is read (storage/read), and back when a trace is written. No other
// code compares words. storage/text has the names for users.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tidemark {

/// One link of a retention path: table path_link, column kind.
enum class PathLinkKind : uint8_t {
    global,
    local,
    attribute,
    item,     ///< of a dict, by key
    index,    ///< of a list or tuple
    element,  ///< of a container without keys and positions
    closure,
    exception,
    hook,
    ctx,       ///< the context of a custom autograd function
    cycle,     ///< a reference cycle that the garbage collector will free
    native,    ///< only C++ refers to the tensor
    callback,  ///< a function registered with the interpreter; the text is where: "atexit"
    view,    ///< the last link: the tensor is a view; the text is "4096 of 1048576": its bytes and those of the storage
    arrays,  ///< the last link of a referrer without memory: arrays in a library's pool that the path retains, and
             ///< where the largest was made; the text is "201 of 1717986918": their number and their bytes
    unknown,
};

/// Memory that the driver or CUDA itself allocates: table driver_allocation, column kind.
enum class DriverMemoryKind : uint8_t {
    device,
    async,  ///< of a stream-ordered allocation, inside a pool
    pool,   ///< of stream-ordered allocations
    physical,
    mapped,  ///< mapped memory of another allocation; takes no memory itself
    pinned,  ///< host memory
    managed,
    array,
    context,  ///< measured by NVML
    kernels,  ///< measured by NVML: growth when modules were loaded
    unknown,
};

/// The part of a training step that an allocation belongs to: table origin, column phase.
enum class Phase : uint8_t {
    none,
    forward,
    backward,
    optimizer,
    eval,
    named,  ///< named by the user; the text is the name
};

/// The reason for a heap scan: table heap_scan, column reason.
enum class ScanReason : uint8_t {
    end,
    out_of_memory,
    mark,  ///< the text is its name
    memory_grows,
    growing_sites,  ///< looks for the memory of allocation sites that keep growing, and for nothing else
    asked,
    unknown,
};

/// The end of a process's recording: table process, column how_ended.
enum class ProcessEnd : uint8_t {
    not_recorded,
    stopped,      ///< only the recording was stopped; the program continued
    exited,       ///< the text is the exit status if the program did not report its end itself
    exception,    ///< the text is the exception; empty if it was redacted
    interrupted,  ///< by the user (KeyboardInterrupt)
    killed,       ///< the text is the signal's number
    silent,       ///< unknown
    unknown,
};

/// The source of a step's end: table step, column source.
enum class StepSource : uint8_t { optimizer, user, unknown };

/// The source of a sample: table sample, column source.
enum class SampleSource : uint8_t { nvml, nvml_at_oom, unknown };

/// The kind of an annotation: table annotation, column kind.
enum class AnnotationKind : uint8_t {
    user,
    step,
    phase,
    optimizer,
    garbage_collection,
    details_paused,
    collective,
    unknown
};

/// The reason for a data gap: table data_gap, column reason. Names in backquotes are arguments (column arguments).
/// Reasons that end in _failed, graph_incomplete and allocator_fallback have `details`, an error message.
enum class DataGapReason : uint8_t {
    none,                 ///< only the row's text describes the gap: formats 1 and 2
    late_start,           ///< a snapshot's history begins after the start of the run
    size_before_history,  ///< blocks were freed before events showed their exact size
    contradicting_events,
    unknown_actions,      ///< of a newer PyTorch
    pool_not_in_history,  ///< PyTorch before 2.12
    no_stacks,
    no_times,            ///< PyTorch before 2.2
    clock_error,         ///< events have no time, or one that is years from the others'
    damaged_fields,      ///< `fields` of a snapshot have a wrong type or value
    undescribed_events,  ///< no row of the file describes them
    recorder_gone,       ///< the recording has no end; `place` and `command` if its trace must be moved
    start_state_missing,
    events_dropped,   ///< allocator events, from event `first` on
    records_dropped,  ///< other records: stacks, ops, marks
    state_differs,    ///< from PyTorch's own: event, segments, blocks, example
    pool_not_reported,
    recorder_stopped,  ///< by signal `signal`
    recorder_failed,
    shared_memory_damaged,
    nvml_failed,
    cupti_paused,  ///< another tool used CUPTI from `from_ns` to `until_ns` (since the trace's start)
    cupti_missing,
    cupti_busy,  ///< `details`: the tool, if CUPTI names it
    cupti_forbidden,
    cupti_failed,
    compiled_regions,  ///< torch.compile hides individual ops
    attach_failed,
    stacks_failed,
    driver_failed,
    graph_failed,
    graph_incomplete,
    referrers_failed,
    allocator_fallback,
    allocator_failed,
    allocator_late,          ///< PyTorch used the GPU after driver allocations were written as events
    hook_ignored,            ///< the program's Python ignored the startup hook, because of `option` if that is known
    torch_not_imported,      ///< by the program's Python
    cuda_not_initialized,    ///< by PyTorch
    nothing_allocated,       ///< PyTorch initialized CUDA
    redacted,                ///< `what`: paths, names, source, times
    excerpt,                 ///< events `first` to `last` of `events` on `device`
    tables_left_out,         ///< `tables`
    bytes_changed,           ///< outside the tables, since the trace was written
    tables_changed,          ///< `tables`, since the trace was written
    chunks_unreadable,       ///< the rows of table allocation were read instead
    chunks_differ,           ///< rows of table allocation from their chunks
    events_described_twice,  ///< by different rows
    times_out_of_range,
    ends_before_starts,
    edges_in_cycles,   ///< of the autograd graph
    numbers_left_out,  ///< of lost allocator events, before event `first`: more than a trace may have
    texts_cut,         ///< after `limit` bytes
    times_refused,     ///< records with times before the start or in the future have the time of their arrival
    devices_left_out,  ///< records of devices after the first `limit`
    source_changed,    ///< source files that were changed after the program started
    source_cut,        ///< source lines after the first `limit` bytes
    details_paused,    ///< by the user, from `from_ns` to `until_ns` (since the trace's start)
    snapshot,          ///< the trace is a copy that was made while the recording went on
    details_deleted,   ///< of the oldest steps, to keep the file below `limit` bytes
    unknown,
};

/// A fact of the vocabulary. `text` is its additional text (see the enumerations), or the word itself if this version
/// does not know the word.
template <class Kind>
struct Fact {
    Kind kind{};
    std::string text;

    Fact() = default;
    Fact(Kind of, std::string details = {}) : kind(of), text(std::move(details)) {}
    operator Kind() const { return kind; }
    bool operator==(const Fact&) const = default;
    bool operator==(Kind other) const { return kind == other; }
};

template <class Kind>
struct FactWord {
    Kind kind;
    std::string_view word;
    bool has_text = false;  ///< the fact's text follows the word
};

/// The words of an enumeration. The last word may be empty with a text; it then represents any other word.
template <class Kind>
std::span<const FactWord<Kind>> fact_words();

template <class Kind>
Fact<Kind> fact_from_word(std::string_view word) {
    for (const FactWord<Kind>& entry : fact_words<Kind>()) {
        if (entry.has_text ? word.starts_with(entry.word) : word == entry.word) {
            return {entry.kind, std::string(word.substr(entry.word.size()))};
        }
    }
    return {};
}

/// Returns the word without a text.
template <class Kind>
requires std::is_enum_v<Kind> std::string_view word_of(Kind kind) {
    for (const FactWord<Kind>& entry : fact_words<Kind>()) {
        if (entry.kind == kind) {
            return entry.word;
        }
    }
    return {};
}

/// Returns the word as stored in files, with its text.
template <class Kind>
std::string word_of(const Fact<Kind>& fact) {
    for (const FactWord<Kind>& entry : fact_words<Kind>()) {
        if (entry.kind == fact.kind && entry.has_text == !fact.text.empty()) {
            return std::string(entry.word) + fact.text;
        }
    }
    return fact.text;
}

template <>
std::span<const FactWord<PathLinkKind>> fact_words();
template <>
std::span<const FactWord<DriverMemoryKind>> fact_words();
template <>
std::span<const FactWord<Phase>> fact_words();
template <>
std::span<const FactWord<ScanReason>> fact_words();
template <>
std::span<const FactWord<ProcessEnd>> fact_words();
template <>
std::span<const FactWord<StepSource>> fact_words();
template <>
std::span<const FactWord<SampleSource>> fact_words();
template <>
std::span<const FactWord<AnnotationKind>> fact_words();
template <>
std::span<const FactWord<DataGapReason>> fact_words();

}  // namespace tidemark
