// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// live_run TRACE [SECONDS [EVENTS_PER_SECOND [EVENTS_BEFORE [HOW_ENDED]]]]: a synthetic run, recorded in real time.
#include <cstdio>
#include <cstdlib>

#include "live_run.h"

int main(int argc, char** argv) {
    if (argc < 2) {
        return 2;
    }
    tidemark::gui::test::LiveRunShape shape;
    shape.seconds = argc > 2 ? std::atof(argv[2]) : shape.seconds;
    shape.events_per_second = argc > 3 ? std::atoi(argv[3]) : shape.events_per_second;
    shape.events_before = argc > 4 ? std::atoi(argv[4]) : shape.events_before;
    shape.how_ended = argc > 5 ? argv[5] : shape.how_ended;
    const auto status = tidemark::gui::test::write_live_run(argv[1], shape, false);
    if (!status) {
        std::fprintf(stderr, "%s\n", status.error().sentence.english().c_str());
    }
    return status ? 0 : 1;
}
