// Something grows, and nothing recorded says who keeps it.
#include "storage/base/units.h"
#include "storage/explain/growth/pile_reader.h"
#include "storage/explain/telling.h"

namespace tidemark {

std::optional<Finding> read_unexplained_growth(const Case& of, const Pile& pile, const Words& words) {
    Finding finding = about_pile(of, pile, words);
    finding.kind = FindingKind::unexplained_growth;
    finding.title = finding.line.empty() ? words("memory piles up, made where no stack was recorded")
                                         : words("memory from {line} piles up", with("line", finding.line));
    finding.text = {words("Every {round} leaves {bytes} more behind, made by {line}; {total} have piled up.",
                          with("round", round_words(of, words)), with("bytes", format_bytes(pile.per_round)),
                          with("line", finding.line), with("total", format_bytes(pile.bytes)))};
    finding.fixes = {
        {words("Look at what keeps the result of this line beyond its round: a list, a dict, an attribute, "
               "a loss that is summed with its graph."),
         "", pile.bytes, pile.per_round}};
    if (!of.graph()) {
        finding.unknowns = {words("Who holds these tensors was not recorded; `tidemark record` finds their holders.")};
    } else {
        finding.unknowns = {
            words("The search of the program's objects found nobody who holds these tensors: they may be "
                  "held by C++ code.")};
    }
    return finding;
}

}  // namespace tidemark
