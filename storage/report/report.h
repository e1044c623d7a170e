// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// An explanation as a document: for a terminal, for programs, for a ticket, for a browser.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "storage/explain/analysis_context.h"
#include "storage/explain/explanation.h"
#include "storage/text/words.h"

namespace tidemark {

/// The explanation of one device, and the data it is based on.
struct ReportInput {
    const AnalysisContext& context;
    const Explanation& explanation;
};

struct TextOptions {
    int width = 100;      ///< columns of a terminal; sentences are broken there
    bool colors = false;  ///< with escape sequences
    bool all = false;     ///< background findings in full, too
};

/// For a terminal. Control characters in names are replaced: only colors add escape sequences.
std::string report_text(const ReportInput& reported, const Words& words, const TextOptions& options);

/// The object of one device; docs/EXPLAIN.md describes its keys. Times in ns since the start of the trace, null if
/// unknown.
nlohmann::ordered_json report_json(const ReportInput& reported);

/// For a ticket or a chat: GitHub's Markdown.
std::string report_markdown(std::span<const ReportInput> devices, const Words& words);

/// One self-contained file with plots: no script, no network, light and dark.
std::string report_html(std::span<const ReportInput> devices, const Words& words);

}  // namespace tidemark
