// Memory that goes up from round to round: each pile is told by the first reader that knows its cause.
#include "storage/explain/diagnoses/all.h"
#include "storage/explain/growth/suspect_classifier.h"

namespace tidemark {
namespace {

/// Told by the diagnosis of private pools.
bool lies_in_private_pool(const AnalysisContext& context, const LeakSuspect& suspect) {
    const uint32_t segment = context.device().allocations.segment[suspect.example.index];
    if (segment == no_segment) {
        return false;
    }
    const Pool& pool = context.trace().pools[context.device().segments[segment].pool];
    return pool.owner[0] != 0 || pool.owner[1] != 0;
}

}  // namespace

void diagnose_growth(const AnalysisContext& context, const Words& words, Findings& findings, Progress&) {
    for (const LeakSuspect& suspect : context.suspects()) {
        if (lies_in_private_pool(context, suspect)) {
            continue;
        }
        for (const SuspectClassifier read : all_suspect_classifiers()) {
            if (std::optional<Finding> finding = read(context, suspect, words)) {
                findings.push_back(std::move(*finding));
                break;
            }
        }
    }
}

}  // namespace tidemark
