#include "storage/explain/headline.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "storage/base/units.h"
#include "storage/explain/makeup.h"
#include "storage/explain/telling.h"

namespace tidemark {
namespace {

constexpr double too_little_for_a_name = 0.02;
constexpr size_t most_shares = 7;
constexpr size_t fewest_rounds = 5;  ///< to say that nothing grows

std::string layer_name(const Words& words, const Layer& layer) {
    switch (layer.kind) {
        case LayerKind::requested: return words("the program's tensors");
        case LayerKind::rounding: return words("rounding of block sizes");
        case LayerKind::waiting: return words("freed, but waiting for a stream");
        case LayerKind::free_in_segments: return words("free gaps between tensors");
        case LayerKind::idle_segments: return words("freed memory that PyTorch keeps for later");
        case LayerKind::private_pools: return words("free, but reserved for CUDA graphs and private pools");
        case LayerKind::library: return words("{library}, past PyTorch's allocator", with("library", layer.name));
        case LayerKind::context: return words("the CUDA context");
        case LayerKind::kernels: return words("loaded kernels");
        case LayerKind::other_processes: return words("other programs on this GPU");
        case LayerKind::unknown: return words("not explained by what was recorded");
    }
    return {};
}

using Parts = std::map<std::string, Share>;

void add_part(Parts& parts, std::string name, int64_t bytes, LayerKind layer, std::optional<Category> category = {}) {
    Share& part = parts[name];
    part.name = std::move(name);
    part.bytes += bytes;
    part.layer = layer;
    part.category = category;
}

/// The program's tensors by what they are to it; blocks' requested bytes add up to the layer.
void add_categories(const Case& of, const Words& words, const Layer& layer, Parts& parts) {
    int64_t known = 0;
    const GraphCase& graph = *of.graph();
    const Allocations& allocations = of.device().allocations;
    of.analysis().live().for_each_active(of.now(), [&](AllocationIndex a) {
        if (allocations.free_event[a] >= of.now()) {
            const auto bytes = static_cast<int64_t>(allocations.requested[a]);
            const Category category = graph.categories.at({of.device_position(), a}, of.now_time());
            add_part(parts, category_words(words, category), bytes, layer.kind, category);
            known += bytes;
        }
    });
    if (known != layer.bytes) {
        add_part(parts, layer_name(words, layer), layer.bytes - known, layer.kind);
    }
}

void write_shares(const Case& of, const Words& words, Explanation& explanation) {
    Parts parts;
    for (const Layer& layer : of.row().layers) {
        if (layer.kind == LayerKind::requested && of.graph()) {
            add_categories(of, words, layer, parts);
        } else {
            add_part(parts, layer_name(words, layer), layer.bytes, layer.kind);
        }
        explanation.total += layer.bytes;
    }
    auto& shares = explanation.shares;
    for (auto& [name, part] : parts) {
        part.of_total =
            explanation.total == 0 ? 0 : static_cast<double>(part.bytes) / static_cast<double>(explanation.total);
        shares.push_back(std::move(part));
    }
    std::stable_sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.bytes > b.bytes; });
    Share rest{words("everything else"), 0, 0};
    while (!shares.empty() && (shares.size() > most_shares || shares.back().of_total < too_little_for_a_name)) {
        rest.bytes += shares.back().bytes;
        rest.of_total += shares.back().of_total;
        shares.pop_back();
    }
    if (rest.bytes != 0) {
        shares.push_back(rest);
    }
}

/// Page-locked host memory is none of the GPU's.
bool is_leak_of_the_gpu(const Finding& finding) {
    return finding.verdict == Verdict::leak && finding.kind != FindingKind::pinned_grows;
}

Course course_of(const Case& of, const Explanation& explanation) {
    const auto& findings = explanation.findings;
    if (of.out_of_memory()) {
        return Course::out_of_memory;
    }
    if (std::any_of(findings.begin(), findings.end(), is_leak_of_the_gpu)) {
        return Course::grows;
    }
    return of.rounds().size() < fewest_rounds ? Course::too_short : Course::steady;
}

std::string where_it_is(const Case& of, const Words& words, const Explanation& explanation) {
    const int64_t others = of.row().bytes_of(LayerKind::other_processes), mine = explanation.total - others;
    const std::string others_name = words("other programs on this GPU");
    std::vector<std::string> largest;
    for (const Share& share : explanation.shares) {
        const double of_mine = mine <= 0 ? 0 : static_cast<double>(share.bytes) / static_cast<double>(mine);
        if (largest.size() < 3 && of_mine >= 0.05 && share.name != others_name) {
            largest.push_back(
                words("{share} {name}", with("share", Words::percent(of_mine)), with("name", share.name)));
        }
    }
    const auto total = with("total", format_bytes(mine));
    const auto moment = with("moment", explanation.moment);
    const auto parts = with("parts", words.list(largest));
    std::string text =
        of.row().device_used
            ? words("At {moment} this program takes {total} of the GPU: {parts}.", moment, total, parts)
            : words("At {moment} {total} of the GPU are known to be in use: {parts}.", moment, total, parts);
    if (others > mine / 10) {
        text += words(" Other programs take {bytes} beside it.", with("bytes", format_bytes(others)));
    }
    return text;
}

std::string growth(const Case& of, const Words& words, const Explanation& explanation) {
    int64_t per_round = 0;
    size_t leaks = 0;
    for (const Finding& finding : explanation.findings) {
        if (is_leak_of_the_gpu(finding)) {
            ++leaks;
            per_round += finding.per_round.value_or(0);
        }
    }
    const auto each = with("each", each_round(of, words));
    if (leaks > 0 && per_round > 0) {
        return words("It grows by {bytes} {each} and does not come back.", with("bytes", format_bytes(per_round)),
                     each);
    }
    if (leaks > 0) {
        return words("It grows and does not come back.");
    }
    if (explanation.course == Course::too_short) {
        return words("Nothing repeats often enough to say whether it would grow.");
    }
    return words("It does not grow: after the first rounds {each} ends where the one before did.", each);
}

/// Both mend all of it, each by itself.
bool has_two_ways(const Finding& finding) {
    return finding.fixes.size() > 1 && finding.fixes[0].bytes && finding.fixes[0].bytes == finding.fixes[1].bytes;
}

std::string first_step(const Words& words, const Explanation& explanation) {
    const auto& findings = explanation.findings;
    if (findings.empty() || findings.front().verdict > Verdict::pattern ||
        findings.front().kind == FindingKind::steady) {
        return words("There is nothing to mend.");
    }
    const Finding& first = findings.front();
    const auto title = with("title", first.title);
    if (first.verdict == Verdict::pattern) {
        return words("Nothing needs mending; what stands out: {title}.", title);
    }
    std::string text = words("First: {title}.", title);
    if (!first.fixes.empty()) {
        text += words(" ") + first.fixes[0].text + (has_two_ways(first) ? words(" ") + first.fixes[1].text : "");
    }
    return text;
}

}  // namespace

void write_headline(const Case& of, const Words& words, Explanation& explanation) {
    write_shares(of, words, explanation);
    explanation.course = course_of(of, explanation);
    explanation.headline = {where_it_is(of, words, explanation), growth(of, words, explanation),
                            first_step(words, explanation)};
}

}  // namespace tidemark
