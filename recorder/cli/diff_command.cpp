// tidemark diff: what one state of memory has that another has not.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "recorder/cli/command.h"
#include "recorder/cli/describe.h"
#include "recorder/cli/graph_view.h"
#include "recorder/cli/group_way.h"
#include "recorder/cli/output.h"
#include "recorder/cli/time_point_options.h"
#include "storage/base/units.h"
#include "storage/compare/compare.h"
#include "storage/explain/iterations.h"
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

/// A moment as it was asked for.
struct Asked {
    std::string trace;
    std::string at;                ///< as in --at
    std::optional<int64_t> iteration;  ///< or the end of this one
};

struct Both {
    Asked a, b;
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
    return usage_error(fmt::format("\"{}\" does not name two steps; write --steps 3:20.", text));
}

Result<Both> what_was_asked(const DiffOptions& options) {
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
        return usage_error("With one trace, say which two moments to compare: --at-a and --at-b, or --steps 3:20.");
    }
    for (Asked* side : {&both.a, &both.b}) {
        side->at = side->at.empty() ? "peak" : side->at;
    }
    return both;
}

/// One of the two states, with what is needed to group it.
struct Side {
    DeviceTimePoint time_point;
    std::unique_ptr<const Graph> graph;
    std::string when;  ///< "at its peak"

    StateOf state() const {
        return {time_point.trace(), time_point.device(), time_point.analysis->live(), time_point.event,
                graph == nullptr ? nullptr : &graph->categories};
    }
};

Result<EventNumber> end_of_iteration(const DeviceTimePoint& time_point, int64_t number) {
    const Iterations iterations(time_point.trace(), time_point.device());
    for (const Iteration& iteration : iterations.all()) {
        if (iteration.number == number) {
            return iteration.last;
        }
    }
    if (iterations.empty()) {
        return usage_error(time_point.trace().path +
                           ": no steps were recorded, and nothing else repeats; use --at-a and --at-b.");
    }
    return usage_error(fmt::format("{}: there is no step {}; they are numbered {} to {}.", time_point.trace().path, number,
                                   iterations[0].number, iterations.all().back().number));
}

std::string words_about_time_point(const Asked& asked) {
    return asked.iteration          ? fmt::format("at the end of step {}", *asked.iteration)
           : asked.at == "peak" ? "at its peak"
           : asked.at == "end"  ? "at its end"
                                : "at " + asked.at;
}

Result<Side> open_side(std::shared_ptr<const Trace> trace, const Asked& asked, const Way& way,
                       std::optional<int> device, Progress& progress) {
    auto time_point = main_time_point(trace, {asked.trace, asked.iteration ? "end" : asked.at, device});
    if (!time_point) {
        return time_point.error();
    }
    if (asked.iteration) {
        const auto event = end_of_iteration(*time_point, *asked.iteration);
        if (!event) {
            return event.error();
        }
        time_point->event = *event;
    }
    Side side{std::move(*time_point), nullptr, words_about_time_point(asked)};
    if (needs_graph(way.by)) {
        auto graph = read_whole_graph(trace, progress);
        if (!graph) {
            return graph.error();
        }
        side.graph = std::move(*graph);
    }
    return side;
}

/// Both sides and what differs.
struct Difference {
    Side a, b;
    Comparison comparison;
};

Result<Difference> differ(const DiffOptions& options, Progress& progress) {
    const auto both = what_was_asked(options);
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
    auto a = open_side(*trace_a, both->a, *way, options.device, progress);
    if (!a) {
        return a.error();
    }
    auto b = open_side(*trace_b, both->b, *way, options.device, progress);
    if (!b) {
        return b.error();
    }
    Comparison comparison = compare(a->state(), b->state(), way->by, way->options);
    return Difference{std::move(*a), std::move(*b), std::move(comparison)};
}

std::string signed_bytes(int64_t bytes) { return (bytes > 0 ? "+" : "") + format_bytes(bytes); }

std::string where(const CompareRow& row) {
    const Change change = row.change();
    return change == Change::only_a ? "which only A has"
           : change == Change::only_b
               ? "which only B has"
               : fmt::format("{} in A, {} in B", format_bytes(row.a.bytes), format_bytes(row.b.bytes));
}

/// What a person wants to know first.
std::string sentence(const Difference& found) {
    const Comparison& all = found.comparison;
    const int64_t difference = all.difference();
    const std::string when = found.a.when == found.b.when ? fmt::format("{} than A", found.b.when)
                                                          : fmt::format("{} than A {}", found.b.when, found.a.when);
    std::string text =
        difference == 0
            ? fmt::format("A and B hold the same: {}.\n", format_bytes(all.a.bytes))
            : fmt::format("B has {} {} {}: {} instead of {}.\n", format_bytes(std::abs(difference)),
                          difference > 0 ? "more" : "less", when, format_bytes(all.b.bytes), format_bytes(all.a.bytes));
    if (!all.rows.empty() && all.rows.front().difference() != 0) {
        const CompareRow& largest = all.rows.front();
        text += fmt::format("The largest difference, {}, is {}: {}.\n", signed_bytes(largest.difference()),
                            one_line(largest.name), where(largest));
    }
    return text;
}

