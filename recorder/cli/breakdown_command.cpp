// tidemark ledger: from the bytes a program asked for up to what nvidia-smi shows.
#include "storage/breakdown/breakdown.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "recorder/cli/command.h"
#include "recorder/cli/describe.h"
#include "recorder/cli/output.h"
#include "recorder/cli/time_point_options.h"
#include "storage/base/units.h"
#include "storage/timeline/time_point.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

struct BreakdownOptions {
    TimePointOptions time_point;
    std::string format = "text";
};

/// The ledger of one device at the chosen moment.
struct Page {
    std::shared_ptr<const Analysis> analysis;
    const DeviceHistory& device;
    BreakdownRow row;
    std::vector<std::string> gaps;

    Page(DeviceTimePoint time_point, const std::string& at)
        : analysis(std::move(time_point.analysis)),
          device(analysis->device()),
          gaps(breakdown_gaps(analysis->trace(), device)) {
        const Breakdown breakdown(analysis);
        const std::optional<int64_t> time = named_time(analysis->trace(), at);
        row = time ? breakdown.at_time(*time) : breakdown.at(time_point.event);
    }

    int64_t total() const {
        return std::accumulate(row.components.begin(), row.components.end(), int64_t{0},
                               [](int64_t sum, const Component& component) { return sum + component.bytes; });
    }
    std::optional<int64_t> sample_age() const {
        return row.sample_time ? std::optional(row.time - *row.sample_time) : std::nullopt;
    }
};

/// What a layer is, for somebody who sees it for the first time.
std::string words_about(const Component& component) {
    switch (component.kind) {
        case ComponentKind::requested: return "asked for by the program, in " + counted(component.count, "block");
        case ComponentKind::rounding: return "added by PyTorch when it rounds block sizes up";
        case ComponentKind::pending:
            return "freed by the program, but a CUDA stream may still use it: " + counted(component.count, "block");
        case ComponentKind::free_in_segments:
            return fmt::format("free, in {} that also hold{} blocks: only PyTorch can use it (fragmentation)",
                               counted(component.count, "segment"), component.count == 1 ? "s" : "");
        case ComponentKind::cached_segments:
            return fmt::format("free, in {} without any block: torch.cuda.empty_cache() gives it back",
                               counted(component.count, "segment"));
        case ComponentKind::private_pools:
            return "free, but kept for private pools (CUDA graphs, MemPool): only their owners can use it";
        case ComponentKind::library:
            return fmt::format("taken from the driver past PyTorch's allocator, in {}", counted(component.count, "piece"));
        case ComponentKind::context: return "what every process pays for using a GPU at all";
        case ComponentKind::kernels: return "code of GPU kernels, loaded at their first use";
        case ComponentKind::other_processes: return "another program on the same GPU";
        case ComponentKind::unknown:
            return component.bytes < 0 ? "the layers claim more than NVML shows" : "not explained by anything recorded";
    }
    return {};
}

/// Short, for the column of names.
std::string title_of(const Component& component) {
    switch (component.kind) {
        case ComponentKind::requested: return "requested";
        case ComponentKind::rounding: return "rounding";
        case ComponentKind::pending: return "waiting for a stream";
        case ComponentKind::free_in_segments: return "free between blocks";
        case ComponentKind::cached_segments: return "idle segments";
        case ComponentKind::private_pools: return "free in private pools";
        case ComponentKind::library: return component.name;
        case ComponentKind::context: return "CUDA context";
        case ComponentKind::kernels: return "kernels";
        case ComponentKind::other_processes: return component.name;
        case ComponentKind::unknown: return "not explained";
    }
    return {};
}

std::string total_words(const Page& page) {
    if (!page.row.device_used) {
        return "all that is known; nvidia-smi may show more";
    }
    return fmt::format("what nvidia-smi shows for the device{}",
                       page.row.device_total == 0 ? "" : ", of " + format_bytes(page.row.device_total));
}

