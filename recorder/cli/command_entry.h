// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The command `tidemark` as a function of libtidemark_reader.so.
#pragma once

/// Runs the command with the arguments of main(). Returns its exit status.
extern "C" int tidemark_command(int argc, char** argv);
