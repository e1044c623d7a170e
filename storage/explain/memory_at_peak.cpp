// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/memory_at_peak.h"

#include <algorithm>
#include <map>
#include <vector>

#include "storage/base/units.h"
#include "storage/explain/composition.h"

namespace tidemark {
namespace {

/// Less memory is not worth a sentence: 1 / 1000 of the peak.
constexpr int64_t least_fraction = 1000;

/// The memory that is allocated at the peak, in bytes of blocks.
struct Origins {
    std::map<FrameId, int64_t> lines;  ///< Python lines and native functions
    int64_t earlier = 0;               ///< without a stack, from before the history
    int64_t backward = 0;              ///< by nodes of the autograd graph, which run without Python
    int64_t unknown = 0;               ///< without a stack, in the history
};

Origins origins_at(const AnalysisContext& context, EventNumber state) {
    const Allocations& allocations = context.device().allocations;
    const StackTable& stacks = context.trace().stacks;
    Origins origins;
    for (const AllocationIndex a : allocated_at(context, state)) {
        const FrameId site = stacks.site(allocations.stack[a]);
        int64_t& bytes = site == 0 && allocations.alloc_event[a] == before_history ? origins.earlier
                         : site == 0                                               ? origins.unknown
                         : stacks.role(site) == FrameRole::node                    ? origins.backward
                                                                                   : origins.lines[site];
        bytes += static_cast<int64_t>(allocations.block_size[a]);
    }
    return origins;
}

/// Returns what no line allocated, if it is more than `least`, most bytes first.
std::vector<std::string> without_line(const Origins& origins, int64_t least, const AnalysisContext& context,
                                      const Words& words) {
    std::vector<std::pair<int64_t, std::string>> parts;
    const auto add = [&](int64_t bytes, auto&& in_words) {
        if (bytes > least) {
            parts.emplace_back(bytes, in_words(with("bytes", format_bytes(bytes))));
        }
    };
    add(origins.earlier, [&](const auto& bytes) {
        return context.lacks_history() ? words("{bytes} have no stack", bytes)
                                       : words("{bytes} existed before the history began", bytes);
    });
    add(origins.backward, [&](const auto& bytes) {
        return words("{bytes} were allocated by backward passes (gradients, for example)", bytes);
    });
    add(origins.unknown, [&](const auto& bytes) { return words("{bytes} have no stack", bytes); });
    std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> texts;
    texts.reserve(parts.size());
    for (auto& [bytes, text] : parts) {
        texts.push_back(std::move(text));
    }
    return texts;
}

}  // namespace

std::string memory_at_peak(const AnalysisContext& context, const Words& words) {
    const auto peak = context.curves().peak(Series::allocated);
    const Origins origins = origins_at(context, peak.max_event);
    const auto most = std::max_element(origins.lines.begin(), origins.lines.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const bool has_line = most != origins.lines.end() && most->second * least_fraction >= peak.max;
    if (!has_line && context.lacks_history()) {
        return {};
    }
    const std::string size = format_bytes(peak.max);
    const auto whole = with("whole", context.lacks_history() ? words("the {bytes} allocated", with("bytes", size))
                                                             : words("the peak of {bytes}", with("bytes", size)));
    const auto line = with("line", has_line ? describe_frame(context.trace().stacks, most->first) : std::string());
    const auto bytes = with("bytes", format_bytes(has_line ? most->second : 0));
    const std::vector<std::string> others =
        without_line(origins, has_line ? most->second : peak.max / least_fraction, context, words);
    const auto parts = with("parts", words.list(others));
    if (others.empty()) {
        return has_line
                   ? words("Of {whole}, {bytes} come from {line}, more than from any other line.", whole, bytes, line)
                   : std::string();
    }
    return has_line
               ? words("Of {whole}, {parts}; of the rest, most comes from {line}: {bytes}.", whole, parts, line, bytes)
               : words("Of {whole}, {parts}.", whole, parts);
}

}  // namespace tidemark
