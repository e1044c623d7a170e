// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Writes reports as files. A file appears complete or not at all.
#pragma once

#include <string>
#include <string_view>

#include "storage/base/result.h"

namespace tidemark::cli {

/// Returns an error (usage) if a file exists that must not be replaced. Only `force` allows to replace a report;
/// nothing allows to replace a trace, another database, a snapshot or a folder.
Status may_write_report(const std::string& path, bool force);

/// Writes a regular file completely or leaves it unchanged. Writes directly into a device or a pipe. Error
/// (environment): the file cannot be written.
Status write_text_file(const std::string& path, std::string_view text);

}  // namespace tidemark::cli
