// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/record/recording_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <new>

#include "recorder/cli/explained.h"
#include "recorder/cli/output.h"
#include "recorder/core/rank.h"
#include "storage/base/scratch_folder.h"
#include "storage/base/shell_word.h"
#include "storage/base/units.h"
#include "storage/base/utf8.h"
#include "storage/job/explain_job.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t most_traces = 3;  // with a line for each

/// Returns a path below the current folder as a relative one.
std::string short_path(const std::string& path) {
    std::error_code error;
    const std::string relative = fs::path(path).lexically_relative(fs::current_path(error)).string();
    return error || relative.empty() || relative.starts_with("..") ? path : relative;
}

/// Returns the first sentence of an exception, at most 80 characters. The program has printed the full text.
std::string shortened(const std::string& how) {
    constexpr size_t longest = 80;
    const size_t end = std::min({how.find(". "), how.find('\n'), how.size()});
    if (end <= longest) {
        return how.substr(0, end);
    }
    return std::string(cut_text(how, longest)) + "...";
}

std::string how_it_ended(const RecordedTrace& trace, bool has_ended, const Words& words) {
    return !trace.how_ended.empty()     ? trace.how_ended
           : !has_ended                 ? words("still being recorded")
           : trace.state == "recording" ? words("the recorder was killed: the last events are missing")
                                        : trace.state;
}

std::string events_and_bytes(int64_t events, int64_t bytes, const Words& words) {
    return words.plural(events, "{n} event", "{n} events") + words(", ") + format_bytes(bytes);
}

/// "run.tide: 12,345 events, 1.20 MiB, the program exited", the data gaps, and where the trace lies if it was not
/// moved.
std::string trace_lines(const RecordedTrace& trace, bool has_ended, const Words& words) {
    std::string text = fmt::format("{}: {}", visible_text(short_path(trace.output)),
                                   events_and_bytes(trace.events, trace.bytes, words));
    if (const std::string how = how_it_ended(trace, has_ended, words); !how.empty()) {
        text += words(", ") + visible_text(shortened(how));
    }
    text += '\n';
    for (const std::string& data_gap : trace.data_gaps) {
        text += fmt::format("  {}\n", words("data gap: {text}", with("text", visible_text(data_gap))));
    }
    if (!trace.failure.empty()) {
        text += fmt::format("  {}\n", visible_text(trace.failure));
    } else if (has_ended && trace.is_elsewhere()) {
        text +=
            fmt::format("  {}\n", words("The trace is still in {place}. Move it with: {command}",
                                        with("place", visible_text(trace.place)),
                                        with("command", visible_text(move_command(trace.place, trace.destination)))));
    }
    return text;
}

/// "run.tidejob: 8 traces, 12,345 events, 1.20 MiB"
std::string sum_line(const EndedRecording& recording, const Words& words) {
    int64_t events = 0, bytes = 0;
    for (const RecordedTrace& trace : recording.traces) {
        events += trace.events;
        bytes += trace.bytes;
    }
    const std::string place =
        recording.job.empty() ? fs::path(recording.traces.front().output).parent_path().string() : recording.job;
    return fmt::format("{}: {}{}{}\n", visible_text(short_path(place)),
                       words.plural(static_cast<int64_t>(recording.traces.size()), "{n} trace", "{n} traces"),
                       words(", "), events_and_bytes(events, bytes, words));
}

std::string lines_of_traces(const EndedRecording& recording, const Words& words) {
    if (recording.traces.size() > most_traces) {
        return sum_line(recording, words) + incomplete_traces(recording, words);
    }
    std::string text;
    for (const RecordedTrace& trace : recording.traces) {
        text += trace_lines(trace, recording.has_ended, words);
    }
    return text;
}

/// Returns the trace to explain.
const RecordedTrace& largest(const std::vector<RecordedTrace>& traces) {
    return *std::max_element(traces.begin(), traces.end(),
                             [](const auto& a, const auto& b) { return a.events < b.events; });
}

/// "At the peak 40.0 MiB are allocated and 62.0 MiB reserved. Memory grows by ..." with the line of the first finding.
std::vector<std::string> answer_of(const Explained& device, const Words& words) {
    const Curves& curves = device.context->curves();
    std::vector<std::string> lines{words("At their peaks, {allocated} are allocated and {reserved} are reserved.",
                                         with("allocated", format_bytes(curves.peak(Series::allocated).max)),
                                         with("reserved", format_bytes(curves.peak(Series::reserved).max)))};
    const Explanation& explanation = device.explanation;
    lines.insert(lines.end(), explanation.answer.begin(), explanation.answer.end());
    if (!explanation.findings.empty()) {
        const Finding& first = explanation.findings.front();
        if (first.severity < Severity::pattern && !first.line.empty()) {
            lines.push_back(words("Line: {line}", with("line", first.line)));
        }
    }
    return lines;
}

std::vector<std::string> answer_of_trace(const std::string& path, const Words& words, Progress& progress) {
    const ProgressBar bar(progress, words("Explaining {path}", with("path", short_path(path))));
    const auto devices = explain_devices({path, "", std::nullopt}, "", words, progress);
    return devices ? answer_of(devices->front(), words) : std::vector<std::string>();
}

/// Reads the summaries of the traces, which also keeps them for the commands that follow: the machine of a trace has
/// time for it now.
std::vector<std::string> answer_of_job(const EndedRecording& recording, const Words& words, Progress& progress) {
    if (recorder::rank_of_process()) {  // other processes of the job still write their traces
        for (const RecordedTrace& trace : recording.traces) {
            (void)read_member(trace.output, progress);  // what cannot be read is reported by the command that reads it
        }
        return {};
    }
    const auto job = open_job(recording.job, progress);
    return job ? explain_job(*job, words).summary : std::vector<std::string>();
}

std::vector<std::string> answer(const EndedRecording& recording, const Words& words, Progress& progress) {
    try {
        return recording.job.empty() ? answer_of_trace(largest(recording.traces).output, words, progress)
                                     : answer_of_job(recording, words, progress);
    } catch (const std::bad_alloc&) {  // the exit status stays that of the program
        return {};
    }
}

}  // namespace

bool is_unfinished(const RecordedTrace& trace) { return !trace.failure.empty() || trace.is_elsewhere(); }

std::string recording_report(const EndedRecording& recording, const Words& words, Progress& progress) {
    std::string text = lines_of_traces(recording, words);
    if (recording.has_ended) {
        for (const std::string& sentence : answer(recording, words, progress)) {
            text += fmt::format("  {}\n", visible_text(sentence));
        }
    }
    const std::string& path = recording.job.empty() ? largest(recording.traces).output : recording.job;
    return text + words("Next: {command}", with("command", "tidemark explain " + shell_word(short_path(path)))) + '\n';
}

std::string incomplete_traces(const EndedRecording& recording, const Words& words) {
    std::string text;
    for (const RecordedTrace& trace : recording.traces) {
        if (is_unfinished(trace) || !trace.data_gaps.empty()) {
            text += trace_lines(trace, recording.has_ended, words);
        }
    }
    return text;
}

}  // namespace tidemark::cli
