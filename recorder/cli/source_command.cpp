// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark source: the program's source with the bytes of each line.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "recorder/cli/command.h"
#include "recorder/cli/describe.h"
#include "recorder/cli/explained.h"
#include "recorder/cli/output.h"
#include "recorder/cli/time_point_options.h"
#include "storage/attribution/line_memory.h"
#include "storage/attribution/source_file.h"
#include "storage/base/units.h"
#include "storage/explain/leaked_memory.h"
#include "storage/timeline/time_point.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

struct SourceOptions {
    TimePointOptions time_point;
    std::string file, format = "text";
    bool whole = false, recorded = false;
    size_t limit = 20;  ///< files; 0: all
};

/// The memory by line of one device, and what it was made of.
struct SourceOf {
    std::vector<Explained> explained;  ///< owns the trace
    const AnalysisContext* context = nullptr;
    TimePoint point;
    SourceMemory memory;

    const Trace& trace() const { return context->trace(); }
    const std::string& name(const FileMemory& file) const { return trace().stacks.string(file.file); }
};

Result<SourceOf> read_memory(const SourceOptions& options, const Words& words, Progress& progress) {
    auto explained = explain_devices({options.time_point.trace, "", options.time_point.device}, "", words, progress);
    if (!explained) {
        return explained.error();
    }
    SourceOf source{std::move(*explained), nullptr, {}, {}};
    const Explained* chosen = &source.explained.front();
    for (const Explained& device : source.explained) {
        chosen = &device.context->device() == &device.context->trace().main_device() ? &device : chosen;
    }
    source.context = chosen->context.get();
    const Analysis& analysis = source.context->analysis();
    const auto point = find_time_point(analysis.trace(), analysis.device(), analysis.curves(), options.time_point.at);
    if (!point) {
        return point.error();
    }
    source.point = *point;
    const std::vector<AllocationIndex> leaked = leaked_allocations(chosen->explanation.findings);
    source.memory = memory_by_line(
        analysis.trace(), analysis.device(), analysis.live(),
        {*point, peak_time_point(analysis.trace(), analysis.device(), analysis.curves()), std::nullopt, leaked});
    return source;
}

/// Returns whether `end` is the file's name, or its last folders and its name.
bool ends_like(std::string_view file, std::string_view end) {
    return file == end || (file.ends_with(end) && (end.starts_with('/') || file[file.size() - end.size() - 1] == '/'));
}

Result<const FileMemory*> find_file(const SourceOf& source, const std::string& wanted) {
    const FileMemory* found = nullptr;
    size_t count = 0;
    for (const FileMemory& file : source.memory.files) {
        if (source.name(file) == wanted) {
            return &file;
        }
        if (ends_like(source.name(file), wanted)) {
            found = found == nullptr ? &file : found;
            ++count;
        }
    }
    if (count == 0) {
        return usage_error("No stack of an allocation has a file {file}; without FILE, the command lists all files.",
                           with("file", wanted));
    }
    if (count > 1) {
        return usage_error(
            "More than one file ends with {file}; write more of the name, as the list without FILE has it.",
            with("file", wanted));
    }
    return found;
}

// --- Text ---------------------------------------------------------------------------------------------------------

std::string cell(uint64_t bytes) { return bytes == 0 ? "" : format_bytes(static_cast<int64_t>(bytes)); }

std::string columns(const LineBytes& bytes) {
    return fmt::format("{:>10}  {:>10}  {:>15}  {:>9}  {:>11}  {:>10}", cell(bytes.active), cell(bytes.self),
                       cell(bytes.allocated), bytes.allocations == 0 ? "" : format_count(bytes.allocations),
                       cell(bytes.peak), cell(bytes.leaked));
}

std::string head(const Words& words, std::string_view last) {
    return fmt::format("{:>10}  {:>10}  {:>15}  {:>9}  {:>11}  {:>10}  {}\n", words("Active"), words("Self"),
                       words("Total allocated"), words("Count"), words("At the peak"), words("Leaked"), last);
}

