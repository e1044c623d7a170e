// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark breakdown: the components of GPU memory, from requested bytes to the total in nvidia-smi.
#include "storage/breakdown/breakdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "recorder/cli/command.h"
#include "recorder/cli/describe.h"
#include "recorder/cli/output.h"
#include "recorder/cli/time_point_options.h"
#include "storage/base/units.h"
#include "storage/report/layout.h"
#include "storage/text/data_gap_words.h"
#include "storage/text/fact_words.h"
#include "storage/timeline/time_point.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

struct BreakdownOptions {
    TimePointOptions time_point;
    std::string format = "text";
};

/// The breakdown of one device at the selected point in time.
struct Page {
    std::shared_ptr<const Analysis> analysis;
    const DeviceHistory& device;
    TimePoint point;
    BreakdownRow row;
    std::vector<std::string> gaps;

    Page(DeviceTimePoint time_point, const Words& words)
        : analysis(std::move(time_point.analysis)), device(analysis->device()), point(time_point.point) {
        const Breakdown breakdown(analysis);
        for (const BreakdownGap& gap : breakdown.gaps()) {
            gaps.push_back(breakdown_gap_words(words, gap));
        }
        row = breakdown.at(point);
    }

    int64_t total() const {
        return std::accumulate(row.components.begin(), row.components.end(), int64_t{0},
                               [](int64_t sum, const Component& component) { return sum + component.bytes; });
    }
    /// Returns the time since the sample in ns; negative if it was taken later.
    std::optional<int64_t> sample_age() const {
        return row.sample_time ? std::optional(row.time - *row.sample_time) : std::nullopt;
    }
};

/// Returns the description of a component for its row.
std::string words_about(const Words& words, const Component& component) {
    const int64_t count = component.count;
    switch (component.kind) {
        case ComponentKind::requested:
            if (component.name == driver_name) {
                return words.plural(count, "allocated from the driver by the program, in {n} allocation",
                                    "allocated from the driver by the program, in {n} allocations");
            }
            return words.plural(count, "requested by the program, in {n} block",
                                "requested by the program, in {n} blocks");
        case ComponentKind::rounding: return words("allocator rounding: PyTorch rounds block sizes up");
        case ComponentKind::pending:
            return words.plural(count, "freed by the program, but a CUDA stream may still use it: {n} block",
                                "freed by the program, but a CUDA stream may still use it: {n} blocks");
        case ComponentKind::free_in_segments:
            return words.plural(count, "free, in {n} segment with live blocks: only PyTorch can use it (fragmentation)",
                                "free, in {n} segments with live blocks: only PyTorch can use it (fragmentation)");
        case ComponentKind::cached_segments:
            return words.plural(count, "free, in {n} segment without live blocks: torch.cuda.empty_cache() releases it",
                                "free, in {n} segments without live blocks: torch.cuda.empty_cache() releases it");
        case ComponentKind::private_pools:
            return words("free, but reserved for private pools (CUDA graphs, MemPool): only their owners can use it");
        case ComponentKind::driver_pools:
            return words("free, in memory pools of the driver: only cudaMallocAsync can use it");
        case ComponentKind::library:
            return words.plural(count, "requested from the driver by a library, in {n} allocation",
                                "requested from the driver by a library, in {n} allocations");
        case ComponentKind::context: return words("needed by every process that uses the GPU");
        case ComponentKind::kernels: return words("code of GPU kernels, loaded at their first use");
        case ComponentKind::other_processes:
            return component.pid != 0 ? words("another program on the same GPU")
                                      : words("other programs on the same GPU; NVML's figures of them cannot be true");
        case ComponentKind::unknown: return words("not explained by the recorded data");
    }
    return {};
}

std::string total_words(const Words& words, const Page& page) {
    if (!page.row.device_used) {
        return words("total of the known components; nvidia-smi may show more");
    }
    return page.row.device_total == 0 ? words("as nvidia-smi shows it for the device")
                                      : words("as nvidia-smi shows it for the device, which has {bytes}",
                                              with("bytes", format_bytes(page.row.device_total)));
}

/// The rows of a page have the same width of titles.
struct TableLayout {
    const Page& page;
    size_t title_width = 28;  // columns

    TableLayout(const Words& words, const Page& of) : page(of) {
        for (const Component& component : page.row.components) {
            title_width = std::max(title_width, display_width(component_name(words, component)));
        }
    }
    std::string row(int64_t bytes, std::string_view title, std::string_view about) const {
        return fmt::format("{:>10}  {:5.1f} %  {:<{}}  {}\n", format_bytes(bytes), share(bytes, page.total()) * 100,
                           visible_text(title), title_width, about);
    }
};

