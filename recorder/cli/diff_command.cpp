// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark diff: the differences between two states of memory.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "recorder/cli/command.h"
#include "recorder/cli/describe.h"
#include "recorder/cli/graph/graph_view.h"
#include "recorder/cli/job/job_diff.h"
#include "recorder/cli/output.h"
#include "recorder/cli/time_point_options.h"
#include "storage/attribution/group_way.h"
#include "storage/base/units.h"
#include "storage/compare/changes.h"
#include "storage/compare/common_axis.h"
#include "storage/compare/compare.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/iterations.h"
#include "storage/job/job.h"
#include "storage/report/difference.h"
#include "storage/text/fact_words.h"
#include "storage/timeline/time_point.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

struct DiffOptions {
    std::string a, b, at_a, at_b, steps;
    std::string by = "stack", format = "text";
    std::optional<int> device;
    size_t limit = 20;  ///< 0: all
};

/// A point in time as selected on the command line.
struct Selected {
    std::string trace;
    std::string at;                    ///< as in --at
    std::optional<int64_t> iteration;  ///< its end is the point in time; replaces `at`
};

struct Both {
    Selected a, b;
};

/// "3:20"
Result<std::pair<int64_t, int64_t>> parse_steps(const std::string& text) {
    const char* end = text.data() + text.size();
    int64_t first = 0, second = 0;
    const auto one = std::from_chars(text.data(), end, first);
    if (one.ec == std::errc() && one.ptr != end && *one.ptr == ':') {
        const auto two = std::from_chars(one.ptr + 1, end, second);
        if (two.ec == std::errc() && two.ptr == end) {
            return std::pair{first, second};
        }
    }
    return usage_error("\"{text}\" does not name two steps; write --steps 3:20.", with("text", text));
}

Result<Both> selected_sides(const DiffOptions& options) {
    const bool is_one_trace = options.b.empty();
    Both both{{options.a, options.at_a, {}}, {is_one_trace ? options.a : options.b, options.at_b, {}}};
    if (!options.steps.empty()) {
        const auto steps = parse_steps(options.steps);
        if (!steps) {
            return steps.error();
        }
        both.a.iteration = steps->first;
        both.b.iteration = steps->second;
        return both;
    }
    if (is_one_trace && (options.at_a.empty() || options.at_b.empty())) {
        return usage_error("One trace needs two points in time to compare: --at-a and --at-b, or --steps 3:20.");
    }
    for (Selected* side : {&both.a, &both.b}) {
        side->at = side->at.empty() ? "peak" : side->at;
    }
    return both;
}

/// One of the two states, with the data to group it.
struct Side {
    DeviceTimePoint time_point;
    std::unique_ptr<const Graph> graph;
    std::string when;  ///< "at its peak"

    StateOf state() const {
        return {time_point.trace(), time_point.device(), time_point.analysis->live(), time_point.point,
                graph == nullptr ? nullptr : &graph->categories};
    }
};

struct NamedTimePoint {
    EventNumber event;
    std::string name;  ///< "at the end of step 3"
};

Error no_such_iteration(const Iterations& iterations, const std::string& path, int64_t number) {
    const auto in_path = with("path", path), wanted = with("number", number);
    const auto first = with("first", iterations[0].number), last = with("last", iterations.all().back().number);
    return iterations.source() == IterationSource::steps
               ? usage_error("{path}: there is no step {number}; the steps are {first} to {last}.", in_path, wanted,
                             first, last)
               : usage_error(
                     "{path}: there is no iteration {number}; the run has no recorded steps, and its iterations are "
                     "{first} to {last}.",
                     in_path, wanted, first, last);
}

Result<NamedTimePoint> end_of_iteration(const DeviceTimePoint& time_point, int64_t number, const Words& words) {
    const Iterations iterations(time_point.trace(), time_point.device(), time_point.analysis->curves());
    if (iterations.empty()) {
        return usage_error("{path}: no steps were recorded, and nothing else repeats; use --at-a and --at-b.",
                           with("path", time_point.trace().path));
    }
    const auto& all = iterations.all();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Iteration& iteration) { return iteration.number == number; });
    if (found == all.end()) {
        return no_such_iteration(iterations, time_point.trace().path, number);
    }
    return NamedTimePoint{
        found->last,
        words("at the end of {iteration}", with("iteration", iteration_name(iterations, words, found - all.begin())))};
}

