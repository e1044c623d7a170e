// An explanation with what its findings point into.
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
    QString problem;  ///< why there is no explanation; empty: there is one

    ReportInput reported() const { return {*context, explanation}; }
    Words words() const { return Words(language); }
};

}  // namespace tidemark::gui
