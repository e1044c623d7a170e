// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// An explanation together with the data its findings refer to.
#pragma once

#include <QString>
#include <memory>

#include "storage/explain/analysis_context.h"
#include "storage/explain/explanation.h"
#include "storage/report/report.h"
#include "storage/text/words.h"

namespace tidemark::gui {

/// Immutable; thread: any.
struct Explained {
    std::shared_ptr<const AnalysisContext> context;
    Explanation explanation;
    tidemark::Language language = tidemark::Language::english;
    QString problem;  ///< the reason if there is no explanation, else empty

    /// Returns the time until which the run is explained, ns since trace start.
    int64_t until() const { return context->trace().duration; }
    ReportInput reported() const { return {*context, explanation}; }
    Words words() const { return Words(language); }
};

}  // namespace tidemark::gui
