// #1: total += loss, graph and all: a chain of additions through all rounds.
#include "storage/base/units.h"
#include "storage/explain/growth/chains.h"
#include "storage/explain/growth/pile_reader.h"
#include "storage/explain/holder_words.h"
#include "storage/explain/telling.h"

namespace tidemark {
namespace {

constexpr int64_t fewest_sums = 4;  ///< in a row: a network adds two or three tensors in a row, too

}  // namespace

std::optional<Finding> read_loss_summed(const Case& of, const Pile& pile, const Words& words) {
    if (!pile.through_graph() || pile.roots != 1 || of.graph()->index.type(pile.hold.root) != "AddBackward0") {
        return std::nullopt;
    }
    const int64_t sums = row_of_same_type(*of.graph(), pile.hold.root);
    if (sums < fewest_sums) {
        return std::nullopt;
    }
    Finding finding = about_pile(of, pile, words);
    finding.kind = FindingKind::loss_summed;
    finding.count = sums;
    const auto& nodes = of.graph()->tables().nodes;
    set_line(finding, of, nodes.stack[pile.hold.root]);
    const std::string variable = pile.holder ? holder_expression(of.graph()->tables(), *pile.holder) : "total";
    const auto name = with("variable", "`" + variable + "`");
    finding.title = pile.holder ? words("{variable} sums up tensors together with their graphs", name)
                                : words("a running sum keeps the graphs of all rounds");
    finding.text = {words(
        "Each addition at {line} makes a node that points to the sum before it. By now {sums} of them hang together: "
        "the sum keeps something of every {round} alive, {bytes} more each time, {total} in all.",
        with("line", finding.line), with("sums", format_count(sums)), with("round", round_words(of, words)),
        with("bytes", format_bytes(pile.per_round)), with("total", format_bytes(pile.bytes)))};
    if (pile.hold.keeper_state == NodeState::waiting) {
        finding.text.push_back(
            words("No backward pass has run through it, so it still has whatever the nodes below it saved."));
    }
    finding.fixes = {
        {words("Add the number, not the tensor."), variable + " += loss.item()", pile.bytes, pile.per_round},
        {words("Or, without waiting for the GPU, add the value without its graph."), variable + " += loss.detach()",
         pile.bytes, pile.per_round}};
    return finding;
}

}  // namespace tidemark
