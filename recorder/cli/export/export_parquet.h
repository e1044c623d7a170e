// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark export --format parquet: the tables of many traces as a dataset.
#pragma once

#include "recorder/cli/export/export_options.h"
#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/text/words.h"

namespace tidemark::cli {

/// Prints what is wrong with a trace, and sets `exit_code` to its exit status, and goes on with the next one. Errors:
/// no trace, a label is wrong, the dataset cannot be written, canceled.
Status export_parquet(const ExportOptions& options, const Words& words, Progress& progress, int& exit_code);

}  // namespace tidemark::cli
