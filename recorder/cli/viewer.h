// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The window, which may be installed beside the command.
#pragma once

#include <string>

namespace tidemark::cli {

constexpr const char* viewer = "tidemark-gui";

/// Returns the path of the window's program: beside this one, in the build tree or Python environment of this one, or
/// in PATH; empty if there is none.
std::string find_viewer();

}  // namespace tidemark::cli
