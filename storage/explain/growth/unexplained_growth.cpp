// Something grows, and nothing recorded says who keeps it.
#include "storage/base/units.h"
#include "storage/explain/growth/pile_reader.h"
#include "storage/explain/telling.h"

namespace tidemark {

std::optional<Finding> read_unexplained_growth(const Case& of, const Pile& pile, const Words& words) {
    Finding finding = about_pile(of, pile, words);
    finding.kind = FindingKind::unexplained_growth;
    finding.title = words("memory from {line} piles up", with("line", finding.line));
    finding.text = {words("{each} leaves {bytes} more behind, made by {line}; {total} have piled up.",
                          with("each", each_round(of, words)), with("bytes", format_bytes(pile.per_round)),
                          with("line", finding.line), with("total", format_bytes(pile.bytes)))};
    finding.fixes = {
        {words("Look at what keeps the result of this line beyond its round: a list, a dict, an attribute, "
               "a loss that is summed with its graph."),
         "", pile.bytes, pile.per_round}};
    finding.unknowns = {words("Who holds these tensors was not recorded; `tidemark record` finds their holders.")};
    return finding;
}

}  // namespace tidemark