std::string side_text(const char* name, const Side& side, const Amounts& total) {
    return fmt::format("{}: {}, device {}, {} ({}): {} in {}\n", name,
                       one_line(std::filesystem::path(side.time_point.trace().path).filename().string()),
                       side.time_point.device().device, side.when, describe_time_point(side.time_point.device(), side.time_point.event),
                       format_bytes(total.bytes), counted(total.count, "allocation"));
}

std::string table_row(int64_t difference, const Amounts& a, const Amounts& b, std::string_view change,
                      std::string_view name) {
    return fmt::format("{:>11}  {:>10}  {:>10}  {:>15}  {:<9}  {}\n", signed_bytes(difference), format_bytes(a.bytes),
                       format_bytes(b.bytes), fmt::format("{} -> {}", format_count(a.count), format_count(b.count)),
                       change, one_line(name));
}

/// What tells stacks of one line apart.
std::string callers_text(const CompareRow& row) {
    constexpr ptrdiff_t most_callers = 3;
    std::string text;
    const auto add = [&](std::string_view words) { text += fmt::format("{:68}{}\n", "", one_line(words)); };
    if (row.moved) {
        add("(its line number changed)");
    }
    const auto own = std::find(row.frames.begin(), row.frames.end(), row.name);
    if (own != row.frames.begin() && own != row.frames.end()) {
        add("in " + row.frames.front());
    }
    for (ptrdiff_t i = 1; i <= most_callers && i < row.frames.end() - own; ++i) {
        add("called by " + own[i]);
    }
    return text;
}

std::string difference_text(const Difference& found, const DiffOptions& options) {
    const Comparison& all = found.comparison;
    std::string text = sentence(found) + '\n' + side_text("A", found.a, all.a) + side_text("B", found.b, all.b);
    text +=
        fmt::format("\n{:>11}  {:>10}  {:>10}  {:>15}  {:<9}  {}\n", "Difference", "A", "B", "Count", "", options.by);
    const auto different =
        std::find_if(all.rows.begin(), all.rows.end(), [](const CompareRow& row) { return row.difference() == 0; });
    const std::span changed(all.rows.begin(), different);
    const size_t shown = limited(changed.size(), options.limit);
    for (const CompareRow& row : changed.first(shown)) {
        text += table_row(row.difference(), row.a, row.b, change_word(row.change()), row.name) + callers_text(row);
    }
    text += shown < changed.size() ? fmt::format("{:68}{}\n", "", words_about_rest(changed.size() - shown)) : "";
    if (const size_t same = all.rows.size() - changed.size(); same > 0) {
        text += fmt::format("{:68}({} more without a difference)\n", "", format_count(static_cast<int64_t>(same)));
    }
    return text + table_row(all.difference(), all.a, all.b, "", "total");
}

ordered_json amounts_json(const Amounts& amounts) { return {{"bytes", amounts.bytes}, {"allocations", amounts.count}}; }

ordered_json side_json(const Side& side, const Amounts& total) {
    return {{"trace", side.time_point.trace().path},
            {"device", side.time_point.device().device},
            {"time_point", time_point_json(side.time_point.device(), side.time_point.event)},
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

ordered_json difference_json(const Difference& found, const DiffOptions& options) {
    const Comparison& all = found.comparison;
    const size_t shown = limited(all.rows.size(), options.limit);
    auto rows = ordered_json::array();
    for (const CompareRow& row : std::span(all.rows).first(shown)) {
        rows.push_back(row_json(row, options.by == "stack"));
    }
    return {{"a", side_json(found.a, all.a)},
            {"b", side_json(found.b, all.b)},
            {"by", options.by},
            {"difference_bytes", all.difference()},
            {"rows", std::move(rows)},
            {"rows_left_out", all.rows.size() - shown}};
}

Status run_diff(const DiffOptions& options, Progress& progress) {
    const auto found = differ(options, progress);
    if (!found) {
        return found.error();
    }
    return options.format == "json" ? print_json(difference_json(*found, options))
                                    : print(difference_text(*found, options));
}

}  // namespace

void add_diff_command(CLI::App& app, Job& job) {
    auto options = std::make_shared<DiffOptions>();
    CLI::App& command = add_command(
        app, "diff", "What one state of memory has that another has not",
        "Two traces, or two moments of one. Groups are the same when they are called the same: stacks by the texts of\n"
        "their frames, not by address. Bytes are those of active blocks, as in top.",
        "  tidemark diff before.tide after.tide\n"
        "  tidemark diff run.tide --steps 3:20 --by line\n"
        "  tidemark diff run.tide --at-a mark:warm --at-b end --format json");
    command.add_option("A", options->a, "A trace (.tide)")->required();
    command.add_option("B", options->b, "Another one (default: the same)");
    auto* at_a = command.add_option("--at-a", options->at_a, "The moment of A, as --at of top (default: peak)");
    auto* at_b = command.add_option("--at-b", options->at_b, "The moment of B (default: peak)");
    command.add_option("--steps", options->steps, "The ends of two steps: K of A, N of B, as K:N")
        ->excludes(at_a)
        ->excludes(at_b);
    command.add_option("--by", options->by, "What to add up by: " + group_by_names())->capture_default_str();
    command.add_option("--device", options->device, "The device (default: the one with most events)");
    command.add_option("--limit", options->limit, "How many groups to show, 0 for all")->capture_default_str();
    command.add_option("--format", options->format, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    command.callback([options, &job] { job = [options](Progress& progress) { return run_diff(*options, progress); }; });
}

}  // namespace tidemark::cli
