// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// make_long_trace SNAPSHOT EVENTS OUT.tide: writes a long trace for benchmarks.
#include <cstdio>
#include <cstdlib>

#include "storage/import/import.h"
#include "storage/timeline/curves.h"
#include "tests/bench/long_trace.h"

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: make_long_trace SNAPSHOT EVENTS OUT.tide\n");
        return 2;
    }
    tidemark::Progress progress;
    const auto trace = tidemark::read_snapshot_trace(argv[1], progress);
    if (!trace) {
        std::fprintf(stderr, "%s\n", trace.error().sentence.english().c_str());
        return 3;
    }
    const auto longer = tidemark::bench::repeat(**trace, std::atoi(argv[2]));
    const auto written =
        tidemark::write_trace(*longer, tidemark::peak_events(*longer), argv[3], tidemark::IfExists::replace, progress);
    if (!written) {
        std::fprintf(stderr, "%s\n", written.error().sentence.english().c_str());
        return 4;
    }
    return 0;
}
