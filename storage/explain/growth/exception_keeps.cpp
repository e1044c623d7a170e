// #25: an exception that somebody keeps holds its traceback, and that the variables of all frames of the failed round.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/growth/pile_reader.h"
#include "storage/explain/telling.h"

namespace tidemark {

std::optional<Finding> read_exception_keeps(const Case& of, const Pile& pile, const Words& words) {
    const auto is_exception = [](const HolderLink& link) { return link.kind == "exception"; };
    if (!pile.holder || std::none_of(pile.holder->links.begin(), pile.holder->links.end(), is_exception)) {
        return std::nullopt;
    }
    Finding finding = about_pile(of, pile, words);
    finding.kind = FindingKind::exception_keeps;
    const auto tensors = with("tensors", words.counted(pile.count, "{n} tensor", "{n} tensors"));
    finding.title = words("{tensors} are kept alive by exceptions that were kept", tensors);
    finding.text = {words(
        "An exception refers to its traceback, the traceback to the frames of all functions it went through, and these "
        "to their variables: inputs, activations, a whole forward pass. As long as the exception is kept, here in "
        "{holder}, none of them is freed. {total} by now.",
        with("holder", finding.holder), with("total", format_bytes(pile.bytes)))};
    finding.fixes = {{words("Keep only what the message says."),
                      "except RuntimeError as error:\n    failed.append(str(error))", pile.bytes, pile.per_round},
                     {words("Or cut the traceback off before the exception is kept."),
                      "failed.append(error.with_traceback(None))", pile.bytes, pile.per_round}};
    return finding;
}

}  // namespace tidemark
