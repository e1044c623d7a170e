// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark whatif: the recorded requests under other settings of PyTorch's allocator.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "recorder/cli/command.h"
#include "recorder/cli/output.h"
#include "recorder/cli/time_point_options.h"
#include "storage/base/units.h"
#include "storage/report/layout.h"
#include "storage/whatif/replay_sentences.h"
#include "storage/whatif/settings_replay.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

constexpr int64_t most_columns = 1000;
/// The smallest limit takes about 15 replays of 100 ns per event.
constexpr EventNumber most_events_of_search = 3'000'000;

struct WhatIfOptions {
    std::string trace, limit, format = "text";
    std::vector<std::string> settings;
    std::optional<int> device;
};

/// All runs that the command compares.
struct Compared {
    DeviceTimePoint end;
    AskedSettings asked;
    RecordedRun recorded;
    ModelRun run;
    std::optional<int64_t> smallest_before, smallest_after;  ///< memory limits; nothing: unknown

    std::string configuration() const { return configuration_text(end.trace().settings, asked.change); }
};

Result<AskedSettings> asked_settings(const WhatIfOptions& options) {
    AskedSettings asked;
    for (const std::string& configuration : options.settings) {
        TIDEMARK_TRY(add_configuration(configuration, asked.change));
    }
    if (!options.limit.empty()) {
        asked.limit = parse_bytes(options.limit);
        if (!asked.limit || *asked.limit < 0) {
            return usage_error("--{option}: \"{text}\" is not a size; write 10GiB, 500MB or 0.",
                               with("option", "limit"), with("text", options.limit));
        }
    }
    return asked;
}

Status find_smallest_limits(Compared& compared, Progress& progress) {
    const Analysis& analysis = *compared.end.analysis;
    if (analysis.device().event_count() > most_events_of_search) {
        return {};
    }
    const auto before = smallest_limit(analysis, compared.recorded, {}, progress);
    if (!before) {
        return before.error();
    }
    const auto after = smallest_limit(analysis, compared.recorded, compared.asked, progress);
    if (!after) {
        return after.error();
    }
    compared.smallest_before = *before;
    compared.smallest_after = *after;
    return {};
}

Result<Compared> compare_settings(const WhatIfOptions& options, Progress& progress) {
    const auto asked = asked_settings(options);
    if (!asked) {
        return asked.error();
    }
    const auto trace = open_input(options.trace, progress);
    if (!trace) {
        return trace.error();
    }
    auto end = main_time_point(*trace, {options.trace, "end", options.device});
    if (!end) {
        return end.error();
    }
    auto recorded = replay_as_recorded(*end->analysis, most_columns, progress);
    if (!recorded) {
        return recorded.error();
    }
    auto run = replay_with(*end->analysis, *recorded, *asked, most_columns, progress);
    if (!run) {
        return run.error();
    }
    Compared compared{std::move(*end), *asked, std::move(*recorded), std::move(*run), {}, {}};
    TIDEMARK_TRY(find_smallest_limits(compared, progress));
    return compared;
}

// --- Text -------------------------------------------------------------------------------------------------------

std::string gaps_text(const FreeGaps& gaps, const Words& words) {
    return gaps.count == 0 ? format_bytes(0)
                           : words("{bytes} in {count}", with("bytes", format_bytes(gaps.bytes)),
                                   with("count", format_count(gaps.count)));
}

std::string failure_text(const RunFigures& figures, const Words& words) {
    return !figures.failed           ? words("no")
           : figures.failed->is_sure ? words("event {event}", with("event", format_count(figures.failed->event)))
                                     : words("event {event}?", with("event", format_count(figures.failed->event)));
}

std::string retries_text(const RunFigures& figures) { return figures.retries ? format_count(*figures.retries) : "?"; }

std::string limit_text(const std::optional<int64_t>& bytes) { return bytes ? format_bytes(*bytes) : "?"; }

/// Rows of the table: the run as it was, and the model with the recorded and with the asked settings.
class Table {
public:
    Table(const Compared& compared, const Words& words)
        : recorded_(compared.recorded.recorded.figures),
          model_(compared.recorded.model.figures),
          asked_(compared.run.figures),
          words_(words) {}

