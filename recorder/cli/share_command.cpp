// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark share: a compact copy of a trace, without private data.
#include "storage/export/share.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "recorder/cli/command.h"
#include "recorder/cli/describe.h"
#include "recorder/cli/file_kind.h"
#include "recorder/cli/memory_limit.h"
#include "recorder/cli/output.h"
#include "recorder/cli/time_point_options.h"
#include "storage/base/units.h"
#include "storage/job/job.h"
#include "storage/text/removed_words.h"
#include "storage/trace/file_extensions.h"

namespace tidemark::cli {
namespace {

struct ShareOptions {
    std::string trace, output, redact;
    ShareRequest request;
    bool force = false, dry_run = false;
};

/// Prints what the copy lacks, with an example of each kind and what replaces it.
std::string removed_text(const Words& words, const ShareReport& report) {
    std::string text;
    for (const RemovedTexts& removed : report.removed) {
        text += fmt::format("{:>10}  {}\n", format_count(removed.count), removed_title(words, removed.kind));
        for (const RemovedTexts::Text& example : std::span(removed.texts).first(limited(removed.texts.size(), 4))) {
            text += fmt::format("            {} → {}\n", visible_text(example.before),
                                example.after.empty() ? words("removed") : visible_text(example.after));
        }
    }
    return text.empty() ? words("Nothing is removed.") + "\n" : words("Removed:") + "\n" + text;
}

/// Says what the copy still contains, because a person may send it without another look.
void print_left(const Words& words, const PrivateTexts& left) {
    std::vector<std::string> kinds;
    for (const auto& [is_left, name] :
         {std::pair(left.command_line, words("the command line")),
          std::pair(left.source_lines, words("lines of source files")), std::pair(left.paths, words("file paths")),
          std::pair(left.names, words("names of functions and modules")),
          std::pair(left.time, words("the date and time of the recording"))}) {
        if (is_left) {
            kinds.push_back(name);
        }
    }
    if (!kinds.empty()) {
        print_note(words, words("The copy contains private texts: {kinds}. --redact paths,source,names,times removes "
                                "them.",
                                with("kinds", words.list(kinds))));
    }
}

Status preview(const ShareOptions& options, const Words& words, Progress& progress) {
    TIDEMARK_TRY(check_may_be_trace(options.trace));
    limit_memory_for(options.trace);
    Result<ShareReport> report = [&] {
        const ProgressBar bar(progress, words("Sharing {path}", with("path", options.trace)));
        return preview_share(options.trace, options.request, progress);
    }();
    if (!report) {
        return report.error();
    }
    print_left(words, report->left);
    return print(removed_text(words, *report) +
                 words("Size: {before}, of the copy {after}", with("before", format_bytes(report->input_bytes)),
                       with("after", format_bytes(report->file_bytes))) +
                 "\n");
}

/// Returns "rank3.tide" or "process2.tide": names of nodes stay out of a copy.
std::string name_of_copy(const JobMember& member, size_t number) {
    const auto rank = member.rank();
    return rank ? fmt::format("rank{}{}", *rank, trace_extension) : fmt::format("process{}{}", number, trace_extension);
}

/// Shares each trace of a job into a folder of its own.
Status share_job(const ShareOptions& options, const Words& words, Progress& progress) {
    const auto job = open_job(options.trace, progress);
    if (!job) {
        return job.error();
    }
    std::error_code error;
    std::filesystem::create_directory(options.output, error);  // else the first copy says why it cannot be written
    int64_t bytes = 0, count = 0;
    PrivateTexts left;
    for (size_t i = 0; i < job->members.size(); ++i) {
        const JobMember& member = job->members[i];
        if (member.failure) {
            print_note(words, words.translate(member.failure->sentence));
            continue;
        }
        const auto report = share_trace(member.path, options.output + "/" + name_of_copy(member, i), options.request,
                                        options.force ? IfExists::replace : IfExists::fail, progress);
        if (!report) {
            return report.error();
        }
        bytes += report->file_bytes;
        ++count;
        left = report->left;
    }
    print_left(words, left);
    return print(fmt::format("{}: {}\n", visible_text(options.output),
                             words.list({words.plural(count, "{n} trace", "{n} traces"), format_bytes(bytes)})));
}

Status run_share(ShareOptions& options, const Words& words, Progress& progress) {
    const auto redaction = redaction_from_names(options.redact);
    if (!redaction) {
        return redaction.error();
    }
    options.request.redaction = *redaction;
    if (options.dry_run && is_job(options.trace)) {
        return usage_error("--dry-run looks at one trace; name a rank: {folder}:0", with("folder", options.trace));
    }
    if (options.dry_run) {
        return preview(options, words, progress);
    }
    if (options.output.empty()) {
        return usage_error("Name the copy with -o, or use --dry-run.");
    }
    if (is_job(options.trace)) {
        return share_job(options, words, progress);
    }
    std::error_code error;
    if (std::filesystem::equivalent(options.trace, options.output, error)) {
        return usage_error("{path} is the trace itself; select another name with -o.", with("path", options.output));
    }
    TIDEMARK_TRY(may_write_trace(options.output, options.force));
    TIDEMARK_TRY(check_may_be_trace(options.trace));
    limit_memory_for(options.trace);
    const auto if_exists = options.force ? IfExists::replace : IfExists::fail;
    Result<ShareReport> report = [&] {
        const ProgressBar bar(progress, words("Sharing {path}", with("path", options.trace)));
        return share_trace(options.trace, options.output, options.request, if_exists, progress);
    }();
    if (!report) {
        return report.error();
    }
    print_left(words, report->left);
    return print(fmt::format("{}: {}\n", visible_text(options.output),
                             words.list({words.plural(report->events, "{n} event", "{n} events"),
                                         words.plural(report->allocations, "{n} allocation", "{n} allocations"),
                                         format_bytes(report->file_bytes)})));
}

}  // namespace

void add_share_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<ShareOptions>();
    CLI::App& command = add_command(
        line, "share",
        {words("Write a compact copy of a trace to share, redacted and cut as requested"),
         words("--redact replaces all strings that are not public by placeholders; equal strings get the same one:\n"
               "  paths   files become file1.py, library1.so; public packages keep the path after site-packages\n"
               "  names   functions, modules, annotations, marks, ops, variables become function1, module1, range_a\n"
               "  source  nothing but what each of paths, names and source removes: lines of source files, the\n"
               "          origin of the trace, the command line, texts of exceptions and data gaps, user metadata,\n"
               "          unknown settings\n"
               "  times   the date and time of the recording\n"
               "Public are the names of well-known packages, of PyTorch's ops and autograd nodes, and of NVIDIA's\n"
               "libraries. The redacted file is searched for all removed strings before it gets its name.\n"
               "--from and --to select the part to write; its events are numbered from 0. Memory that is alive at\n"
               "its start is included. If the trace has several devices, the points in time are those of the\n"
               "device with the most events, and the other devices are cut at the same times."),
         "  tidemark share run.tide -o for-anna.tide --redact paths,source,names,times\n"
         "  tidemark share run.tidejob -o for-anna.tidejob --redact paths,source,names\n"
         "  tidemark share run.tide -o oom.tide --from time:12s --to end"});
    add_trace_option(line, command, options->trace);
    mention_jobs(line, command);
    command.add_option("-o,--output", options->output, words("The trace to write"));
    command.add_flag("--dry-run", options->dry_run,
                     words("Print what would be removed and the size of the copy, and write nothing"));
    command.add_flag("--notes", options->request.with_notes,
                     words("Write the notes and bookmarks beside the copy, unchanged: with all names in them"));
    command.add_option("--redact", options->redact,
                       words("What to redact: paths, source, names, times, separated by commas (default: nothing)"));
    command.add_option("--from", options->request.from,
                       words("Start of the part to write: event:N, time:T, mark:NAME, step:N, peak or end (default: "
                             "the start of the trace)"));
    command.add_option("--to", options->request.to, words("End of the part to write (default: the end of the trace)"));
    command.add_flag("--force", options->force, words("Replace an existing trace; other files are never replaced"));
    set_work(line, command, [options, words](Progress& progress) { return run_share(*options, words, progress); });
}

}  // namespace tidemark::cli
