// tidemark ledger: from the bytes a program asked for up to what nvidia-smi shows.
#include "storage/ledger/ledger.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "recorder/cli/command.h"
#include "recorder/cli/describe.h"
#include "recorder/cli/moment_options.h"
#include "recorder/cli/output.h"
#include "storage/base/units.h"
#include "storage/replay/moment.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

struct LedgerOptions {
    MomentOptions moment;
    std::string format = "text";
};

/// The ledger of one device at the chosen moment.
struct Page {
    std::shared_ptr<const Analysis> analysis;
    const DeviceHistory& device;
    LedgerRow row;
    std::vector<std::string> gaps;

    Page(DeviceMoment moment, const std::string& at)
        : analysis(std::move(moment.analysis)),
          device(analysis->device()),
          gaps(ledger_gaps(analysis->trace(), device)) {
        const Ledger ledger(analysis);
        const std::optional<int64_t> time = named_time(analysis->trace(), at);
        row = time ? ledger.at_time(*time) : ledger.at(moment.event);
    }

    int64_t total() const {
        return std::accumulate(row.layers.begin(), row.layers.end(), int64_t{0},
                               [](int64_t sum, const Layer& layer) { return sum + layer.bytes; });
    }
    std::optional<int64_t> sample_age() const {
        return row.sample_time ? std::optional(row.time - *row.sample_time) : std::nullopt;
    }
};

/// What a layer is, for somebody who sees it for the first time.
std::string words_about(const Layer& layer) {
    switch (layer.kind) {
        case LayerKind::requested: return "asked for by the program, in " + counted(layer.count, "block");
        case LayerKind::rounding: return "added by PyTorch when it rounds block sizes up";
        case LayerKind::waiting:
            return "freed by the program, but a CUDA stream may still use it: " + counted(layer.count, "block");
        case LayerKind::free_in_segments:
            return fmt::format("free, in {} that also hold{} blocks: only PyTorch can use it (fragmentation)",
                               counted(layer.count, "segment"), layer.count == 1 ? "s" : "");
        case LayerKind::idle_segments:
            return fmt::format("free, in {} without any block: torch.cuda.empty_cache() gives it back",
                               counted(layer.count, "segment"));
        case LayerKind::private_pools:
            return "free, but kept for private pools (CUDA graphs, MemPool): only their owners can use it";
        case LayerKind::library:
            return fmt::format("taken from the driver past PyTorch's allocator, in {}", counted(layer.count, "piece"));
        case LayerKind::context: return "what every process pays for using a GPU at all";
        case LayerKind::kernels: return "code of GPU kernels, loaded at their first use";
        case LayerKind::other_processes: return "another program on the same GPU";
        case LayerKind::unknown:
            return layer.bytes < 0 ? "the layers claim more than NVML shows" : "not explained by anything recorded";
    }
    return {};
}

/// Short, for the column of names.
std::string title_of(const Layer& layer) {
    switch (layer.kind) {
        case LayerKind::requested: return "requested";
        case LayerKind::rounding: return "rounding";
        case LayerKind::waiting: return "waiting for a stream";
        case LayerKind::free_in_segments: return "free between blocks";
        case LayerKind::idle_segments: return "idle segments";
        case LayerKind::private_pools: return "free in private pools";
        case LayerKind::library: return layer.name;
        case LayerKind::context: return "CUDA context";
        case LayerKind::kernels: return "kernels";
        case LayerKind::other_processes: return layer.name;
        case LayerKind::unknown: return "not explained";
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
                                   format_count(page.device.event_count()), format_moment(page.row.time));
    text += fmt::format("{:>10}  {:>7}  {:<28}  {}\n", "Bytes", "Share", "Layer", "What it is");
    for (const Layer& layer : page.row.layers) {
        text += table_row(page, layer.bytes, title_of(layer), words_about(layer));
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

ordered_json layer_json(const Page& page, const Layer& layer) {
    ordered_json json = {
        {"layer", layer_word(layer.kind)},           {"name", layer.name},   {"bytes", layer.bytes},
        {"share", share(layer.bytes, page.total())}, {"count", layer.count}, {"text", words_about(layer)}};
    if (layer.kind == LayerKind::other_processes) {
        json["pid"] = layer.pid;
    }
    return json;
}

ordered_json page_json(const Page& page) {
    auto layers = ordered_json::array();
    for (const Layer& layer : page.row.layers) {
        layers.push_back(layer_json(page, layer));
    }
    return {{"device", page.device.device},
            {"moment", {{"event", page.row.event}, {"time_ns", page.row.time}}},
            {"device_used_bytes", or_null(page.row.device_used)},
            {"process_used_bytes", or_null(page.row.process_used)},
            {"device_total_bytes", page.row.device_total == 0 ? ordered_json() : ordered_json(page.row.device_total)},
            {"sample_time_ns", or_null(page.row.sample_time)},
            {"sample_age_ns", or_null(page.sample_age())},
            {"layers", std::move(layers)},
            {"total_bytes", page.total()},
            {"gaps", page.gaps}};
}

Status run_ledger(const LedgerOptions& options, Progress& progress) {
    auto moments = open_moments(options.moment, progress);
    if (!moments) {
        return moments.error();
    }
    std::string text;
    auto list = ordered_json::array();
    for (DeviceMoment& moment : *moments) {
        const Page page(std::move(moment), options.moment.at);
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

void add_ledger_command(CLI::App& app, Job& job) {
    auto options = std::make_shared<LedgerOptions>();
    CLI::App& command = add_command(
        app, "ledger", "Where a GPU's memory is, up to the figure of nvidia-smi",
        "One line per layer, from the bytes the program asked for outwards; they add up exactly. Without samples of\n"
        "NVML the layers end at what is known. JSON is one object, or a list when there are several devices and none\n"
        "is chosen.",
        "  tidemark ledger run.tide\n"
        "  tidemark ledger run.tide --at peak --device 0 --format json");
    add_moment_options(command, options->moment, "end");
    command.add_option("--format", options->format, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    command.callback(
        [options, &job] { job = [options](Progress& progress) { return run_ledger(*options, progress); }; });
}

}  // namespace tidemark::cli