std::string words_about_time_point(const std::string& at, const Words& words) {
    return at == "peak"  ? words("at its peak")
           : at == "end" ? words("at its end")
                         : words("at {time_point}", with("time_point", at));
}

Result<Side> open_side(const std::shared_ptr<const Trace>& trace, const Selected& selected, const Way& way,
                       std::optional<int> device, const Words& words, Progress& progress) {
    auto time_point = main_time_point(trace, {selected.trace, selected.iteration ? "end" : selected.at, device});
    if (!time_point) {
        return time_point.error();
    }
    std::string when = words_about_time_point(selected.at, words);
    if (selected.iteration) {
        auto end = end_of_iteration(*time_point, *selected.iteration, words);
        if (!end) {
            return end.error();
        }
        time_point->point = end->event;
        when = std::move(end->name);
    }
    Side side{std::move(*time_point), nullptr, std::move(when)};
    if (needs_graph(way.by)) {
        auto graph = read_whole_graph(trace, progress);
        if (!graph) {
            return graph.error();
        }
        side.graph = std::move(*graph);
    }
    return side;
}

/// Both sides and their comparison.
struct Difference {
    GroupBy by;
    Side a, b;
    Comparison comparison;
    /// Of one run: the allocations that B has and A has not, and those that A has and B has not.
    std::optional<ChangedGroup> changed = {};
};

std::optional<ChangedGroup> changed_between(const Side& a, const Side& b, const Way& way) {
    const StateOf from = a.state(), to = b.state();
    if (&from.trace != &to.trace || &from.device != &to.device) {
        return std::nullopt;
    }
    return changes_between(from.trace, from.device, from.live, from.point, to.point, way.by, way.options).total;
}

/// Returns the device of A if B has it; otherwise B's own.
std::optional<int> device_of_b(const Side& a, const Trace& b, const DiffOptions& options) {
    const auto position = device_to_compare(b, a.time_point.device().device);
    return options.device || !position ? options.device : std::optional(b.devices[*position].device);
}

Result<Difference> differ(const DiffOptions& options, const Words& words, Progress& progress) {
    const auto both = selected_sides(options);
    const auto way = parse_way(options.by);
    if (!both || !way) {
        return both ? way.error() : both.error();
    }
    const auto trace_a = open_input(both->a.trace, progress);
    if (!trace_a) {
        return trace_a.error();
    }
    const auto trace_b = both->b.trace == both->a.trace ? trace_a : open_input(both->b.trace, progress);
    if (!trace_b) {
        return trace_b.error();
    }
    auto a = open_side(*trace_a, both->a, *way, options.device, words, progress);
    if (!a) {
        return a.error();
    }
    auto b = open_side(*trace_b, both->b, *way, device_of_b(*a, **trace_b, options), words, progress);
    if (!b) {
        return b.error();
    }
    Comparison comparison = compare(a->state(), b->state(), way->by, way->options);
    std::optional<ChangedGroup> changed = changed_between(*a, *b, *way);
    return Difference{way->by, std::move(*a), std::move(*b), std::move(comparison), std::move(changed)};
}

/// Returns the word of a change for the table. change_word() returns that for JSON.
std::string change_title(RowChange change, const Words& words) {
    switch (change) {
        case RowChange::only_a: return words("only in A");
        case RowChange::only_b: return words("only in B");
        case RowChange::grown: return words("grown");
        case RowChange::shrunk: return words("shrunk");
        case RowChange::same: return words("same");
    }
    return {};
}

std::string summary(const Difference& found, const Words& words) {
    const Comparison& all = found.comparison;
    std::string text = difference_sentence(all, {found.a.when, found.b.when}, words) + '\n';
    if (found.changed) {
        text += words("{new} of B are not allocated in A, {freed} of A are not in B; the rest is in both.",
                      with("new", format_bytes(found.changed->made.bytes)),
                      with("freed", format_bytes(found.changed->freed.bytes))) +
                '\n';
    }
    for (const std::string& sentence :
         {largest_difference_sentence(all, found.by, words), renamed_files_sentence(all, words)}) {
        text += sentence.empty() ? "" : visible_text(sentence) + '\n';
    }
    return text;
}

