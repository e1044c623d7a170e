// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark export --format csv: the tables of a trace, a file each.
#pragma once

#include "recorder/cli/export/export_options.h"
#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/text/words.h"

namespace tidemark::cli {

/// Writes FOLDER/runs.csv and so on; a table without rows has no file. Errors: those of open_input(), a file exists
/// (usage), the folder cannot be written (environment), canceled.
Status export_csv(const ExportOptions& options, const std::string& trace, const Words& words, Progress& progress);

}  // namespace tidemark::cli