std::string place_line(const SourceOf& source, const Words& words) {
    return words("Device {device}, {time_point}: {bytes} active", with("device", source.context->device().device),
                 with("time_point", time_point_text(words, source.trace(), source.context->device(), source.point)),
                 with("bytes", format_bytes(static_cast<int64_t>(source.memory.total.active)))) +
           '\n';
}

std::string list_text(const SourceOf& source, const SourceOptions& options, const Words& words) {
    std::string text = place_line(source, words) + head(words, words("File"));
    const size_t shown = limited(source.memory.files.size(), options.limit);
    for (size_t i = 0; i < shown; ++i) {
        const FileMemory& file = source.memory.files[i];
        text += fmt::format("{}  {}{}\n", columns(file.total), visible_text(source.name(file)),
                            file.is_own_code ? "" : "  " + words("(library)"));
    }
    text += rest_text(words, source.memory.files.size() - shown, 73);
    return text + fmt::format("{}  {}\n", columns(source.memory.total), words("total, with and without a line"));
}

std::string origin_sentence(const SourceFile& file, const Words& words) {
    const auto path = with("path", visible_text(file.path));
    switch (file.origin) {
        case SourceOrigin::nowhere: return words("The text of this file is neither in the trace nor on this machine.");
        case SourceOrigin::trace:
            return file.disagrees ? words("Text from the trace. {path} has changed since the recording.", path)
                                  : words("Text from the trace, which has the lines around those that it names.");
        case SourceOrigin::checked_file:
            return words("Text from {path}, which agrees with the lines in the trace.", path);
        case SourceOrigin::file:
            return file.is_newer ? words(
                                       "Text from {path}, which was changed after the recording began: lines may "
                                       "have moved.",
                                       path)
                                 : words("Text from {path}; the trace has no lines of it.", path);
    }
    return {};
}

/// Returns the numbers of the lines to print: those with memory and a few around them, or all that are known.
std::set<int32_t> lines_to_show(const FileMemory& memory, const SourceFile& file, bool whole) {
    constexpr int32_t around = 3;
    std::set<int32_t> numbers;
    for (const LineMemory& line : memory.lines) {
        numbers.insert(line.line);
        for (int32_t n = std::max(line.line, around + 1) - around; n - line.line <= around; ++n) {
            if (file.lines.contains(n)) {
                numbers.insert(n);
            }
        }
    }
    if (whole) {
        for (const auto& [number, text] : file.lines) {
            numbers.insert(number);
        }
    }
    return numbers;
}

/// Visits the lines to show with their memory, which is nullptr for lines without any.
template <class Visit>
void for_each_line(const FileMemory& memory, const SourceFile& file, bool whole, Visit&& visit) {
    auto next = memory.lines.begin();
    for (const int32_t number : lines_to_show(memory, file, whole)) {
        const bool has_memory = next != memory.lines.end() && next->line == number;
        visit(number, has_memory ? &*next : nullptr);
        next += has_memory ? 1 : 0;
    }
}

std::string file_text(const SourceOf& source, const FileMemory& memory, const SourceFile& file, bool whole,
                      const Words& words) {
    std::string text = place_line(source, words) + visible_text(source.name(memory)) + '\n' +
                       origin_sentence(file, words) + "\n\n" + head(words, words("Line"));
    int32_t before = 0;
    for_each_line(memory, file, whole, [&](int32_t number, const LineMemory* line) {
        if (before != 0 && number != before + 1) {
            text += fmt::format("{:73}{:>5}\n", "", "...");
        }
        before = number;
        const std::string* code = file.line(number);
        const std::string words_of_line =
            code != nullptr
                ? visible_text(*code)
                : words("in {function}", with("function", visible_text(source.trace().stacks.string(line->function))));
        std::string row =
            fmt::format("{}  {:>5}  {}", columns(line == nullptr ? LineBytes{} : line->bytes), number, words_of_line);
        row.erase(row.find_last_not_of(' ') + 1);
        text += row + '\n';
    });
    return text;
}

// --- JSON ---------------------------------------------------------------------------------------------------------

