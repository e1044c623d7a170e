// #29: autocast keeps the copy of each weight it made until the outermost autocast ends.
#include <unordered_set>

#include "storage/base/units.h"
#include "storage/explain/growth/pile_reader.h"
#include "storage/explain/telling.h"

namespace tidemark {
namespace {

constexpr int64_t fewest_copies = 4;

/// Ops that autocast runs in half precision, by the end of the op's path.
bool casts_its_weights(std::string_view op) {
    for (const std::string_view name : {"aten::linear", "aten::matmul", "aten::addmm", "aten::mm", "aten::bmm",
                                        "aten::conv1d", "aten::conv2d", "aten::conv3d", "aten::to", "aten::_to_copy"}) {
        if (op.ends_with(name)) {
            return true;
        }
    }
    return false;
}

/// Of the pile's allocations those that are half of another of its allocations, made in such an op.
int64_t half_size_copies(const Case& of, const Pile& pile) {
    const Allocations& allocations = of.device().allocations;
    std::unordered_set<uint64_t> sizes;
    for (const Site* site : pile.sites) {
        for (const AllocationIndex a : site->now) {
            sizes.insert(allocations.requested[a]);
        }
    }
    int64_t copies = 0;
    for (const Site* site : pile.sites) {
        for (const AllocationIndex a : site->now) {
            copies += casts_its_weights(of.trace().origins[allocations.origin[a]].op) &&
                      sizes.count(allocations.requested[a] * 2) > 0;
        }
    }
    return copies;
}

}  // namespace

std::optional<Finding> read_autocast_cache(const Case& of, const Pile& pile, const Words& words) {
    if (!of.graph() || pile.holder || pile.hold.native || pile.through_graph()) {
        return std::nullopt;
    }
    const int64_t copies = half_size_copies(of, pile);
    if (copies < fewest_copies) {
        return std::nullopt;
    }
    Finding finding = about_pile(of, pile, words);
    finding.kind = FindingKind::autocast_cache;
    finding.confidence = Confidence::likely;
    finding.title = words("autocast keeps copies of weights, and through them the weights");
    finding.text = {
        words(
            "Inside autocast each weight is copied to half precision at its first use, and the copy is kept until the "
            "outermost autocast ends, so that it need not be made again. {copies} such copies are alive; nothing in "
            "Python "
            "holds them. Where models come and go within one autocast, the copies of all of them stay.",
            with("copies", format_count(copies))),
        left_behind(of, pile, words)};
    finding.fixes = {{words("Open autocast once for each model or {round}, not around all of them.",
                            with("round", round_words(of, words))),
                      "for model in models:\n    with torch.autocast(\"cuda\"):\n        output = model(inputs)",
                      pile.bytes, pile.per_round},
                     {words("Or switch its cache off."), "torch.autocast(\"cuda\", cache_enabled=False)", pile.bytes,
                      pile.per_round}};
    return finding;
}

}  // namespace tidemark
