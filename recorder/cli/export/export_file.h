// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark export --format perfetto, memory_viz and folded: a trace as one file for another program.
#pragma once

#include "recorder/cli/export/export_options.h"
#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/text/words.h"

namespace tidemark::cli {

/// Errors: those of open_input() and ExportOutput::open(); no such device or point in time (usage); canceled.
Status export_perfetto(const ExportOptions& options, const std::string& trace, const Words& words, Progress& progress);
Status export_memory_viz(const ExportOptions& options, const std::string& trace, const Words& words,
                         Progress& progress);
Status export_folded(const ExportOptions& options, const std::string& trace, const Words& words, Progress& progress);

}  // namespace tidemark::cli