std::string side_text(const char* name, const Side& side, const Amounts& total, const Words& words) {
    const std::string file = std::filesystem::path(side.time_point.trace().path).filename().string();
    return words.plural(
               total.count, "{side}: {file}, device {device}, {when} ({time_point}): {bytes} in {n} allocation",
               "{side}: {file}, device {device}, {when} ({time_point}): {bytes} in {n} allocations", with("side", name),
               with("file", visible_text(file)), with("device", side.time_point.device().device),
               with("when", side.when), with("time_point", time_point_text(words, side.time_point)),
               with("bytes", format_bytes(total.bytes))) +
           '\n';
}

std::string table_row(int64_t difference, const Amounts& a, const Amounts& b, std::string_view change,
                      std::string_view name) {
    return fmt::format("{:>11}  {:>10}  {:>10}  {:>15}  {:<9}  {}\n", signed_bytes(difference), format_bytes(a.bytes),
                       format_bytes(b.bytes), fmt::format("{} -> {}", format_count(a.count), format_count(b.count)),
                       change, visible_text(name));
}

/// Returns lines that distinguish stacks with the same allocation site.
std::string callers_text(const CompareRow& row, const Words& words) {
    constexpr ptrdiff_t most_callers = 3;
    std::string text;
    const auto add = [&](const std::string& sentence) { text += fmt::format("{:68}{}\n", "", visible_text(sentence)); };
    if (row.moved) {
        add(words("(its line number changed)"));
    }
    const auto own = std::find(row.frames.begin(), row.frames.end(), row.name);
    if (own != row.frames.begin() && own != row.frames.end()) {
        add(words("in {frame}", with("frame", row.frames.front())));
    }
    for (ptrdiff_t i = 1; i <= most_callers && i < row.frames.end() - own; ++i) {
        add(words("called by {frame}", with("frame", own[i])));
    }
    return text;
}

std::string difference_text(const Difference& found, const DiffOptions& options, const Words& words) {
    const Comparison& all = found.comparison;
    std::string text =
        summary(found, words) + '\n' + side_text("A", found.a, all.a, words) + side_text("B", found.b, all.b, words);
    text += fmt::format("\n{:>11}  {:>10}  {:>10}  {:>15}  {:<9}  {}\n", words("Difference"), "A", "B", words("Count"),
                        "", options.by);
    const auto different =
        std::find_if(all.rows.begin(), all.rows.end(), [](const CompareRow& row) { return row.difference() == 0; });
    const std::span changed(all.rows.begin(), different);
    const size_t shown = limited(changed.size(), options.limit);
    for (const CompareRow& row : changed.first(shown)) {
        text += table_row(row.difference(), row.a, row.b, change_title(row.change(), words),
                          group_words(words, found.by, row.name)) +
                callers_text(row, words);
    }
    text += rest_text(words, changed.size() - shown, 68);
    if (const size_t same = all.rows.size() - changed.size(); same > 0) {
        text += fmt::format("{:68}{}\n", "",
                            words.plural(static_cast<int64_t>(same), "({n} more group without a difference)",
                                         "({n} more groups without a difference)"));
    }
    return text + table_row(all.difference(), all.a, all.b, "", words("total"));
}

ordered_json amounts_json(const Amounts& amounts) { return {{"bytes", amounts.bytes}, {"allocations", amounts.count}}; }

ordered_json side_json(const Side& side, const Amounts& total, const Words& words) {
    return {{"trace", side.time_point.trace().path},
            {"device", side.time_point.device().device},
            {"time_point", time_point_json(words, side.time_point)},
            {"total", amounts_json(total)}};
}

ordered_json row_json(const CompareRow& row, bool has_frames) {
    ordered_json json = {{"name", row.name},
                         {"change", change_word(row.change())},
                         {"difference_bytes", row.difference()},
                         {"a", amounts_json(row.a)},
                         {"b", amounts_json(row.b)}};
    if (has_frames) {
        json["frames"] = row.frames;
        json["moved"] = row.moved;
    }
    return json;
}

