// S9, #2: tensors pile up in a container.
#include "storage/base/units.h"
#include "storage/explain/growth/pile_reader.h"
#include "storage/explain/holder_words.h"
#include "storage/explain/telling.h"

namespace tidemark {

std::optional<Finding> read_tensors_collected(const Case& of, const Pile& pile, const Words& words) {
    if (!pile.holder) {
        return std::nullopt;
    }
    Finding finding = about_pile(of, pile, words);
    finding.kind = FindingKind::tensors_collected;
    const auto tensors = with("tensors", words.counted(pile.count, "{n} tensor", "{n} tensors"));
    const auto holder = with("holder", finding.holder);
    finding.title = words("{tensors} have piled up in {holder}", tensors, holder);
    finding.text = {
        words("Every {round} adds {bytes} of GPU tensors made by {line}; none of them is ever let go. {tensors} "
              "hold {total} by now.",
              with("round", round_words(of, words)), with("bytes", format_bytes(pile.per_round)),
              with("line", finding.line), tensors, with("total", format_bytes(pile.bytes)))};
    const std::string expression = holder_expression(of.graph()->tables(), *pile.holder);
    const bool is_element = container_end(pile.holder->links) < pile.holder->links.size();
    finding.fixes.push_back({words("If only the values are needed, keep them in host memory, without their graph."),
                             is_element ? fmt::format("{}.append(tensor.detach().cpu())", expression)
                                        : fmt::format("{} = tensor.detach().cpu()", expression),
                             pile.bytes, pile.per_round});
    finding.fixes.push_back(
        {words("Or empty {holder} once what is in it was used.", with("holder", "`" + expression + "`")),
         is_element ? fmt::format("{}.clear()", expression) : fmt::format("del {}", expression), pile.bytes,
         pile.per_round});
    return finding;
}

}  // namespace tidemark
