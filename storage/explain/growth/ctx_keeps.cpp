// #10: a custom Function keeps tensors as attributes of ctx instead of by save_for_backward.
#include "storage/base/units.h"
#include "storage/explain/growth/pile_reader.h"
#include "storage/explain/holder_words.h"
#include "storage/explain/telling.h"

namespace tidemark {

std::optional<Finding> read_ctx_keeps(const Case& of, const Pile& pile, const Words& words) {
    if (!pile.holder || pile.holder->links.front().kind != "ctx") {
        return std::nullopt;
    }
    Finding finding = about_pile(of, pile, words);
    finding.kind = FindingKind::ctx_keeps;
    const auto tensors = with("tensors", words.counted(pile.count, "{n} tensor", "{n} tensors"));
    finding.title = words("{tensors} are kept as attributes of {holder}", tensors, with("holder", finding.holder));
    finding.text = {words(
        "A custom autograd Function stores a tensor as an attribute of its ctx. Such a tensor is not released when "
        "backward has run, as one given to save_for_backward is: it lives as long as anything keeps the node. Every "
        "{round} leaves {bytes} behind, {total} by now.",
        with("round", round_words(of, words)), with("bytes", format_bytes(pile.per_round)),
        with("total", format_bytes(pile.bytes)))};
    finding.fixes = {
        {words("Give the tensor to save_for_backward in forward, and take it from saved_tensors in backward."),
         "ctx.save_for_backward(x)      # in forward\nx, = ctx.saved_tensors        # in backward", pile.bytes,
         pile.per_round},
        {words("And let go of the outputs: something keeps the nodes alive after their backward."), "", {}, {}}};
    return finding;
}

}  // namespace tidemark
