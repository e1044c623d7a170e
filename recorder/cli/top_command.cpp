// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark top: the groups of allocations that occupy GPU memory at a point in time.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "recorder/cli/command.h"
#include "recorder/cli/describe.h"
#include "recorder/cli/graph/graph_view.h"
#include "recorder/cli/job/job_views.h"
#include "recorder/cli/output.h"
#include "recorder/cli/time_point_options.h"
#include "storage/attribution/attribution.h"
#include "storage/attribution/group_way.h"
#include "storage/base/units.h"
#include "storage/job/job.h"
#include "storage/text/fact_words.h"
#include "storage/timeline/time_point.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

/// Of a stack in a text: deeper ones come from recursion, or from somebody who wants to fill the terminal.
constexpr size_t most_frames_shown = 100;

struct TopOptions {
    TimePointOptions time_point;
    std::string by = "stack";
    std::string format = "text";
    size_t limit = 20;  ///< 0: all
};

/// Sums of some groups.
struct Sum {
    int64_t allocations = 0, bytes = 0, requested = 0, pending = 0;
};

Sum add_up(std::span<const AttributionGroup> groups) {
    Sum sum;
    for (const AttributionGroup& group : groups) {
        sum.allocations += group.allocations;
        sum.bytes += group.block_bytes;
        sum.requested += group.requested;
        sum.pending += group.pending;
    }
    return sum;
}

/// The frames of a stack that a list shows, innermost first: the user's; all Python frames if the whole stack is
/// library code; the site if there is no Python.
struct ShownFrames {
    std::vector<FrameId> frames;
    int64_t native = 0;  ///< C++ frames, which are not shown
};

ShownFrames frames_to_show(const StackTable& stacks, StackId stack) {
    const FrameId site = stacks.site(stack);
    const FrameRole least = std::min(stacks.role(site), FrameRole::console);
    ShownFrames shown;
    for (const FrameId frame : stacks.frames_of(stack)) {
        const FrameRole role = stacks.role(frame);
        shown.native += !is_located(role);
        if (is_located(role) && role >= least) {
            shown.frames.push_back(frame);
        }
    }
    if (shown.frames.empty() && site != 0) {
        shown.frames.push_back(site);
    }
    return shown;
}

/// The groups of one device, cut to the limit.
struct Listing {
    std::vector<AttributionGroup> groups;
    size_t shown = 0;

    Listing(const DeviceTimePoint& time_point, const Way& way, size_t limit)
        : groups(attribution_at(time_point.trace(), time_point.device(), time_point.analysis->live(), time_point.point,
                                way.by, way.options)),
          shown(limited(groups.size(), limit)) {}

    std::span<const AttributionGroup> top() const { return std::span(groups).first(shown); }
    std::span<const AttributionGroup> rest() const { return std::span(groups).subspan(shown); }
    Sum total() const { return add_up(groups); }
};

std::string text_row(int64_t bytes, int64_t total, int64_t allocations, std::string_view name) {
    return fmt::format("{:>10}  {:5.1f} %  {:>9}  {}\n", format_bytes(bytes), share(bytes, total) * 100,
                       format_count(allocations), visible_text(name));
}

std::string below_name(const std::string& text) { return fmt::format("{:34}{}\n", "", text); }

std::string callers_text(const Words& words, const StackTable& stacks, StackId stack) {
    std::string text;
    const auto [frames, native] = frames_to_show(stacks, stack);
    // One line of a program can allocate at several places of a library.
    if (const FrameId innermost = stacks.innermost(stack); !frames.empty() && frames.front() != innermost) {
        text += below_name(words("in {frame}", with("frame", visible_text(describe_frame(stacks, innermost)))));
    }
    const size_t shown = std::min(frames.size(), most_frames_shown);
    for (size_t i = 1; i < shown; ++i) {
        text += below_name(words("called by {frame}", with("frame", visible_text(describe_frame(stacks, frames[i])))));
    }
    if (const size_t hidden = frames.size() - shown; hidden > 0) {
        text += below_name(words.plural(static_cast<int64_t>(hidden), "({n} more frame; --format json shows it)",
                                        "({n} more frames; --format json shows them)"));
    }
    if (native > 0) {
        text += below_name(words.plural(native, "({n} C++ frame; --format json shows it)",
                                        "({n} C++ frames; --format json shows them)"));
    }
    return text;
}

std::string device_text(const DeviceTimePoint& time_point, const Way& way, const TopOptions& options,
                        const Words& words) {
    const Listing listing(time_point, way, options.limit);
    const Sum total = listing.total();
    std::string text =
        words.plural(total.allocations, "Device {device}, {time_point}: {bytes} active in {n} allocation",
                     "Device {device}, {time_point}: {bytes} active in {n} allocations",
                     with("device", time_point.device().device), with("time_point", time_point_text(words, time_point)),
                     with("bytes", format_bytes(total.bytes))) +
        '\n';
    text += fmt::format("{:>10}  {:>7}  {:>9}  {}\n", words("Bytes"), words("Share"), words("Count"), options.by);
    for (const AttributionGroup& group : listing.top()) {
        text += text_row(group.block_bytes, total.bytes, group.allocations, group_words(words, way.by, group.name));
        if (way.by == GroupBy::stack) {
            text += callers_text(words, time_point.trace().stacks, group.stack);
        }
    }
    if (!listing.rest().empty()) {
        const Sum rest = add_up(listing.rest());
        text += text_row(rest.bytes, total.bytes, rest.allocations, words_about_rest(words, listing.rest().size()));
    }
    return text + text_row(total.bytes, total.bytes, total.allocations, words("total"));
}