ordered_json difference_json(const Difference& found, const DiffOptions& options, const Words& words) {
    const Comparison& all = found.comparison;
    const size_t shown = limited(all.rows.size(), options.limit);
    auto rows = ordered_json::array();
    for (const CompareRow& row : std::span(all.rows).first(shown)) {
        rows.push_back(row_json(row, options.by == "stack"));
    }
    auto renamed = ordered_json::array();
    for (const RenamedFile& file : all.renamed) {
        renamed.push_back({{"a", file.a}, {"b", file.b}});
    }
    return {{"a", side_json(found.a, all.a, words)},
            {"b", side_json(found.b, all.b, words)},
            {"by", options.by},
            {"difference_bytes", all.difference()},
            {"new", found.changed ? amounts_json(found.changed->made) : ordered_json()},
            {"freed", found.changed ? amounts_json(found.changed->freed) : ordered_json()},
            {"renamed_files", std::move(renamed)},
            {"rows", std::move(rows)},
            {"rows_left_out", all.rows.size() - shown}};
}

/// Two runs of a job are compared by the summaries of their traces.
Status run_job_diff(const DiffOptions& options, const Words& words, Progress& progress) {
    if (!is_job(options.a) || !is_job(options.b)) {
        return usage_error("A job can be compared with another run of it; a trace with a rank: run.tidejob:3.");
    }
    if (!options.at_a.empty() || !options.at_b.empty() || !options.steps.empty() || options.device ||
        options.by != DiffOptions().by) {
        return usage_error("Points in time, --device and --by are for two traces: tidemark diff {a}:0 {b}:0",
                           with("a", options.a), with("b", options.b));
    }
    return print_job_diff(options.a, options.b, options.limit, options.format, words, progress);
}

Status run_diff(const DiffOptions& options, const Words& words, Progress& progress) {
    if (is_job(options.a) || is_job(options.b)) {
        return run_job_diff(options, words, progress);
    }
    const auto found = differ(options, words, progress);
    if (!found) {
        return found.error();
    }
    return options.format == "json" ? print_json(difference_json(*found, options, words))
                                    : print(difference_text(*found, options, words));
}

}  // namespace

void add_diff_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<DiffOptions>();
    CLI::App& command = add_command(
        line, "diff",
        {words("Compare the memory of two traces, or of two points in time"),
         words("Compares two traces, or two points in time of one trace, which needs --at-a and --at-b, or\n"
               "--steps. Without recorded steps, --steps counts iterations. Groups of both sides match by name, and\n"
               "stacks by the text of their frames. Bytes are those of active blocks, as in top. Of two runs of a\n"
               "job, compares each rank with the same rank."),
         "  tidemark diff before.tide after.tide\n"
         "  tidemark diff run.tide --steps 3:20 --by line\n"
         "  tidemark diff run.tidejob:0 run.tidejob:3            # two ranks\n"
         "  tidemark diff before.tidejob after.tidejob           # each rank of two runs\n"
         "  tidemark diff run.tide --at-a mark:warm --at-b end --format json"});
    find_rank(line, command
                        .add_option("A", options->a,
                                    words("A trace (.tide), that of a rank (run.tidejob:3), or the folder of a job"))
                        ->required());
    find_rank(line, command.add_option("B", options->b, words("The second trace (default: A)")));
    auto* at_a = command.add_option(
        "--at-a", options->at_a,
        words("The point in time of A: event:N, time:T, mark:NAME, step:N, peak or end (default: peak)"));
    auto* at_b = command.add_option("--at-b", options->at_b, words("The point in time of B (default: peak)"));
    command
        .add_option("--steps", options->steps,
                    words("Compare the end of step K of A with the end of step N of B, as K:N"))
        ->excludes(at_a)
        ->excludes(at_b);
    command.add_option("--by", options->by, words("How to group: {groups}", with("groups", group_by_names())))
        ->capture_default_str();
    command.add_option("--device", options->device,
                       words("The device (default: of A the one with the most events, of B the same)"));
    add_limit_option(command, words, words("Number of groups to show; 0 shows all"), options->limit);
    add_format_option(command, words("Output format"), options->format, {"text", "json"});
    set_work(line, command, [options, words](Progress& progress) { return run_diff(*options, words, progress); });
}

}  // namespace tidemark::cli
