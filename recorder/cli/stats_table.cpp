// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/stats_table.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>

namespace tidemark::cli {
namespace {

constexpr int table_width = 75;

/// Formats as PyTorch does: `reference`, the column's first value, selects the unit, and each division rounds down.
std::string format_size(int64_t bytes, int64_t reference) {
    constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB"};
    const char* unit = "B  ";
    auto scale = static_cast<double>(reference);
    for (const char* larger : units) {
        if (scale < 768 * 1024) {
            break;
        }
        unit = larger;
        bytes /= 1024;
        scale /= 1024;
    }
    return fmt::format("{:6d} {}", bytes, unit);
}

std::string format_quantity(int64_t count, int64_t reference) {
    constexpr std::array units{"K", "M"};
    const char* unit = " ";
    auto scale = static_cast<double>(reference);
    for (const char* larger : units) {
        if (scale < 750 * 1000) {
            break;
        }
        unit = larger;
        count /= 1000;
        scale /= 1000;
    }
    return fmt::format("{:7d} {} ", count, unit);
}

struct Row {
    Metric metric;
    const char* title;
    std::string (*format)(int64_t, int64_t);
};

constexpr std::array<Row, metric_count> rows{{{Metric::allocated_bytes, "Allocated memory", format_size},
                                              {Metric::active_bytes, "Active memory", format_size},
                                              {Metric::requested_bytes, "Requested memory", format_size},
                                              {Metric::reserved_bytes, "GPU reserved memory", format_size},
                                              {Metric::inactive_split_bytes, "Non-releasable memory", format_size},
                                              {Metric::allocation, "Allocations", format_quantity},
                                              {Metric::active, "Active allocs", format_quantity},
                                              {Metric::segment, "GPU reserved segments", format_quantity},
                                              {Metric::inactive_split, "Non-releasable allocs", format_quantity}}};

constexpr std::array pool_titles{"", "      from large pool", "      from small pool"};

std::string line(std::string_view content) { return fmt::format("|{:<{}}|\n", content, table_width); }
std::string rule(char c) { return line(std::string(table_width, c)); }

std::string stat_line(const char* title, const Stat& stat, const Stat& reference,
                      std::string (*format)(int64_t, int64_t)) {
    return line(fmt::format(" {:<21} | {} | {} | {} | {} ", title, format(stat.current, reference.current),
                            format(stat.peak, reference.peak), format(stat.allocated, reference.allocated),
                            format(stat.freed, reference.freed)));
}

void add_stat(std::map<std::string, nlohmann::ordered_json>& values, const std::string& prefix, const Stat& stat) {
    values[prefix + ".current"] = stat.current;
    values[prefix + ".peak"] = stat.peak;
    values[prefix + ".allocated"] = stat.allocated;
    values[prefix + ".freed"] = stat.freed;
}

}  // namespace

std::string memory_summary(const Counters& counters, int device) {
    std::string text = rule('=');
    text += line(fmt::format(" {:16} PyTorch CUDA memory summary, device ID {:<17d} ", "", device));
    text += rule('-');
    text += line(fmt::format("  {:9} CUDA OOMs: {:<12d} | {:6} cudaMalloc retries: {:<8d}  ", "", counters.num_ooms, "",
                             counters.num_alloc_retries));
    text += rule('=');
    text += line("        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  ");
    for (const Row& row : rows) {
        text += rule('-');
        const Stat& all = counters.at(row.metric, PoolKind::all);
        for (int pool = 0; pool < pool_kind_count; ++pool) {
            text += stat_line(pool == 0 ? row.title : pool_titles[pool],
                              counters.at(row.metric, static_cast<PoolKind>(pool)), all, row.format);
        }
    }
    text += rule('-');
    text += stat_line("Oversize allocations", counters.oversize_allocations, counters.oversize_allocations,
                      format_quantity);
    text += rule('-');
    text += stat_line("Oversize GPU segments", counters.oversize_segments, counters.oversize_segments, format_quantity);
    return text + rule('=');
}

nlohmann::ordered_json memory_stats(const Counters& counters, std::optional<int64_t> max_split_size) {
    std::map<std::string, nlohmann::ordered_json> values;  // PyTorch sorts its keys
    for (int m = 0; m < metric_count; ++m) {
        for (int p = 0; p < pool_kind_count; ++p) {
            const auto metric = static_cast<Metric>(m);
            const auto pool = static_cast<PoolKind>(p);
            add_stat(values, fmt::format("{}.{}", metric_name(metric), pool_kind_name(pool)),
                     counters.at(metric, pool));
        }
    }
    add_stat(values, "oversize_allocations", counters.oversize_allocations);
    add_stat(values, "oversize_segments", counters.oversize_segments);
    values["num_alloc_retries"] =
        counters.retries_known ? nlohmann::ordered_json(counters.num_alloc_retries) : nlohmann::ordered_json(nullptr);
    values["num_ooms"] = counters.num_ooms;
    values["num_device_alloc"] = counters.num_device_alloc;
    values["num_device_free"] = counters.num_device_free;
    values["num_sync_all_streams"] = nullptr;
    values["max_split_size"] = max_split_size ? nlohmann::ordered_json(*max_split_size) : nullptr;
    nlohmann::ordered_json json;
    for (auto& [key, value] : values) {
        json[key] = std::move(value);
    }
    return json;
}

}  // namespace tidemark::cli
