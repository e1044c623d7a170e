// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/text/data_gap_words.h"

#include "storage/base/units.h"

namespace tidemark {
namespace {

std::string late_start_words(const Words& words, const DataGap& data_gap) {
    if (data_gap.argument("allocations") == "0") {
        return words(
            "The snapshot has no history of allocations, only the state when it was taken. To get a history, call "
            "torch.cuda.memory._record_memory_history() before the part you want to see.");
    }
    return words(
        "The history does not reach back to the start of the run (recording began late, or the ring buffer dropped "
        "its oldest events). Allocations alive at its first event ({count}) were rebuilt from its end; peaks and "
        "totals count from that event.",
        with("count", format_count(data_gap.count)));
}

/// Memory from before the history is few allocations with much memory: a share of all that was ever allocated would
/// hide it.
std::string no_stacks_words(const Words& words, const DataGap& data_gap) {
    const int64_t earlier = data_gap.number("earlier"), earlier_bytes = data_gap.number("earlier_bytes");
    std::vector<std::string> sentences;
    if (earlier > 0) {
        sentences.push_back(words("Allocations from before the history have no stack: {count} with {bytes}.",
                                  with("count", format_count(earlier)), with("bytes", format_bytes(earlier_bytes))));
    }
    if (data_gap.count > earlier || earlier == 0) {
        const auto bytes = static_cast<double>(data_gap.number("requested_bytes") - earlier_bytes);
        const double share = bytes > 0 ? static_cast<double>(data_gap.bytes - earlier_bytes) / bytes : 0;
        sentences.push_back(
            words("{count} of {allocations} allocations ({share} of the bytes) have no stack: PyTorch records none for "
                  "memory allocated on the backward thread, or stacks were off.",
                  with("count", format_count(data_gap.count - earlier)),
                  with("allocations", format_count(data_gap.number("allocations") - earlier)),
                  with("share", Words::percent(share))));
    }
    return words.sentences(sentences);
}

std::string redacted_words(const Words& words, const DataGap& data_gap) {
    const std::string what = ',' + data_gap.argument("what") + ',';
    std::vector<std::string> removed;
    for (const auto& [kind, name] :
         {std::pair(",paths,", words("file paths")),
          std::pair(",names,", words("names of functions, variables, annotations and marks")),
          std::pair(",source,", words("the source, the command line and user metadata")),
          std::pair(",times,", words("the date and time of the recording"))}) {
        if (what.find(kind) != std::string::npos) {
            removed.push_back(name);
        }
    }
    return removed.empty() ? std::string()
                           : words("A shared copy, without {texts}.", with("texts", words.list(removed)));
}

std::string cupti_busy_words(const Words& words, const std::string& tool) {
    return tool.empty()
               ? words(
                     "Driver memory was not recorded, because another tool uses CUPTI; run without that tool (nsys, "
                     "ncu, torch.profiler, cuda-gdb) to record it.")
               : words("Driver memory was not recorded, because {tool} uses CUPTI; run without that tool to record it.",
                       with("tool", tool));
}

std::string hook_ignored_words(const Words& words, const std::string& option) {
    return option.empty()
               ? words(
                     "Allocator events were not recorded, because the program's Python did not run the recorder's "
                     "startup hook. Options of Python (-I, -E, -S) and programs that clear PYTHONPATH prevent it. "
                     "Start "
                     "Python without them, or call tidemark.record() in the program.")
               : words(
                     "Allocator events were not recorded, because the program's Python was started with {option}, so "
                     "it ignored the recorder's startup hook. Start Python without {option}, or call "
                     "tidemark.record() in the program.",
                     with("option", option));
}

std::string recorder_gone_words(const Words& words, const DataGap& data_gap) {
    const std::string sentence = words("The recording did not end cleanly; its last events may be missing.");
    return data_gap.argument("place").empty()
               ? sentence
               : sentence + " " +
                     words("The trace is still in {place}. Move it with: {command}",
                           with("place", data_gap.argument("place")), with("command", data_gap.argument("command")));
}

std::string reason_words(const Words& words, const DataGap& data_gap) {
    const auto count = with("count", format_count(data_gap.count));
    const auto free_text = [&](std::string_view name) {
        const std::string text = data_gap.argument(name);
        return text.empty() ? words("text removed before sharing") : text;
    };
    const auto details = with("details", free_text("details"));
    const auto time = [&](std::string_view name) { return format_time_point(data_gap.number(name)); };
    const auto number = [&](std::string_view name) { return format_count(data_gap.number(name)); };
    switch (data_gap.reason) {
        case DataGapReason::none:
        case DataGapReason::unknown: return words("The description of this data gap was removed before sharing.");
        case DataGapReason::late_start: return late_start_words(words, data_gap);
        case DataGapReason::size_before_history:
            return words.plural(
                data_gap.count,
                "{n} block from before the history was freed before its exact size showed; it may have been up to "
                "1 MiB larger than drawn.",
                "{n} blocks from before the history were freed before their exact size showed; each may have been up "
                "to 1 MiB larger than drawn.");
        case DataGapReason::contradicting_events:
            return words.plural(data_gap.count,
                                "{n} event contradicts the allocator's state; sizes near it may be wrong.",
                                "{n} events contradict the allocator's state; sizes near them may be wrong.");
        case DataGapReason::unknown_actions:
            return words.plural(data_gap.count,
                                "{n} event has an action that this version does not know; it is shown, but does not "
                                "change the state.",
                                "{n} events have an action that this version does not know; they are shown, but do "
                                "not change the state.");
        case DataGapReason::pool_not_in_history:
            return words.plural(data_gap.count,
                                "The memory pool of {n} segment was not recorded (PyTorch before 2.12); the default "
                                "pool is shown.",
                                "The memory pool of {n} segments was not recorded (PyTorch before 2.12); the default "
                                "pool is shown.");
        case DataGapReason::pool_not_reported:
            return words.plural(data_gap.count, "PyTorch did not report the memory pool of {n} segment.",
                                "PyTorch did not report the memory pool of {n} segments.");
        case DataGapReason::no_stacks: return no_stacks_words(words, data_gap);
        case DataGapReason::no_times:
            return words("The snapshot has no times (PyTorch before 2.2): events are drawn one microsecond apart.");
        case DataGapReason::clock_error:
            return words.plural(data_gap.count,
                                "{n} event has no time, or a time years from that of the others (a clock error); it is "
                                "drawn at the time of the event before it.",
                                "{n} events have no time, or a time years from that of the others (a clock error); "
                                "they are drawn at the time of the event before them.");
        case DataGapReason::damaged_fields:
            return words.plural(data_gap.count,
                                "{n} value of the snapshot is damaged and was left out ({fields}); everything else "
                                "was read.",
                                "{n} values of the snapshot are damaged and were left out ({fields}); everything else "
                                "was read.",
                                with("fields", data_gap.argument("fields")));
        case DataGapReason::undescribed_events:
            return words("The trace does not describe {count} of its events.", count);
        case DataGapReason::recorder_gone: return recorder_gone_words(words, data_gap);
        case DataGapReason::start_state_missing:
            return words(
                "The allocator's state before the first event did not arrive: what was allocated before is missing.");
        case DataGapReason::events_dropped:
            return words(
                "Allocator events from event {first} on were lost ({count}): the program made events faster than the "
                "recorder could take them. The state is exact again from the next comparison with PyTorch's own on.",
                with("first", data_gap.argument("first")), count);
        case DataGapReason::records_dropped:
            return words(
                "Records other than allocator events (stacks, ops, marks) were lost ({count}): the program made them "
                "faster than the recorder could take them.",
                count);
        case DataGapReason::state_differs:
            return words(
                "At event {event} PyTorch's own state differs from the events' state (segments: {segments}, blocks: "
                "{blocks}; {example}). From there on the trace follows PyTorch's state.",
                with("event", data_gap.argument("event")), with("segments", number("segments")),
                with("blocks", number("blocks")), with("example", free_text("example")));
        case DataGapReason::recorder_stopped:
            return words(
                "The recorder was ended by signal {signal} while the program went on; the rest was not recorded.",
                with("signal", data_gap.argument("signal")));
        case DataGapReason::recorder_failed: return words("The recorder failed: {details}", details);
        case DataGapReason::shared_memory_damaged:
            return words("The memory shared with the program was damaged ({count}); its content is missing.", count);
        case DataGapReason::nvml_failed: return words("NVML's figures were not recorded: {details}", details);
        case DataGapReason::cupti_paused:
            return words("Driver memory was not recorded from {from} to {until}: another tool used CUPTI.",
                         with("from", time("from_ns")), with("until", time("until_ns")));
        case DataGapReason::cupti_missing:
            return words(
                "Driver memory was not recorded, because CUPTI was not found. It comes with PyTorch for CUDA and with "
                "the CUDA Toolkit; TIDEMARK_CUPTI names its library elsewhere.");
        case DataGapReason::cupti_busy: return cupti_busy_words(words, data_gap.argument("details"));
        case DataGapReason::cupti_forbidden:
            return words(
                "Driver memory was not recorded, because this user may not use CUPTI; the driver option "
                "NVreg_RestrictProfilingToAdminUsers=0 allows it.");
        case DataGapReason::cupti_failed:
            return words(
                "Driver memory was not recorded, because CUPTI failed ({details}); a CUPTI of the program's CUDA "
                "version usually works.",
                details);
        case DataGapReason::compiled_regions:
            return words(
                "torch.compile hides the ops of a compiled region: the region is one node (CompiledFunctionBackward) "
                "with all its saved tensors, and its other memory has no category.");
        case DataGapReason::attach_failed: return words("The recording is incomplete: {details}", details);
        case DataGapReason::stacks_failed: return words("Python stacks are not recorded: {details}", details);
        case DataGapReason::driver_failed: return words("Driver calls are not recorded: {details}", details);
        case DataGapReason::graph_failed: return words("The autograd graph is not recorded: {details}", details);
        case DataGapReason::graph_incomplete: return words("The autograd graph is incomplete: {details}", details);
        case DataGapReason::referrers_failed: return words("Referrers of tensors are not recorded: {details}", details);
        case DataGapReason::allocator_fallback:
            return words("PyTorch's own memory history is recorded in place of allocator events: {details}", details);
        case DataGapReason::allocator_failed: return words("Allocator events are not recorded: {details}", details);
        case DataGapReason::allocator_late:
            return words(
                "PyTorch began to use the GPU after other code. Its allocator's events are not recorded, only the "
                "memory that it gets from CUDA. If PyTorch uses the GPU first, they are.");
        case DataGapReason::hook_ignored: return hook_ignored_words(words, data_gap.argument("option"));
        case DataGapReason::torch_not_imported:
            return words(
                "No events were recorded: the program's Python did not import PyTorch, and no other library allocated "
                "GPU memory through the CUDA driver.");
        case DataGapReason::cuda_not_initialized:
            return words(
                "No allocator events were recorded, because PyTorch was imported but never initialized CUDA. Check "
                "torch.cuda.is_available(), and that the program moves its model to the GPU.");
        case DataGapReason::nothing_allocated:
            return words(
                "No allocator events were recorded: PyTorch initialized CUDA, but this process allocated no GPU "
                "memory. Check that the program moves its model to the GPU, or open the trace of another process.");
        case DataGapReason::redacted: return redacted_words(words, data_gap);
        case DataGapReason::excerpt:
            return words(
                "Only events {first} to {last} of {events} were kept (device {device}); the state at their begin is "
                "complete.",
                with("first", number("first")), with("last", number("last")), with("events", number("events")),
                with("device", data_gap.argument("device")));
        case DataGapReason::tables_left_out:
            return words("Sharing left out the tables {tables}.", with("tables", data_gap.argument("tables")));
        case DataGapReason::bytes_changed:
            return words(
                "The file was changed after it was written, but all rows of its tables are as they were written.");
        case DataGapReason::tables_changed:
            return words(
                "The file is damaged: rows of these tables are not as they were written: {tables}. What is shown may "
                "be wrong; copy the file again from where it was recorded, if you can.",
                with("tables", data_gap.argument("tables")));
        case DataGapReason::chunks_unreadable:
            return words(
                "The file is damaged: a chunk of allocations cannot be decoded. The rows of table allocation are shown "
                "instead.");
        case DataGapReason::chunks_differ:
            return words.plural(data_gap.count,
                                "The file is damaged: {n} row of table allocation contradicts its chunk; the chunk is "
                                "shown.",
                                "The file is damaged: {n} rows of table allocation contradict their chunks; the chunks "
                                "are shown.");
        case DataGapReason::events_described_twice:
            return words.plural(data_gap.count, "The file is damaged: {n} event is described by more than one row.",
                                "The file is damaged: {n} events are described by more than one row.");
        case DataGapReason::times_out_of_range:
            return words.plural(data_gap.count,
                                "The file is damaged: {n} time is more than nine years from the start of the trace; it "
                                "counts as unknown.",
                                "The file is damaged: {n} times are more than nine years from the start of the trace; "
                                "they count as unknown.");
        case DataGapReason::ends_before_starts:
            return words.plural(data_gap.count,
                                "The file is damaged: {n} span of time ends before it starts; it counts as empty.",
                                "The file is damaged: {n} spans of time end before they start; they count as empty.");
        case DataGapReason::edges_in_cycles:
            return words.plural(data_gap.count,
                                "The file is damaged: {n} edge closes a cycle in the autograd graph; it is left out.",
                                "The file is damaged: {n} edges close cycles in the autograd graph; they are left "
                                "out.");
        case DataGapReason::numbers_left_out:
            return words(
                "Before event {first}, further allocator events were lost ({count}). They have no numbers, because a "
                "trace of this size cannot have so many.",
                with("first", data_gap.argument("first")), count);
        case DataGapReason::texts_cut:
            return words.plural(data_gap.count, "{n} text was longer than {limit} and was cut.",
                                "{n} texts were longer than {limit} and were cut.",
                                with("limit", format_bytes(data_gap.number("limit"))));
        case DataGapReason::times_refused:
            return words.plural(data_gap.count,
                                "{n} record had a time in the future or long before the start; the time of its arrival "
                                "replaces it.",
                                "{n} records had a time in the future or long before the start; the times of their "
                                "arrival replace them.");
        case DataGapReason::devices_left_out:
            return words("Records of further devices were left out ({count}): a trace has at most {limit} devices.",
                         count, with("limit", number("limit")));
        case DataGapReason::source_changed:
            return words.plural(data_gap.count,
                                "{n} source file was changed after the program started; its lines were left out.",
                                "{n} source files were changed after the program started; their lines were left out.");
        case DataGapReason::source_cut:
            return words.plural(data_gap.count,
                                "{n} source line was left out: a trace has at most {limit} of source lines.",
                                "{n} source lines were left out: a trace has at most {limit} of source lines.",
                                with("limit", format_bytes(data_gap.number("limit"))));
        case DataGapReason::details_paused:
            return words(
                "Details were paused from {from} to {until}: memory that was allocated then has no stack, op, category "
                "or referrer.",
                with("from", time("from_ns")), with("until", time("until_ns")));
        case DataGapReason::snapshot: return words("The trace is a snapshot: the recording continued after it.");
        case DataGapReason::details_deleted:
            return words.plural(data_gap.count,
                                "The details of {n} step were deleted to keep the file below {limit}: its times and "
                                "peaks, and the allocations that outlived it, are there.",
                                "The details of {n} steps were deleted to keep the file below {limit}: their times and "
                                "peaks, and the allocations that outlived them, are there.",
                                with("limit", format_bytes(data_gap.number("limit"))));
    }
    return data_gap.text;
}

}  // namespace

std::string data_gap_words(const Words& words, const DataGap& data_gap) {
    const std::string text = data_gap.text.empty() ? reason_words(words, data_gap) : data_gap.text;
    return data_gap.argument("of_whole_trace").empty()
               ? text
               : words("In the whole trace: {sentence}", with("sentence", text));
}

std::string breakdown_gap_words(const Words& words, const BreakdownGap& gap) {
    switch (gap.kind) {
        case BreakdownGapKind::no_samples:
            return words(
                "NVML was not read: the memory of other programs, the CUDA context and the driver is unknown, and the "
                "total is not that of nvidia-smi.");
        case BreakdownGapKind::samples_begin_late:
            return words(
                "The first NVML sample was taken at {time}; long before it, the total of the device is unknown.",
                with("time", format_time_point(gap.time)));
        case BreakdownGapKind::samples_contradict_calls:
            return words.plural(gap.count,
                                "{n} NVML sample shows less memory than the program had allocated; it is not used.",
                                "{n} NVML samples show less memory than the program had allocated; they are not used.");
        case BreakdownGapKind::processes_exceed_device:
            return words.plural(
                gap.count,
                "In {n} NVML sample the processes have more memory than the device: the figures of other "
                "processes are limited to what is left of it.",
                "In {n} NVML samples the processes have more memory than the device: the figures of "
                "other processes are limited to what is left of it.");
        case BreakdownGapKind::libraries_in_context:
            return words("Driver calls were not recorded: the CUDA context includes what libraries took.");
        case BreakdownGapKind::libraries_not_recorded:
            return words(
                "Driver calls were not recorded: memory of libraries outside the caching allocator is unknown.");
        case BreakdownGapKind::process_not_listed:
            return words(
                "NVML's list of processes does not name the recorded one: other programs are part of what is "
                "unexplained.");
        case BreakdownGapKind::processes_not_listed:
            return words("NVML did not list processes: other programs are part of what is unexplained.");
        case BreakdownGapKind::data_gap: return data_gap_words(words, gap.data_gap);
    }
    return {};
}

}  // namespace tidemark
