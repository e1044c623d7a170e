// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// trace_bench TRACE.tide: measures opening a trace and queries on it, in process. Prints JSON, times in ms.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>

#include "storage/analysis/analysis.h"
#include "storage/attribution/attribution.h"
#include "storage/read/open_trace.h"
#include "storage/replay/memory_state.h"
#include "storage/timeline/columns.h"

namespace {

using namespace tidemark;

double milliseconds(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// Returns median and 95th percentile of `times` runs.
nlohmann::json spread(int times, const std::function<void()>& work) {
    std::vector<double> durations;
    for (int i = 0; i < times; ++i) {
        durations.push_back(milliseconds(work));
    }
    std::sort(durations.begin(), durations.end());
    return {{"p50", durations[durations.size() / 2]}, {"p95", durations[durations.size() * 95 / 100]}};
}

long peak_memory_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

nlohmann::json measure(const std::string& path) {
    nlohmann::json result;
    Progress progress;
    std::shared_ptr<const Trace> trace;
    result["open"] = spread(5, [&] {
        trace.reset();
        auto opened = open_trace(path, progress);
        if (opened) {
            trace = *opened;
        } else {
            std::cerr << opened.error().sentence.english() << '\n';
        }
    });
    if (!trace) {
        return nullptr;
    }
    const DeviceHistory& device = trace->main_device();
    std::unique_ptr<Analysis> analysis;
    result["indexes"] = spread(5, [&] { analysis = std::make_unique<Analysis>(trace, device); });
    result["memory_mib_shown"] = peak_memory_mib();
    result["statistics_once"] = milliseconds([&] { analysis->statistics(); });
    std::mt19937 random(1);
    const auto any_event = [&] {
        return static_cast<EventNumber>(random() % static_cast<uint32_t>(device.event_count()));
    };
    result["counters_at_random_event"] = spread(300, [&] { analysis->statistics().at(any_event()); });
    result["state_at_random_event"] = spread(300, [&] { memory_state(device, analysis->live(), any_event()); });
    result["attribution_at_random_event"] =
        spread(100, [&] { attribution_at(*trace, device, analysis->live(), any_event(), GroupBy::stack); });
    const double whole = static_cast<double>(trace->duration);
    const auto columns_of_random_window = [&] {
        const double span = whole * static_cast<double>(1 + random() % 1000) / 1000;
        const double from = (whole - span) * static_cast<double>(random() % 1000) / 1000;
        return make_columns(*trace, device, analysis->curves(), TimeAxis::wall_clock, from, from + span, 1600);
    };
    result["columns_1600"] = spread(100, [&] { columns_of_random_window(); });
    result["bands_1600"] = spread(100, [&] {
        std::vector<Band> bands;
        ActiveWalk walk(device, analysis->live());
        for (const Column& column : columns_of_random_window()) {
            bands.clear();
            bands_at(device, walk, column.time_point, {}, bands);
        }
    });
    result["events"] = device.event_count();
    result["bytes_per_event"] = static_cast<double>(trace->file_bytes) / std::max(device.event_count(), 1);
    result["memory_mib"] = peak_memory_mib();
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: trace_bench TRACE.tide\n");
        return 2;
    }
    const nlohmann::json result = measure(argv[1]);
    std::cout << result.dump(2) << '\n';
    return result.is_null() ? 3 : 0;
}
