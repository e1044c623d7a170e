// An explanation as a document: for a terminal, for programs, for a ticket, for a browser.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "storage/explain/analysis_context.h"
#include "storage/explain/explanation.h"
#include "storage/text/words.h"

namespace tidemark {

/// What was said about one device, and from what.
struct ReportInput {
    const AnalysisContext& context;
    const Explanation& explanation;
};

struct TextOptions {
    int width = 100;      ///< columns of a terminal; sentences are broken there
    bool colors = false;  ///< with escape sequences
    bool all = false;     ///< background findings in full, too
};

/// For a terminal. Control characters of names are replaced, so that only the colours' own escapes are in it.
std::string report_text(const ReportInput& reported, const Words& words, const TextOptions& options);

/// One device's object; docs/EXPLAIN.md describes its keys. Times in ns since the trace's start, null for what is not
/// known.
nlohmann::ordered_json report_json(const ReportInput& reported);

/// For a ticket or a chat: GitHub's Markdown.
std::string report_markdown(std::span<const ReportInput> devices, const Words& words);

/// One file that needs nothing else: no script, nothing from a network, light and dark, with plots.
std::string report_html(std::span<const ReportInput> devices, const Words& words);

}  // namespace tidemark
