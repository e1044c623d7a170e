// S1, #4: graphs whose root somebody keeps, and that kept what they saved: backward(retain_graph=True).
#include <cmath>

#include "storage/base/units.h"
#include "storage/explain/growth/pile_reader.h"
#include "storage/explain/holder_words.h"
#include "storage/explain/telling.h"

namespace tidemark {
namespace {

/// Bytes a round that would stay if the graphs released what they saved: tensors the holder has as well.
int64_t held_without_graph(const Case& of, const Pile& pile) {
    int64_t bytes = 0;
    for (const Site* site : pile.sites) {
        const AllocationRef newest{of.device_position(), site->now[site->now.size() > 2 ? site->now.size() - 2 : 0]};
        if (of.graph()->holders.in_python(newest)) {
            bytes += std::llround(site->trend.per_round / static_cast<double>(of.survivors().rounds_per_slice()));
        }
    }
    return bytes;
}

bool is_copy_to_elsewhere(const std::string& type) { return type == "ToCopyBackward0" || type == "CopyBackwards"; }

std::string way_words(const Case& of, const Pile& pile, const Words& words) {
    const GraphIndex& index = of.graph()->index;
    const std::string& root = index.type(pile.hold.root);
    const auto keeper = with("keeper", index.type(pile.hold.keeper));
    if (pile.hold.root == pile.hold.keeper) {
        return words("What is held is the output of the node {keeper}, which saved its inputs for backward.", keeper);
    }
    std::string text =
        words("From there the way goes through the node {root} down to {keeper} and the tensors it saved.",
              with("root", root), keeper);
    if (is_copy_to_elsewhere(root)) {
        text += words(
            " The tensor that is held may lie in host memory, but the copy is part of the graph: it keeps "
            "everything on the GPU that was saved on the way to it.");
    }
    return text;
}

std::vector<Fix> fixes(const Case& of, const Pile& pile, const Words& words) {
    const int64_t stays = held_without_graph(of, pile);
    const int64_t goes = pile.per_round - stays;
    const double share = pile.per_round == 0 ? 1 : static_cast<double>(goes) / static_cast<double>(pile.per_round);
    Fix drop{words("Leave out retain_graph=True: backward then releases what the graph saved."), "loss.backward()",
             std::llround(static_cast<double>(pile.bytes) * share), goes};
    Fix detach{words("Keep the value without its graph."), "", pile.bytes, pile.per_round};
    if (pile.holder) {
        const std::string expression = holder_expression(of.graph()->tables(), *pile.holder);
        detach.text = words("Or keep the value in {holder} without its graph: detach it before it is stored.",
                            with("holder", "`" + expression + "`"));
        detach.code = fmt::format("{}.append(output.detach().cpu())", expression);
    }
    return {std::move(drop), std::move(detach)};
}

}  // namespace

std::optional<Finding> read_retained_graph(const Case& of, const Pile& pile, const Words& words) {
    // A backward has run the node, and yet it has what it saved.
    if (!pile.through_graph() || pile.hold.keeper_state != NodeState::kept) {
        return std::nullopt;
    }
    Finding finding = about_pile(of, pile, words);
    finding.kind = FindingKind::retained_graph;
    finding.count = pile.roots;
    const auto graphs = with("graphs", words.counted(pile.roots, "{n} graph", "{n} graphs"));
    const auto holder = with("holder", finding.holder);
    const auto bytes = with("bytes", format_bytes(pile.per_round));
    const auto total = with("total", format_bytes(pile.bytes));
    const auto each = with("round", round_words(of, words));
    finding.title = finding.holder.empty() ? words("{graphs} stay alive after backward(retain_graph=True)", graphs)
                                           : words("{graphs} are kept alive by {holder}", graphs, holder);
    finding.text.push_back(
        words("Every {round} leaves its autograd graph behind, and with it {bytes} of tensors that were "
              "saved for backward: {total} in {graphs} by now.",
              each, bytes, total, graphs));
    if (!finding.holder.empty()) {
        finding.text.push_back(words("The root of each graph is held by {holder}. ", holder) +
                               way_words(of, pile, words));
        finding.text.push_back(words(
            "It takes both: because of {holder} the graphs live on, and because of backward(retain_graph=True) they "
            "still have what they saved. Without either of the two this memory would be free.",
            with("holder", "`" + holder_expression(of.graph()->tables(), *pile.holder) + "`")));
    } else {
        finding.text.push_back(
            words("A backward pass has run them, yet they still have what they saved: that is what "
                  "retain_graph=True asks for."));
    }
    finding.fixes = fixes(of, pile, words);
    return finding;
}

}  // namespace tidemark
