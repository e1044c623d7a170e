// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reports as files. A file appears complete or not at all, and never replaces a file that must not be lost.
#pragma once

#include <string>
#include <string_view>

#include "storage/base/result.h"

namespace tidemark::cli {

/// Error: a file exists that must not be lost. A file is replaced with `force` only; a trace, another database, a
/// snapshot or a folder never.
Status may_write_report(const std::string& path, bool force);

/// Writes a regular file completely or leaves it as it was. Writes straight into a device or a pipe.
Status write_text_file(const std::string& path, std::string_view text);

}  // namespace tidemark::cli