    void head() { rows_.push_back({"", words_("Recorded"), words_("Model, as recorded"), words_("Model, asked")}); }
    template <class Text>
    void row(const std::string& name, Text&& text) {
        rows_.push_back({name, text(recorded_), text(model_), text(asked_)});
    }
    void limits(const Compared& compared) {
        rows_.push_back({words_("Smallest memory limit"), "", limit_text(compared.smallest_before),
                         limit_text(compared.smallest_after)});
    }
    std::string text() const {
        std::array<size_t, 4> width{};
        for (const Row& row : rows_) {
            for (size_t i = 0; i < row.size(); ++i) {
                width[i] = std::max(width[i], display_width(row[i]));
            }
        }
        std::string text;
        for (const Row& row : rows_) {
            text += pad_right(row[0], width[0]);
            for (size_t i = 1; i < row.size(); ++i) {
                text += std::string(width[i] - display_width(row[i]) + 2, ' ') + row[i];
            }
            text += '\n';
        }
        return text;
    }

private:
    using Row = std::array<std::string, 4>;

    const RunFigures &recorded_, &model_, &asked_;
    const Words& words_;
    std::vector<Row> rows_;
};

std::string table_text(const Compared& compared, const Words& words) {
    Table table(compared, words);
    table.head();
    const auto bytes = [&](const std::string& name, int64_t RunFigures::*member) {
        table.row(name, [&](const RunFigures& run) { return format_bytes(run.*member); });
    };
    bytes(words("Peak reserved"), &RunFigures::peak_reserved);
    bytes(words("Peak allocated"), &RunFigures::peak_allocated);
    bytes(words("Reserved at the end"), &RunFigures::end_reserved);
    table.row(words("Free gaps at peak reserved"),
              [&](const RunFigures& run) { return gaps_text(run.gaps_at_peak, words); });
    table.row(words("Free gaps at the end"), [&](const RunFigures& run) { return gaps_text(run.gaps_at_end, words); });
    table.row(words("Memory from the driver, calls"),
              [](const RunFigures& run) { return format_count(run.driver_allocations); });
    table.row(words("Memory to the driver, calls"),
              [](const RunFigures& run) { return format_count(run.driver_frees); });
    table.row(words("Retries"), retries_text);
    table.row(words("Out of memory"), [&](const RunFigures& run) { return failure_text(run, words); });
    table.limits(compared);
    return table.text();
}

std::string title_text(const Compared& compared, const Words& words) {
    const DeviceHistory& device = compared.end.device();
    const auto asked = compared.asked.limit;
    const auto& usual = compared.recorded.capacity;
    const auto name = with("device", device.device);
    const int64_t count = device.event_count();
    if (!asked && !usual) {
        return words.plural(count, "Device {device}, {n} event, memory limit unknown",
                            "Device {device}, {n} events, memory limit unknown", name);
    }
    const auto limit = with("limit", format_bytes(asked ? *asked : usual->bytes));
    return asked || usual->is_exact
               ? words.plural(count, "Device {device}, {n} event, memory limit {limit}",
                              "Device {device}, {n} events, memory limit {limit}", name, limit)
               : words.plural(count, "Device {device}, {n} event, memory limit at least {limit}",
                              "Device {device}, {n} events, memory limit at least {limit}", name, limit);
}

/// Returns what the asked settings change. The peak of a run that stops early says nothing.
std::string result_text(const Compared& compared, const Words& words) {
    const auto failure = failure_sentence(compared.recorded, compared.run);
    const std::string peak = words.translate(peak_sentence(compared.recorded, compared.run));
    return !failure                      ? peak
           : compared.run.figures.failed ? words.translate(*failure)
                                         : words.sentences({words.translate(*failure), peak});
}

std::string compared_text(const Compared& compared, const Words& words) {
    std::string text = title_text(compared, words) + "\n\n" + table_text(compared, words) + '\n';
    text += result_text(compared, words) + '\n';
    text += words.translate(trust_sentence(compared.recorded)) + '\n';
    for (const Sentence& limit : replay_limits(compared.recorded)) {
        text += words.translate(limit) + '\n';
    }
    if (compared.configuration() == configuration_text(compared.end.trace().settings, {})) {
        return text;  // nothing to set
    }
    text += words("Set this variable before the program starts (PyTorch 2.9 and later also read PYTORCH_ALLOC_CONF):");
    return text + fmt::format("\nexport PYTORCH_CUDA_ALLOC_CONF={}\n", visible_text(compared.configuration()));
}

// --- JSON -------------------------------------------------------------------------------------------------------

template <class Value>
ordered_json or_null(const std::optional<Value>& value) {
    return value ? ordered_json(*value) : ordered_json();
}

ordered_json gaps_json(const FreeGaps& gaps) { return {{"bytes", gaps.bytes}, {"count", gaps.count}}; }

