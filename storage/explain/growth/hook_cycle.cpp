// #6: a hook refers to a tensor whose graph refers to the hook.
#include "storage/explain/growth/pile_reader.h"

namespace tidemark {

std::optional<Finding> read_hook_cycle(const Case& of, const Pile& pile, const Words& words) {
    // A Python object that only C++ refers to, and through it the tensor: the closure of a hook.
    if (pile.holder || !pile.hold.native || pile.hold.native->links.empty() ||
        of.graph()->text(pile.hold.native->links.front().name).empty()) {
        return std::nullopt;
    }
    Finding finding = about_pile(of, pile, words);
    finding.kind = FindingKind::hook_cycle;
    finding.confidence = Confidence::likely;
    finding.title = words("hooks keep the graphs they are registered on: a cycle through C++");
    finding.text = {words("The tensors are reached only through a Python object that C++ holds, as the variables of a "
                          "hook's function "
                          "are. A hook that uses a tensor of the graph it is registered on closes a cycle: graph, "
                          "hook, tensor, graph. "
                          "The garbage collector does not see it."),
                    left_behind(of, pile, words)};
    finding.fixes = {
        {words("Let the hook use a detached tensor."),
         "kept = features.detach()\nfeatures.register_hook(lambda gradient: use(gradient, kept))", pile.bytes,
         pile.per_round},
        {words("Or remove the hook after the backward pass."),
         "handle = features.register_hook(hook)\nloss.backward()\nhandle.remove()", pile.bytes, pile.per_round}};
    return finding;
}

}  // namespace tidemark