std::string title_words(const Words& words, const Page& page) {
    return words("Device {device}, {time_point}", with("device", page.device.device),
                 with("time_point", time_point_text(words, page.analysis->trace(), page.device, page.point)));
}

std::string page_text(const Words& words, const Page& page) {
    const TableLayout layout(words, page);
    std::string text = title_words(words, page) + '\n';
    text += fmt::format("{:>10}  {:>7}  {:<{}}  {}\n", words("Bytes"), words("Share"), words("Component"),
                        layout.title_width, words("What it is"));
    for (const Component& component : page.row.components) {
        text += layout.row(component.bytes, component_name(words, component), words_about(words, component));
    }
    text += layout.row(page.total(), words("total"), total_words(words, page));
    const auto note = [&](const std::string& sentence) { text += visible_text(sentence) + '\n'; };
    if (page.row.process_used) {
        note(words("nvidia-smi attributes {bytes} of the total to the recorded process.",
                   with("bytes", format_bytes(*page.row.process_used))));
    }
    if (const auto age = page.sample_age()) {
        const auto duration = with("duration", format_duration(std::abs(*age)));
        note(*age >= 0 ? words("The nearest NVML sample was taken {duration} before this point in time; the recorded "
                               "changes since then are added.",
                               duration)
                       : words("The nearest NVML sample was taken {duration} after this point in time; the recorded "
                               "changes until then are subtracted.",
                               duration));
    }
    if (page.row.repeated && !page.row.repeated->is_at_end()) {
        note(words("Note: {text}", with("text", describe_place(*page.row.repeated))));
    }
    for (const std::string& gap : page.gaps) {
        note(words("Note: {text}", with("text", gap)));
    }
    return text;
}

ordered_json component_json(const Words& words, const Page& page, const Component& component) {
    ordered_json json = {{"component", component_word(component.kind)},
                         {"name", component.name},
                         {"bytes", component.bytes},
                         {"share", share(component.bytes, page.total())},
                         {"count", component.count},
                         {"text", words_about(words, component)}};
    if (component.kind == ComponentKind::other_processes) {
        json["pid"] = component.pid == 0 ? ordered_json() : ordered_json(component.pid);
    }
    return json;
}

ordered_json time_point_json(const BreakdownRow& row) {
    ordered_json json = {{"event", row.event}, {"time_ns", row.time}};
    add_place(json, row.repeated);
    return json;
}

ordered_json page_json(const Words& words, const Page& page) {
    auto components = ordered_json::array();
    for (const Component& component : page.row.components) {
        components.push_back(component_json(words, page, component));
    }
    return {{"device", page.device.device},
            {"time_point", time_point_json(page.row)},
            {"device_used_bytes", or_null(page.row.device_used)},
            {"process_used_bytes", or_null(page.row.process_used)},
            {"device_total_bytes", page.row.device_total == 0 ? ordered_json() : ordered_json(page.row.device_total)},
            {"sample_time_ns", or_null(page.row.sample_time)},
            {"sample_age_ns", or_null(page.sample_age())},
            {"components", std::move(components)},
            {"total_bytes", page.total()},
            {"gaps", page.gaps}};
}

Status run_breakdown(const BreakdownOptions& options, const Words& words, Progress& progress) {
    auto time_points = open_time_points(options.time_point, progress);
    if (!time_points) {
        return time_points.error();
    }
    std::string text;
    auto list = ordered_json::array();
    for (DeviceTimePoint& time_point : *time_points) {
        const Page page(std::move(time_point), words);
        if (options.format == "json") {
            list.push_back(page_json(words, page));
        } else {
            text += (text.empty() ? "" : "\n") + page_text(words, page);
        }
    }
    if (options.format == "json") {
        return print_json(list.size() == 1 ? list.front() : list);
    }
    return print(text);
}

}  // namespace

void add_breakdown_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<BreakdownOptions>();
    CLI::App& command = add_command(
        line, "breakdown",
        {words("Show the memory breakdown of a GPU, up to the total in nvidia-smi"),
         words("Prints one line per component, from the bytes that the program requested to the total in\n"
               "nvidia-smi. The components add up to the total. Without NVML samples, the total contains the known\n"
               "components only. JSON is one object, or a list if the trace has several devices and --device is\n"
               "missing."),
         "  tidemark breakdown run.tide\n"
         "  tidemark breakdown run.tide --at peak --device 0 --format json"});
    add_time_point_options(line, command, options->time_point, "end", only_device_help(words));
    add_format_option(command, words("Output format"), options->format, {"text", "json"});
    set_work(line, command, [options, words](Progress& progress) { return run_breakdown(*options, words, progress); });
}

}  // namespace tidemark::cli
