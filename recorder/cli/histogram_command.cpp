// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark histogram: how large the allocations are, and how long they stay.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "recorder/cli/command.h"
#include "recorder/cli/describe.h"
#include "recorder/cli/output.h"
#include "recorder/cli/time_point_options.h"
#include "storage/attribution/histogram.h"
#include "storage/base/units.h"
#include "storage/explain/iterations.h"
#include "storage/replay/active_walk.h"
#include "storage/replay/repeated_step.h"
#include "storage/timeline/time_point.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

constexpr int widest_bar = 40;  // characters

struct HistogramOptions {
    TimePointOptions time_point;
    std::string from;  ///< empty: only what is active at the point in time
    std::string by = "size";
    std::string format = "text";
};

/// The histogram of one device.
struct Counted {
    std::vector<HistogramBin> bins;
    std::vector<HistogramAmount> amounts;
    HistogramAmount total;
};

Result<std::vector<AllocationIndex>> counted_allocations(const DeviceTimePoint& time_point,
                                                         const HistogramOptions& options) {
    const DeviceHistory& device = time_point.device();
    if (!options.from.empty()) {
        const auto from = find_time_point(time_point.trace(), device, time_point.analysis->curves(), options.from);
        if (!from) {
            return from.error();
        }
        const EventNumber first = last_state(device, *from), last = last_state(device, time_point.point);
        return first > last ? usage_error("--from {from} is later than --at {at}.", with("from", options.from),
                                          with("at", options.time_point.at))
                            : Result<std::vector<AllocationIndex>>(active_within(device.allocations, first, last));
    }
    std::vector<AllocationIndex> allocations;
    ActiveWalk(device, time_point.analysis->live())
        .for_each_active(time_point.point,
                         [&](const ActiveAllocation& active) { allocations.push_back(active.allocation); });
    std::sort(allocations.begin(), allocations.end());
    return allocations;
}

Result<Counted> count(const DeviceTimePoint& time_point, const HistogramOptions& options) {
    auto allocations = counted_allocations(time_point, options);
    if (!allocations) {
        return allocations.error();
    }
    std::vector<EventNumber> begins;
    if (options.by == "iterations") {
        begins = Iterations(time_point.trace(), time_point.device(), time_point.analysis->curves()).begins();
        if (begins.empty()) {
            return usage_error("{path}: no steps were recorded, and nothing else repeats; use --by lifetime.",
                               with("path", time_point.trace().path));
        }
    }
    const Histograms histograms(time_point.device(), std::move(*allocations), begins);
    return options.by == "size" ? Counted{histograms.sizes(), histograms.by_size(), histograms.total()}
                                : Counted{histograms.lifetimes(), histograms.by_lifetime(), histograms.total()};
}

std::string value_text(uint64_t value, const std::string& by) {
    const auto number = static_cast<int64_t>(value);
    return by == "size" ? format_bytes(number) : by == "lifetime" ? format_duration(number) : format_count(number);
}

std::string bin_text(const HistogramBin& bin, const std::string& by, const Words& words) {
    if (bin.never_freed) {
        return words("never freed");
    }
    if (by == "iterations" && bin.to == bin.from + 1) {
        return value_text(bin.from, by);
    }
    if (bin.to == UINT64_MAX) {
        return words("{from} or more", with("from", value_text(bin.from, by)));
    }
    // Iterations are whole numbers, so the last one of a bin is named.
    return words("{from} to {to}", with("from", value_text(bin.from, by)),
                 with("to", value_text(by == "iterations" ? bin.to - 1 : bin.to, by)));
}

std::string bar(int64_t bytes, int64_t most) {
    const double width = share(bytes, most) * widest_bar;
    return std::string(bytes > 0 ? std::max<size_t>(1, static_cast<size_t>(width + 0.5)) : 0, '#');
}

std::string row_text(const HistogramAmount& amount, const HistogramAmount& total, std::string_view name,
                     std::string_view bar) {
    const std::string row =
        fmt::format("{:>10}  {:5.1f} %  {:>9}  {:<24} {}", format_bytes(amount.bytes),
                    share(amount.bytes, total.bytes) * 100, format_count(amount.allocations), name, bar);
    return row.substr(0, row.find_last_not_of(' ') + 1) + '\n';
}

std::string when_text(const DeviceTimePoint& time_point, const HistogramOptions& options, const Words& words) {
    const std::string at = time_point_text(words, time_point);
    return options.from.empty() ? at : words("{from} to {to}", with("from", options.from), with("to", at));
}