ordered_json group_json(const DeviceTimePoint& time_point, const AttributionGroup& group, int64_t total, GroupBy by) {
    ordered_json json = {{"name", group.name},
                         {"bytes", group.block_bytes},
                         {"share", share(group.block_bytes, total)},
                         {"allocations", group.allocations},
                         {"requested_bytes", group.requested},
                         {"pending_bytes", group.pending},
                         {"largest_allocation", time_point.device().allocation_id(group.largest)}};
    if (by == GroupBy::stack) {
        json["frames"] = frames_json(time_point.trace().stacks, group.stack);
    }
    return json;
}

ordered_json sum_json(const Sum& sum) {
    return {{"bytes", sum.bytes},
            {"allocations", sum.allocations},
            {"requested_bytes", sum.requested},
            {"pending_bytes", sum.pending}};
}

ordered_json device_json(const DeviceTimePoint& time_point, const Way& way, const TopOptions& options,
                         const Words& words) {
    const Listing listing(time_point, way, options.limit);
    const Sum total = listing.total();
    auto groups = ordered_json::array();
    for (const AttributionGroup& group : listing.top()) {
        groups.push_back(group_json(time_point, group, total.bytes, way.by));
    }
    ordered_json rest = sum_json(add_up(listing.rest()));
    rest["groups"] = listing.rest().size();
    return {{"device", time_point.device().device},
            {"time_point", time_point_json(words, time_point)},
            {"by", options.by},
            {"groups", std::move(groups)},
            {"rest", std::move(rest)},
            {"total", sum_json(total)}};
}

/// Of a job, the sites at the peaks of its ranks are known without opening their traces.
Status run_top_of_job(const TopOptions& options, const Words& words, Progress& progress) {
    if (options.time_point.at != "peak" || options.time_point.device) {
        return usage_error("Of a job, top shows the ranks' peaks; for another point in time name a rank: {folder}:0",
                           with("folder", options.time_point.trace));
    }
    return print_job_sites(options.time_point.trace, options.limit, options.format, words, progress);
}

Status run_top(const TopOptions& options, const Words& words, Progress& progress) {
    if (is_job(options.time_point.trace)) {
        return run_top_of_job(options, words, progress);
    }
    auto way = parse_way(options.by);
    if (!way) {
        return way.error();
    }
    const auto trace = open_input(options.time_point.trace, progress);
    if (!trace) {
        return trace.error();
    }
    const auto time_points = time_points_of(*trace, options.time_point);
    if (!time_points) {
        return time_points.error();
    }
    std::unique_ptr<const Graph> graph;
    if (needs_graph(way->by)) {
        auto read = read_whole_graph(*trace, progress);
        if (!read) {
            return read.error();
        }
        graph = std::move(*read);
        way->options.categories = graph == nullptr ? nullptr : &graph->categories;
    }
    std::string text;
    auto list = ordered_json::array();
    for (const DeviceTimePoint& time_point : *time_points) {
        if (options.format == "json") {
            list.push_back(device_json(time_point, *way, options, words));
        } else {
            text += (text.empty() ? "" : "\n") + device_text(time_point, *way, options, words);
        }
    }
    if (options.format == "json") {
        return print_json(list.size() == 1 ? list.front() : list);
    }
    return print(text);
}

}  // namespace

void add_top_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<TopOptions>();
    CLI::App& command = add_command(
        line, "top",
        {words("Show what occupies GPU memory at a point in time"),
         words("Bytes are those of active blocks, including allocator rounding; the total is\n"
               "active_bytes.all.current of stats. JSON is one object, or a list if the trace has several devices\n"
               "and --device is missing."),
         "  tidemark top run.tide --at peak --by line\n"
         "  tidemark top run.tide --at mark:epoch#2 --by stack --limit 5 --format json"});
    add_time_point_options(line, command, options->time_point, "peak", only_device_help(words));
    mention_jobs(line, command);
    command
        .add_option("--by", options->by,
                    words("How to group: {groups}; module:DEPTH groups by the first DEPTH parts of the module's name",
                          with("groups", group_by_names())))
        ->capture_default_str();
    add_limit_option(command, words, words("Number of groups to show; 0 shows all"), options->limit);
    add_format_option(command, words("Output format"), options->format, {"text", "json"});
    set_work(line, command, [options, words](Progress& progress) { return run_top(*options, words, progress); });
}

}  // namespace tidemark::cli