std::string table_row(const Page& page, int64_t bytes, std::string_view title, std::string_view words) {
    return fmt::format("{:>10}  {:5.1f} %  {:<28}  {}\n", format_bytes(bytes), share(bytes, page.total()) * 100,
                       one_line(title), words);
}

std::string page_text(const Page& page) {
    std::string text = fmt::format("Device {}, event {} of {}, {}\n", page.device.device, format_count(page.row.event),
                                   format_count(page.device.event_count()), format_time_point(page.row.time));
    text += fmt::format("{:>10}  {:>7}  {:<28}  {}\n", "Bytes", "Share", "Layer", "What it is");
    for (const Component& component : page.row.components) {
        text += table_row(page, component.bytes, title_of(component), words_about(component));
    }
    text += table_row(page, page.total(), "total", total_words(page));
    if (page.row.process_used) {
        text +=
            fmt::format("nvidia-smi shows {} of it for the recorded process.\n", format_bytes(*page.row.process_used));
    }
    if (const auto age = page.sample_age()) {
        text += fmt::format("NVML was last asked {} before; since then its figure was moved by what is known.\n",
                            format_duration(*age));
    }
    for (const std::string& gap : page.gaps) {
        text += fmt::format("Note: {}\n", one_line(gap));
    }
    return text;
}

ordered_json component_json(const Page& page, const Component& component) {
    ordered_json json = {
        {"component", component_word(component.kind)},           {"name", component.name},   {"bytes", component.bytes},
        {"share", share(component.bytes, page.total())}, {"count", component.count}, {"text", words_about(component)}};
    if (component.kind == ComponentKind::other_processes) {
        json["pid"] = component.pid;
    }
    return json;
}

ordered_json page_json(const Page& page) {
    auto components = ordered_json::array();
    for (const Component& component : page.row.components) {
        components.push_back(component_json(page, component));
    }
    return {{"device", page.device.device},
            {"time_point", {{"event", page.row.event}, {"time_ns", page.row.time}}},
            {"device_used_bytes", or_null(page.row.device_used)},
            {"process_used_bytes", or_null(page.row.process_used)},
            {"device_total_bytes", page.row.device_total == 0 ? ordered_json() : ordered_json(page.row.device_total)},
            {"sample_time_ns", or_null(page.row.sample_time)},
            {"sample_age_ns", or_null(page.sample_age())},
            {"components", std::move(components)},
            {"total_bytes", page.total()},
            {"gaps", page.gaps}};
}

Status run_breakdown(const BreakdownOptions& options, Progress& progress) {
    auto time_points = open_time_points(options.time_point, progress);
    if (!time_points) {
        return time_points.error();
    }
    std::string text;
    auto list = ordered_json::array();
    for (DeviceTimePoint& time_point : *time_points) {
        const Page page(std::move(time_point), options.time_point.at);
        if (options.format == "json") {
            list.push_back(page_json(page));
        } else {
            text += (text.empty() ? "" : "\n") + page_text(page);
        }
    }
    if (options.format == "json") {
        return print_json(list.size() == 1 ? list.front() : list);
    }
    return print(text);
}

}  // namespace

void add_breakdown_command(CLI::App& app, Job& job) {
    auto options = std::make_shared<BreakdownOptions>();
    CLI::App& command = add_command(
        app, "breakdown", "Where a GPU's memory is, up to the figure of nvidia-smi",
        "One line per layer, from the bytes the program asked for outwards; they add up exactly. Without samples of\n"
        "NVML the layers end at what is known. JSON is one object, or a list when there are several devices and none\n"
        "is chosen.",
        "  tidemark ledger run.tide\n"
        "  tidemark ledger run.tide --at peak --device 0 --format json");
    add_time_point_options(command, options->time_point, "end");
    command.add_option("--format", options->format, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    command.callback(
        [options, &job] { job = [options](Progress& progress) { return run_breakdown(*options, progress); }; });
}

}  // namespace tidemark::cli
