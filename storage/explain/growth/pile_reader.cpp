#include "storage/explain/growth/pile_reader.h"

#include <array>

#include "storage/base/units.h"
#include "storage/explain/holder_words.h"
#include "storage/explain/telling.h"

namespace tidemark {
namespace {

void add_evidence(Finding& finding, const Case& of, const Pile& pile, const Words& words) {
    const auto round = static_cast<int64_t>(pile.since);
    finding.evidence.push_back(
        at_round(of, words("It begins in {round}", with("round", round_name(of, words, round))), round));
    const AllocationIndex a = pile.example.index;
    const auto bytes = with("bytes", format_bytes(static_cast<int64_t>(of.device().allocations.block_size[a])));
    const auto line = with("line", line_of(of.trace(), of.device().allocations.stack[a]));
    finding.evidence.push_back(at_allocation(of, words("One of those that stay: {bytes} from {line}", bytes, line), a));
    if (pile.through_graph()) {
        const GraphIndex& index = of.graph()->index;
        finding.evidence.push_back(at_node(
            of, words("The node that saved it: {type}", with("type", index.type(pile.hold.keeper))), pile.hold.keeper));
        if (pile.hold.root != pile.hold.keeper) {
            finding.evidence.push_back(at_node(
                of, words("The root that keeps this node alive: {type}", with("type", index.type(pile.hold.root))),
                pile.hold.root));
        }
    }
    finding.evidence.push_back(
        at_event(of, words("What has piled up by {moment}", with("moment", moment_name(of, words))), of.now()));
}

std::string basis(const Case& of, const Pile& pile, const Words& words) {
    const auto rounds = with("rounds", format_count(static_cast<int64_t>(of.rounds().size() - pile.since)));
    if (!of.graph()) {
        return words("Seen in the allocator's events over {rounds} rounds; who holds the memory was not recorded.",
                     rounds);
    }
    if (pile.holder) {
        return words(
            "Seen in the allocator's events over {rounds} rounds; the holder was found by searching the "
            "program's objects.",
            rounds);
    }
    return words("Seen in the allocator's events over {rounds} rounds; no variable was found that holds it.", rounds);
}

}  // namespace

std::span<const PileReader> all_pile_readers() {
    static constexpr std::array<PileReader, 12> list{
        read_exception_keeps,   read_ctx_keeps,
        read_hook_keeps,        read_gradient_cycle,
        read_hook_cycle,        read_autocast_cache,
        read_loss_summed,       read_state_carried,
        read_retained_graph,    read_evaluation_builds_graph,
        read_tensors_collected, read_unexplained_growth,
    };
    return list;
}

std::string left_behind(const Case& of, const Pile& pile, const Words& words) {
    return words("Every {round} leaves {bytes} behind, {total} by now.", with("round", round_words(of, words)),
                 with("bytes", format_bytes(pile.per_round)), with("total", format_bytes(pile.bytes)));
}

Finding about_pile(const Case& of, const Pile& pile, const Words& words) {
    Finding finding;
    finding.verdict = Verdict::leak;
    finding.confidence = pile.holder ? Confidence::certain : Confidence::likely;
    finding.basis = basis(of, pile, words);
    finding.bytes = pile.bytes;
    finding.per_round = pile.per_round;
    finding.count = pile.count;
    finding.layer = LayerKind::requested;
    set_line(finding, of, pile.sites.front()->stack);
    set_since(finding, of, pile.since);
    if (pile.holder) {
        const HolderGroup* group = of.graph()->group_of(pile.holder);
        finding.holder = group ? holder_words(of.graph()->tables(), words, *group)
                               : holder_words(of.graph()->tables(), words, *pile.holder);
    }
    add_evidence(finding, of, pile, words);
    return finding;
}

}  // namespace tidemark
