// S1, #4: graphs whose root somebody keeps, and that kept what they saved: backward(retain_graph=True).
#include "storage/base/units.h"
#include "storage/explain/growth/pile_reader.h"
#include "storage/explain/holder_words.h"
#include "storage/explain/telling.h"

namespace tidemark {

std::optional<Finding> read_retained_graph(const Case& of, const Pile& pile, const Words& words) {
    // A backward has run the node, and yet it has what it saved.
    if (!pile.through_graph() || pile.hold.keeper_state != NodeState::kept) {
        return std::nullopt;
    }
    Finding finding = about_pile(of, pile, words);
    finding.kind = FindingKind::retained_graph;
    const auto graphs = with("graphs", words.counted(pile.roots, "{n} graph", "{n} graphs"));
    const auto holder = with("holder", finding.holder);
    const auto each = with("each", each_round(of, words));
    const auto bytes = with("bytes", format_bytes(pile.per_round));
    finding.count = pile.roots;
    finding.title = finding.holder.empty() ? words("{graphs} are kept alive after backward(retain_graph=True)", graphs)
                                           : words("{graphs} are kept alive by {holder}", graphs, holder);
    finding.text = {words("{each} adds {bytes}: {graphs} are still alive, with all tensors they saved for backward.",
                          each, bytes, graphs)};
    return finding;
}

}  // namespace tidemark
