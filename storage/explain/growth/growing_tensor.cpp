// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// One tensor is made again in each iteration, larger each time: torch.cat of the old one and new data.
#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/reserved_growth.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// Returns the bytes of segments that came from the driver for the growing tensor although enough memory was free.
int64_t segment_bytes(const ReservedGrowth& growth, const LeakSuspect& suspect) {
    int64_t bytes = 0;
    for (const Site* site : suspect.sites) {
        const auto found = growth.by_stack.find(site->stack);
        bytes += found == growth.by_stack.end() ? 0 : found->second;
    }
    return bytes;
}

/// Says what the allocator had to reserve, if that is more than the tensor itself.
void add_reserved(Finding& finding, const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    const auto growth = find_reserved_growth(context);
    const int64_t bytes = growth ? segment_bytes(*growth, suspect) : 0;
    if (bytes <= suspect.bytes) {
        return;
    }
    finding.text.push_back(words(
        "For these tensors the allocator took {bytes} of new segments from the driver, although enough memory was "
        "free each time: the old ones were too small. So {reserved} are reserved, but at most {allocated} were "
        "allocated.",
        with("bytes", format_bytes(bytes)), with("reserved", format_bytes(growth->reserved)),
        with("allocated", format_bytes(growth->allocated))));
    finding.fixes.push_back(
        {words("If the tensor is wanted, let segments grow, so that a larger tensor can use the memory of those before "
               "it."),
         "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
         {},
         {}});
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (suspect.growth != Growth::of_size) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    const auto bytes = with("bytes", format_bytes(suspect.per_iteration));
    const auto each = with("each", each_iteration(suspect.iterations->source(), words));
    const auto referrer = with("referrer", finding.referrer);
    const auto line = with("line", finding.line);
    finding.title = finding.referrer.empty()
                        ? words("a tensor from {line} becomes larger by {bytes} {each}", line, bytes, each)
                        : words("{referrer} becomes larger by {bytes} {each}", referrer, bytes, each);
    finding.text = {
        words("Every {iteration} makes the tensor anew at {line}, larger by {bytes}, and releases the old one: "
              "{total} so far.",
              with("iteration", iteration_words(suspect.iterations->source(), words)), line, bytes,
              with("total", format_bytes(suspect.bytes))),
        words("While one is copied into the other both exist, so the peak grows by twice that amount. Each new tensor "
              "needs a larger gap than the old one left, so free gaps accumulate as well.")};
    const std::string name =
        suspect.referrer ? referrer_expression(context.graph()->tables(), *suspect.referrer) : std::string("history");
    finding.fixes = {
        {words("Start anew when the data was used, for example at each epoch; or keep only the last ones."),
         fmt::format("{0} = torch.cat([{0}, new])[-limit:]", name), suspect.bytes, suspect.per_iteration},
        {words("Or collect the data in host memory."), fmt::format("{0} = torch.cat([{0}, new.detach().cpu()])", name),
         suspect.bytes, suspect.per_iteration},
        {words("If the final size is known: allocate once, and write into it."),
         fmt::format("{}[start:end] = new", name),
         {},
         {}}};
    add_reserved(finding, context, suspect, words);
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::growing_tensor{FindingKind::growing_tensor, classify};

}  // namespace tidemark