std::string device_text(const DeviceTimePoint& time_point, const Counted& counted, const HistogramOptions& options,
                        const Words& words) {
    std::string text =
        words.plural(counted.total.allocations, "Device {device}, {time_point}: {bytes} active in {n} allocation",
                     "Device {device}, {time_point}: {bytes} active in {n} allocations",
                     with("device", time_point.device().device),
                     with("time_point", when_text(time_point, options, words)),
                     with("bytes", format_bytes(counted.total.bytes))) +
        '\n';
    text += fmt::format("{:>10}  {:>7}  {:>9}  {}\n", words("Bytes"), words("Share"), words("Count"), options.by);
    int64_t most = 0;
    for (const HistogramAmount& amount : counted.amounts) {
        most = std::max(most, amount.bytes);
    }
    for (size_t bin = 0; bin < counted.bins.size(); ++bin) {
        text += row_text(counted.amounts[bin], counted.total, bin_text(counted.bins[bin], options.by, words),
                         bar(counted.amounts[bin].bytes, most));
    }
    return text + row_text(counted.total, counted.total, words("total"), "");
}

ordered_json bin_json(const HistogramBin& bin, const HistogramAmount& amount) {
    const auto limit = [&](uint64_t value) {
        return bin.never_freed || value == UINT64_MAX ? ordered_json(nullptr) : ordered_json(value);
    };
    return {{"from", limit(bin.from)},
            {"to", limit(bin.to)},
            {"never_freed", bin.never_freed},
            {"allocations", amount.allocations},
            {"bytes", amount.bytes}};
}

ordered_json device_json(const DeviceTimePoint& time_point, const Counted& counted, const HistogramOptions& options,
                         const Words& words) {
    auto bins = ordered_json::array();
    for (size_t bin = 0; bin < counted.bins.size(); ++bin) {
        bins.push_back(bin_json(counted.bins[bin], counted.amounts[bin]));
    }
    return {{"device", time_point.device().device},
            {"from", options.from.empty() ? ordered_json(nullptr) : ordered_json(options.from)},
            {"time_point", time_point_json(words, time_point)},
            {"by", options.by},
            {"bins", std::move(bins)},
            {"total", {{"allocations", counted.total.allocations}, {"bytes", counted.total.bytes}}}};
}

Status run_histogram(const HistogramOptions& options, const Words& words, Progress& progress) {
    const auto time_points = open_time_points(options.time_point, progress);
    if (!time_points) {
        return time_points.error();
    }
    std::string text;
    auto list = ordered_json::array();
    for (const DeviceTimePoint& time_point : *time_points) {
        const auto counted = count(time_point, options);
        if (!counted) {
            return counted.error();
        }
        if (options.format == "json") {
            list.push_back(device_json(time_point, *counted, options, words));
        } else {
            text += (text.empty() ? "" : "\n") + device_text(time_point, *counted, options, words);
        }
    }
    if (options.format == "json") {
        return print_json(list.size() == 1 ? list.front() : list);
    }
    return print(text);
}

}  // namespace

void add_histogram_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<HistogramOptions>();
    CLI::App& command = add_command(
        line, "histogram",
        {words("Show how large the allocations are, or how long they stay"),
         words("Counts what is active at a point in time; with --from, everything that is active between the two.\n"
               "Bytes are those of blocks. Lifetimes end with the request to free. JSON is one object, or a list if\n"
               "the trace has several devices and --device is missing; sizes are bytes, lifetimes nanoseconds."),
         "  tidemark histogram run.tide --at peak --by size\n"
         "  tidemark histogram run.tide --from event:0 --at end --by lifetime\n"
         "  tidemark histogram run.tide --at end --by iterations --format json"});
    add_time_point_options(line, command, options->time_point, "peak", only_device_help(words));
    command.add_option("--from", options->from,
                       words("Count everything that is active from this point in time to that of --at"));
    command.add_option("--by", options->by, words("What to count: size, lifetime, or lifetime in iterations"))
        ->check(CLI::IsMember({"size", "lifetime", "iterations"}))
        ->capture_default_str();
    add_format_option(command, words("Output format"), options->format, {"text", "json"});
    set_work(line, command, [options, words](Progress& progress) { return run_histogram(*options, words, progress); });
}

}  // namespace tidemark::cli
