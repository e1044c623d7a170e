// Something grows, and nothing recorded says who keeps it.
#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/suspect_classifier.h"

namespace tidemark {
namespace {

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    Finding finding = suspect_finding(context, suspect, words);
    finding.title = finding.line.empty() ? words("memory piles up, made where no stack was recorded")
                                         : words("memory from {line} piles up", with("line", finding.line));
    finding.text = {words("Every {iteration} leaves {bytes} more behind, made by {line}; {total} have piled up.",
                          with("iteration", iteration_words(context, words)),
                          with("bytes", format_bytes(suspect.per_iteration)), with("line", finding.line),
                          with("total", format_bytes(suspect.bytes)))};
    finding.fixes = {
        {words("Look at what keeps the result of this line beyond its round: a list, a dict, an attribute, "
               "a loss that is summed with its graph."),
         "", suspect.bytes, suspect.per_iteration}};
    if (!context.graph()) {
        finding.unknowns = {words("Who holds these tensors was not recorded; `tidemark record` finds their holders.")};
    } else {
        finding.unknowns = {
            words("The search of the program's objects found nobody who holds these tensors: they may be "
                  "held by C++ code.")};
    }
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::unexplained_growth{FindingKind::unexplained_growth, classify};

}  // namespace tidemark
