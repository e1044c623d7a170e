// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark: the command line, for machines without a display.
#include "recorder/cli/command_entry.h"

int main(int argc, char** argv) { return tidemark_command(argc, argv); }