void add_bytes(ordered_json& json, const LineBytes& bytes) {
    json["active_bytes"] = bytes.active;
    json["self_bytes"] = bytes.self;
    json["allocated_bytes"] = bytes.allocated;
    json["allocations"] = bytes.allocations;
    json["peak_bytes"] = bytes.peak;
    json["leaked_bytes"] = bytes.leaked;
}

ordered_json place_json(const SourceOf& source, const Words& words) {
    return {{"device", source.context->device().device},
            {"time_point", time_point_json(words, source.trace(), source.context->device(), source.point)}};
}

ordered_json list_json(const SourceOf& source, const SourceOptions& options, const Words& words) {
    ordered_json json = place_json(source, words);
    const size_t shown = limited(source.memory.files.size(), options.limit);
    auto files = ordered_json::array();
    for (size_t i = 0; i < shown; ++i) {
        const FileMemory& file = source.memory.files[i];
        ordered_json& row =
            files.emplace_back(ordered_json{{"file", source.name(file)}, {"is_own_code", file.is_own_code}});
        add_bytes(row, file.total);
    }
    json["files"] = std::move(files);
    json["files_left_out"] = source.memory.files.size() - shown;
    add_bytes(json["total"], source.memory.total);
    return json;
}

ordered_json file_json(const SourceOf& source, const FileMemory& memory, const SourceFile& file, bool whole,
                       const Words& words) {
    ordered_json json = place_json(source, words);
    json["file"] = source.name(memory);
    json["text_from"] = origin_word(file.origin);
    json["path"] = file.path.empty() ? ordered_json() : ordered_json(file.path);
    json["is_newer"] = file.is_newer;
    auto lines = ordered_json::array();
    for_each_line(memory, file, whole, [&](int32_t number, const LineMemory* line) {
        const std::string* code = file.line(number);
        ordered_json row = {
            {"line", number},
            {"function", line == nullptr ? ordered_json() : ordered_json(source.trace().stacks.string(line->function))},
            {"text", code == nullptr ? ordered_json() : ordered_json(*code)}};
        add_bytes(row, line == nullptr ? LineBytes{} : line->bytes);
        lines.push_back(std::move(row));
    });
    json["lines"] = std::move(lines);
    return json;
}

Status run_source(const SourceOptions& options, const Words& words, Progress& progress) {
    const auto source = read_memory(options, words, progress);
    if (!source) {
        return source.error();
    }
    const bool is_json = options.format == "json";
    if (options.file.empty()) {
        return is_json ? print_json(list_json(*source, options, words)) : print(list_text(*source, options, words));
    }
    const auto memory = find_file(*source, options.file);
    if (!memory) {
        return memory.error();
    }
    const std::string& name = source->name(**memory);
    const SourceFile file = read_source(source->trace(), name, options.recorded ? "" : name);
    return is_json ? print_json(file_json(*source, **memory, file, options.whole, words))
                   : print(file_text(*source, **memory, file, options.whole, words));
}

}  // namespace

void add_source_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<SourceOptions>();
    CLI::App& command = add_command(
        line, "source",
        {words("Show the program's source with the bytes of each line"),
         words(
             "Without FILE, lists the files, your own first. A line counts all allocations whose stack contains it,\n"
             "each once. Active: at the point in time. Self: the part of it for which no inner line of your own code\n"
             "is on the stack. Total allocated and Count: in the whole run, freed or not. Leaked: what leaks retain\n"
             "at the end. The text is from the trace, or from the file on this machine if it is the same or the\n"
             "trace has none."),
         "  tidemark source run.tide\n"
         "  tidemark source run.tide train.py --at end"});
    add_time_point_options(line, command, options->time_point, "peak",
                           words("The device (default: the one with the most events)"));
    command.add_option("FILE", options->file, words("A file, as the list names it, or the end of its name"));
    command.add_flag("--whole", options->whole, words("Print all lines of FILE that are known"));
    command.add_flag("--recorded", options->recorded, words("Print only text of the trace, none of this machine"));
    add_limit_option(command, words, words("Number of files to list; 0 lists all"), options->limit);
    add_format_option(command, words("Output format"), options->format, {"text", "json"});
    set_work(line, command, [options, words](Progress& progress) { return run_source(*options, words, progress); });
}

}  // namespace tidemark::cli