ordered_json run_json(const ModelRun& run) {
    const RunFigures& figures = run.figures;
    auto columns = ordered_json::array();
    for (const ReservedCurve::Column& column : run.reserved.columns()) {
        columns.push_back({column.lowest, column.highest});
    }
    ordered_json failed;
    if (figures.failed) {
        failed = {
            {"event", figures.failed->event}, {"bytes", figures.failed->bytes}, {"sure", figures.failed->is_sure}};
    }
    return {{"peak_reserved_bytes", figures.peak_reserved},
            {"peak_reserved_request", figures.peak_state},
            {"peak_allocated_bytes", figures.peak_allocated},
            {"end_reserved_bytes", figures.end_reserved},
            {"free_gaps_at_peak_reserved", gaps_json(figures.gaps_at_peak)},
            {"free_gaps_at_end", gaps_json(figures.gaps_at_end)},
            {"driver_allocations", figures.driver_allocations},
            {"driver_frees", figures.driver_frees},
            {"retries", or_null(figures.retries)},
            {"out_of_memory", std::move(failed)},
            {"last_event", figures.known_to},
            {"events_per_column", run.reserved.states_per_column()},
            {"reserved_bytes", std::move(columns)}};
}

ordered_json compared_json(const Compared& compared, const Words& words) {
    const RecordedRun& recorded = compared.recorded;
    auto notes = ordered_json::array();
    for (const Sentence& limit : replay_limits(recorded)) {
        notes.push_back(words.translate(limit));
    }
    const auto usual = recorded.capacity ? std::optional(recorded.capacity->bytes) : std::optional<int64_t>();
    return {{"trace", compared.end.trace().path},
            {"device", compared.end.device().device},
            {"configuration", compared.configuration()},
            {"memory_limit_bytes", or_null(compared.asked.limit ? compared.asked.limit : usual)},
            {"recorded", run_json(recorded.recorded)},
            {"model_as_recorded", run_json(recorded.model)},
            {"model_asked", run_json(compared.run)},
            {"smallest_memory_limit_bytes",
             {{"as_recorded", or_null(compared.smallest_before)}, {"asked", or_null(compared.smallest_after)}}},
            {"model",
             {{"exact", recorded.check.exact},
              {"events_compared", recorded.check.events},
              {"differs_at", recorded.check.exact ? ordered_json() : ordered_json(recorded.check.differs_at)},
              {"peak_deviation", recorded.deviation()},
              {"text", words.translate(trust_sentence(recorded))}}},
            {"notes", std::move(notes)},
            {"text", result_text(compared, words)}};
}

Status run_what_if(const WhatIfOptions& options, const Words& words, Progress& progress) {
    const auto compared = compare_settings(options, progress);
    if (!compared) {
        return compared.error();
    }
    return options.format == "json" ? print_json(compared_json(*compared, words))
                                    : print(compared_text(*compared, words));
}

}  // namespace

void add_whatif_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<WhatIfOptions>();
    CLI::App& command = add_command(
        line, "whatif",
        {words("Replay a run under other settings of PyTorch's allocator"),
         words(
             "The recorded requests are replayed in a model of the allocator. The table has the recorded run, the\n"
             "model with the recorded settings, which shows how far to trust it, and the model with yours. The\n"
             "smallest memory limit is that with which all requests succeed. With --set, the last line is\n"
             "the variable to set. JSON has reserved memory over time as [lowest, highest] of each column of events."),
         "  tidemark whatif run.tide --set expandable_segments:True\n"
         "  tidemark whatif run.tide --set max_split_size_mb:128,roundup_power2_divisions:8 --limit 40GiB"});
    add_trace_option(line, command, options->trace);
    command
        .add_option("--set", options->settings,
                    words("A setting as in PYTORCH_CUDA_ALLOC_CONF, may be repeated: {settings}",
                          with("settings",
                               "expandable_segments, max_split_size_mb, roundup_power2_divisions, "
                               "garbage_collection_threshold")))
        ->allow_extra_args(false);
    command.add_option("--limit", options->limit,
                       words("Memory that the allocator may reserve, as 40GiB (default: that of the recorded run)"));
    command.add_option("--device", options->device, words("The device (default: the one with the most events)"));
    add_format_option(command, words("Output format"), options->format, {"text", "json"});
    set_work(line, command, [options, words](Progress& progress) { return run_what_if(*options, words, progress); });
}

}  // namespace tidemark::cli
