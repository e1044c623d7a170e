// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// whatif_bench TRACE.tide: measures the allocator model per event. Prints JSON, CPU time in ns, best of five runs.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "storage/read/open_trace.h"
#include "storage/whatif/what_if.h"

namespace {

using namespace tidemark;

int64_t cpu_nanoseconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

double best_of_five(EventNumber events, const std::function<void()>& work) {
    int64_t best = INT64_MAX;
    for (int i = 0; i < 5; ++i) {
        const int64_t start = cpu_nanoseconds();
        work();
        best = std::min(best, cpu_nanoseconds() - start);
    }
    return static_cast<double>(best) / std::max(events, 1);
}

nlohmann::json measure(const Trace& trace) {
    const DeviceHistory& device = trace.main_device();
    const EventNumber events = device.event_count();
    Progress progress;
    Change expandable, split;
    expandable.expandable_segments = true;
    split.max_split_size = uint64_t{128} << 20;
    const auto replay = [&](const Change& change) {
        return best_of_five(events, [&] { (void)what_if(trace, device, change, std::nullopt, progress); });
    };
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    nlohmann::json result{{"events", events}, {"exact", check_model(trace, device, progress).exact}};
    getrusage(RUSAGE_SELF, &after);
    result["memory_mib_more"] = (after.ru_maxrss - before.ru_maxrss) / 1024;
    result["check"] = best_of_five(events, [&] { check_model(trace, device, progress); });
    result["nothing_changed"] = replay({});
    result["expandable_segments"] = replay(expandable);
    result["max_split_size"] = replay(split);
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: whatif_bench TRACE.tide\n");
        return 2;
    }
    Progress progress;
    const auto trace = open_trace(argv[1], progress);
    if (!trace) {
        std::fprintf(stderr, "%s\n", trace.error().sentence.english().c_str());
        return 3;
    }
    std::cout << measure(**trace).dump(2) << '\n';
    return 0;
}
