// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Formats an explanation as a document: for a terminal, for programs, for a ticket, for a browser.
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
    int width = 100;      ///< columns of the terminal, where sentences are broken
    bool colors = false;  ///< adds escape sequences
    bool all = false;     ///< shows background findings in full
};

/// Returns text for a terminal. Replaces control characters in names; only colors add escape sequences.
std::string report_text(const ReportInput& reported, const Words& words, const TextOptions& options);

/// Returns the object of one device; docs/EXPLAIN.md describes its keys. Times are ns since trace start, null if
/// unknown.
nlohmann::ordered_json report_json(const ReportInput& reported);

/// Returns GitHub Markdown, for a ticket or a chat.
std::string report_markdown(std::span<const ReportInput> devices, const Words& words);

/// Returns one self-contained HTML file with plots: no scripts, no network, light and dark.
std::string report_html(std::span<const ReportInput> devices, const Words& words);
/// Returns the content of that file as one element for a page of others, such as a notebook. Its style concerns nothing
/// else.
std::string report_fragment(std::span<const ReportInput> devices, const Words& words);

}  // namespace tidemark
