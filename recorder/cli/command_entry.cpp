// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/command_entry.h"

#include "recorder/cli/command_line.h"

extern "C" __attribute__((visibility("default"))) int tidemark_command(int argc, char** argv) {
    return tidemark::cli::run_command_line(argc, argv);
}
