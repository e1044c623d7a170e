// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/pooled_sighting.h"

#include <fmt/format.h>

#include "storage/base/units.h"

namespace tidemark {
namespace {

void set_maker(Finding& finding, const AnalysisContext& context, const PathLink& maker) {
    constexpr int32_t distance = 2;
    const GraphTables& tables = context.graph()->tables();
    const std::string& file = tables.texts[maker.file];
    if (maker.line > 0 && !file.empty()) {
        finding.line = fmt::format("{}:{} {}", file.substr(file.find_last_of("/\\") + 1), maker.line,
                                   tables.texts[maker.function]);
        finding.source = context.trace().source_text.around(file, maker.line, distance);
    }
}

}  // namespace

std::optional<PooledSighting> pooled_sighting(const GraphTables& tables, const Referrer& referrer) {
    if (!retains_pooled_arrays(referrer)) {
        return std::nullopt;
    }
    const PathLink& sums = referrer.links.back();
    const auto arrays = pooled_arrays_of(tables.texts[sums.name]);
    if (!arrays) {
        return std::nullopt;
    }
    PooledSighting sighting{tables.scans[referrer.scan].time, *arrays, referrer, sums};
    sighting.path.links.pop_back();
    return sighting;
}

std::string arrays_words(int64_t arrays, const Words& words) { return words.plural(arrays, "{n} array", "{n} arrays"); }

Finding finding_of_pooled(const AnalysisContext& context, const PooledSighting& sighting, const Words& words) {
    Finding finding;
    finding.kind = FindingKind::growing_container;
    finding.severity = Severity::leak;
    finding.confidence = Confidence::likely;
    finding.basis = words("Heap scans counted the arrays; the library's pool shows no allocation of each.");
    finding.bytes = sighting.arrays.bytes;
    finding.count = sighting.arrays.count;
    finding.component = ComponentKind::requested;
    set_maker(finding, context, sighting.maker);
    return finding;
}

Evidence pooled_evidence(const PooledSighting& sighting, const Words& words) {
    Evidence found;
    found.text =
        words("The heap scan found {arrays} with {bytes}", with("arrays", arrays_words(sighting.arrays.count, words)),
              with("bytes", format_bytes(sighting.arrays.bytes)));
    found.time = sighting.time;
    return found;
}

}  // namespace tidemark
