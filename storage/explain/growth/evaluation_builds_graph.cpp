// S10, #7: graphs that no backward ever ran, kept by outputs somebody holds: no_grad is missing.
#include "storage/base/units.h"
#include "storage/explain/growth/pile_reader.h"
#include "storage/explain/holder_words.h"
#include "storage/explain/telling.h"

namespace tidemark {

std::optional<Finding> read_evaluation_builds_graph(const Case& of, const Pile& pile, const Words& words) {
    if (!pile.through_graph() || pile.hold.keeper_state != NodeState::waiting ||
        pile.hold.root_state != NodeState::waiting) {
        return std::nullopt;
    }
    Finding finding = about_pile(of, pile, words);
    finding.kind = FindingKind::evaluation_builds_graph;
    const auto graphs = with("graphs", words.counted(pile.roots, "{n} graph", "{n} graphs"));
    const auto holder = with("holder", finding.holder);
    const auto bytes = with("bytes", format_bytes(pile.per_round));
    const auto total = with("total", format_bytes(pile.bytes));
    const auto each = with("round", round_words(of, words));
    finding.count = pile.roots;
    finding.title = finding.holder.empty()
                        ? words("{graphs} were built that no backward ever ran", graphs)
                        : words("{graphs} that no backward ever ran are kept alive by {holder}", graphs, holder);
    finding.text = {words("Every {round} builds an autograd graph and keeps it: {bytes} of activations saved for a "
                          "backward pass that "
                          "never comes, {total} by now.",
                          each, bytes, total),
                    words("Outputs computed with gradients switched on carry the whole graph that made them. Whoever "
                          "keeps the outputs "
                          "keeps the activations of every layer.")};
    finding.fixes.push_back({words("Run evaluation without building graphs."),
                             "with torch.no_grad():\n    output = model(inputs)", pile.bytes, pile.per_round});
    finding.fixes.push_back({words("Or keep only the values."),
                             pile.holder ? fmt::format("{}.append(output.detach().cpu())",
                                                       holder_expression(of.graph()->tables(), *pile.holder))
                                         : "output = output.detach()",
                             pile.bytes, pile.per_round});
    return finding;
}

}  // namespace tidemark
