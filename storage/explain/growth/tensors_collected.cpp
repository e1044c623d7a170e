// S9, #2: tensors pile up in a container.
#include "storage/base/units.h"
#include "storage/explain/growth/pile_reader.h"
#include "storage/explain/telling.h"

namespace tidemark {

std::optional<Finding> read_tensors_collected(const Case& of, const Pile& pile, const Words& words) {
    if (!pile.holder) {
        return std::nullopt;
    }
    Finding finding = about_pile(of, pile, words);
    finding.kind = FindingKind::tensors_collected;
    finding.title =
        words("{tensors} are collected by {holder}",
              with("tensors", words.counted(pile.count, "{n} tensor", "{n} tensors")), with("holder", finding.holder));
    return finding;
}

}  // namespace tidemark
